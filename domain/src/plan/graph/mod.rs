//! The graph of tasks: what waits for what.

mod build;
mod reduce;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::NodeId;
use crate::plan::error::PlanError;
use crate::plan::order;
use crate::plan::unit::UnitId;
use crate::task::TaskName;

pub use build::{AwaitUnplanned, PlanInput, PlanNode, Steps, build};

/// One task of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// Its place in the graph.
    pub index: usize,
    /// What is done.
    pub name: TaskName,
    /// To which node.
    pub node: NodeId,
    /// To which service; `None` for tasks of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The tasks it waits for, in order; all have a lower index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
}

/// Tasks in an order in which each comes behind everything it waits for: a plan without circles by construction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<PlannedTask>", try_from = "Vec<PlannedTask>")]
pub struct Graph {
    tasks: Vec<PlannedTask>,
}

impl PlannedTask {
    /// The unit it works on.
    #[must_use]
    pub fn unit(&self) -> UnitId {
        UnitId { node: self.node.clone(), service: self.service.clone() }
    }
}

impl Graph {
    /// A graph of `tasks`, each waiting for the places in `after` at its own place. Tasks keep the order given as far as
    /// waiting allows. An edge that follows from others is dropped (in graphs of more than 16 384 tasks only edges
    /// given twice are).
    ///
    /// # Errors
    /// [`PlanError::Tangled`] if tasks wait for each other.
    ///
    /// # Panics
    /// If `after` is longer than `tasks` or names a place that is not there.
    pub fn new(tasks: Vec<(UnitId, TaskName)>, mut after: Vec<Vec<usize>>) -> Result<Self, PlanError> {
        after.resize(tasks.len(), Vec::new());
        let order = order::topological(&after).map_err(|circle| PlanError::Tangled {
            // A circle names the waiting task first, people expect the awaited one first.
            tasks: circle.into_iter().rev().map(|at| name(&tasks[at].0, tasks[at].1)).collect(),
        })?;
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let after = reduce::reduce(
            order.iter().map(|&old| after[old].iter().map(|&awaited| place[awaited]).collect()).collect(),
        );
        let mut tasks: Vec<_> = tasks.into_iter().zip(place).collect();
        tasks.sort_unstable_by_key(|&(_, place)| place);
        let planned = tasks.into_iter().zip(after).map(|(((unit, name), index), after)| PlannedTask {
            index,
            name,
            node: unit.node,
            service: unit.service,
            after,
        });
        Ok(Self { tasks: planned.collect() })
    }

    /// The tasks, each behind everything it waits for.
    #[must_use]
    pub fn tasks(&self) -> &[PlannedTask] {
        &self.tasks
    }

    /// How many tasks there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// For each task those that wait for it, in order.
    #[must_use]
    pub fn successors(&self) -> Vec<Vec<usize>> {
        let mut successors = vec![Vec::new(); self.len()];
        for task in &self.tasks {
            for &awaited in &task.after {
                successors[awaited].push(task.index);
            }
        }
        successors
    }

    /// For each task a number that stands for its node; numbers count from 0 in the order in which nodes appear.
    pub(super) fn lanes(&self) -> Vec<usize> {
        let mut lanes = std::collections::HashMap::new();
        self.tasks
            .iter()
            .map(|task| {
                let next = lanes.len();
                *lanes.entry(&task.node).or_insert(next)
            })
            .collect()
    }
}

impl From<Graph> for Vec<PlannedTask> {
    fn from(graph: Graph) -> Self {
        graph.tasks
    }
}

impl TryFrom<Vec<PlannedTask>> for Graph {
    type Error = PlanError;

    fn try_from(tasks: Vec<PlannedTask>) -> Result<Self, PlanError> {
        for (index, task) in tasks.iter().enumerate() {
            if task.index != index {
                return Err(PlanError::Disordered { index, awaited: task.index });
            }
            if let Some(&awaited) = task.after.iter().find(|&&awaited| awaited >= index) {
                return Err(PlanError::Disordered { index, awaited });
            }
        }
        Ok(Self { tasks })
    }
}

/// As Coopr's cases write tasks: `NODE:TASK` or `NODE:TASK:SERVICE`.
impl fmt::Display for PlannedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(&self.unit(), self.name))
    }
}

fn name(unit: &UnitId, task: TaskName) -> String {
    match &unit.service {
        None => format!("{}:{task}", unit.node),
        Some(service) => format!("{}:{task}:{service}", unit.node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(node: &str) -> (UnitId, TaskName) {
        (UnitId::service(NodeId(node.to_owned()), "s"), TaskName::Start)
    }

    fn edges(graph: &Graph) -> Vec<(String, String)> {
        let name = |at: usize| graph.tasks()[at].node.to_string();
        let of = |task: &PlannedTask| task.after.iter().map(|&p| (name(p), task.node.to_string())).collect();
        graph.tasks().iter().flat_map::<Vec<_>, _>(of).collect()
    }

    fn pair(before: &str, after: &str) -> (String, String) {
        (before.to_owned(), after.to_owned())
    }

    #[test]
    fn an_edge_that_follows_from_others_is_dropped() {
        let tasks = vec![start("c"), start("b"), start("a")];
        let graph = Graph::new(tasks, vec![vec![1, 2, 1], vec![2], vec![]]).unwrap();
        assert_eq!(edges(&graph), [pair("a", "b"), pair("b", "c")]);
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_named() {
        let fault = Graph::new(vec![start("a"), start("b")], vec![vec![1], vec![0]]).unwrap_err();
        assert!(fault.to_string().contains("a:START:s → b:START:s → a:START:s"), "{fault}");
    }

    #[test]
    fn a_graph_can_be_stored_and_a_disordered_one_is_refused() {
        let graph = Graph::new(vec![start("a"), start("b")], vec![vec![1]]).unwrap();
        let text = serde_json::to_string(&graph).unwrap();
        assert_eq!(
            text,
            r#"[{"index":0,"name":"START","node":"b","service":"s"},"#.to_owned()
                + r#"{"index":1,"name":"START","node":"a","service":"s","after":[0]}]"#
        );
        assert_eq!(serde_json::from_str::<Graph>(&text).unwrap(), graph);
        let fault = serde_json::from_str::<Graph>(&text.replace("[0]", "[1]")).unwrap_err();
        assert!(fault.to_string().contains("task 1 of the graph waits for task 1"), "{fault}");
    }
}
