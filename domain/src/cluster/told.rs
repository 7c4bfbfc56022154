//! The nodes that tasks hear of, kept up with what happens instead of put together for each task.

use super::event::Event;
use super::state::Cluster;
use crate::neighbours::Neighbours;

/// The nodes that stay, as every task of the cluster hears of them.
#[derive(Debug, Clone, Default)]
pub struct Told(Option<Neighbours>);

impl Told {
    /// After `events`, the last that were applied to `cluster`: what they changed is known, or is looked up when it is asked
    /// for next.
    pub fn hear(&mut self, cluster: &Cluster, events: &[Event]) {
        for event in events {
            match event {
                Event::AttemptStarted { .. } => {}
                Event::TaskSucceeded { task, .. }
                | Event::TaskFailed { task, .. }
                | Event::UnitProbed { task, .. } => self.look_at(cluster, *task),
                _ => self.0 = None,
            }
        }
    }

    /// A task has told something of its node.
    fn look_at(&mut self, cluster: &Cluster, task: u32) {
        let Some(known) = &mut self.0 else { return };
        let found = cluster.latest_job().and_then(|job| job.tasks.get(&task));
        match found.and_then(|task| cluster.nodes.get(&task.node)) {
            // One that leaves is not told, and stays so.
            Some(node) if known.get(&node.id).is_some() => known.put(&node.id, &node.properties),
            Some(_) => {}
            None => self.0 = None,
        }
    }

    /// The nodes that stay.
    pub fn of(&mut self, cluster: &Cluster) -> &Neighbours {
        self.0.get_or_insert_with(|| staying(cluster))
    }
}

/// The nodes that stay.
pub(super) fn staying(cluster: &Cluster) -> Neighbours {
    let leaving = cluster.leaving();
    let told = cluster.nodes.iter().filter(|(id, _)| !leaving.contains(id));
    told.map(|(id, node)| (id, &node.properties)).collect()
}
