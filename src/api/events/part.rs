//! Events of a node or of a task: those of its cluster that concern it.

use std::collections::HashMap;

use cooperage_domain::id::{ClusterId, NodeId, TaskId};
use cooperage_schema::PlacedEvent;
use serde::Deserialize;

use crate::api::problem::Problem;
use crate::api::state::AppState;

/// Of which part of what is followed.
#[derive(Debug, Default)]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// A node of a cluster: what is done to it, and what names it.
    Node(OfNode),
    /// A task.
    Task(TaskId),
}

/// A node, and which tasks are its own, as far as that was looked up.
#[derive(Debug)]
pub struct OfNode {
    cluster: ClusterId,
    node: NodeId,
    /// The node's id as events write it.
    written: String,
    own: HashMap<u32, bool>,
}

#[derive(Deserialize)]
struct Concerned {
    task: Option<u32>,
}

fn task_of(event: &PlacedEvent) -> Option<u32> {
    serde_json::from_str::<Concerned>(&event.json).ok()?.task
}

impl Part {
    /// A node.
    pub fn node(cluster: ClusterId, node: NodeId) -> Self {
        let written = format!("\"{node}\"");
        Self::Node(OfNode { cluster, node, written, own: HashMap::new() })
    }

    /// Whether nothing is left out.
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }

    /// Those of these events that concern it. Waits for the database.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(&mut self, state: &AppState, events: Vec<PlacedEvent>) -> Result<Vec<PlacedEvent>, Problem> {
        match self {
            Self::Whole => Ok(events),
            Self::Task(id) => {
                Ok(events.into_iter().filter(|event| task_of(event) == Some(id.number)).collect())
            }
            Self::Node(of) => {
                let mut kept = Vec::new();
                for event in events {
                    if event.json.contains(&of.written) || of.has(state, task_of(&event))? {
                        kept.push(event);
                    }
                }
                Ok(kept)
            }
        }
    }
}

impl OfNode {
    /// Whether the task is this node's. All are looked up when one is not known: a job has been planned since.
    fn has(&mut self, state: &AppState, task: Option<u32>) -> Result<bool, Problem> {
        let Some(task) = task else { return Ok(false) };
        if !self.own.contains_key(&task) {
            let rows = state.store.tasks(self.cluster, None)?;
            self.own = rows.into_iter().map(|row| (row.id.number, row.node == self.node)).collect();
            // One that is in no table is nobody's.
            self.own.entry(task).or_insert(false);
        }
        Ok(self.own.get(&task).copied().unwrap_or_default())
    }
}
