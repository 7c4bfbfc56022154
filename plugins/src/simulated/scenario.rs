//! How long simulated tasks take, and which of them fail.

use std::io;
use std::path::Path;
use std::time::Duration;

use cooperage_domain::task::{TaskName, TaskOrder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Name of the file below the simulation's directory.
const FILE: &str = "scenario.json";

/// How long tasks take, and which of them fail: the same for the same execution, however often it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Durations are drawn with it.
    pub seed: u64,
    /// Shortest duration of a task.
    pub shortest_ms: u64,
    /// Longest duration of a task.
    pub longest_ms: u64,
    /// Which tasks fail; the first that fits counts.
    pub faults: Vec<Fault>,
}

/// A failure that is to happen. What is left out fits everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Only this task.
    #[serde(default)]
    pub task: Option<TaskName>,
    /// Only the node with this number.
    #[serde(default)]
    pub node: Option<u32>,
    /// Only this service.
    #[serde(default)]
    pub service: Option<String>,
    /// So many attempts fail, from the first one on.
    pub attempts: u32,
    /// Exit status; a CREATE that fails with 200 to 299 makes no machine, any other one makes it all the same.
    pub code: i64,
}

impl Default for Scenario {
    fn default() -> Self {
        Self { seed: 0, shortest_ms: 10, longest_ms: 50, faults: Vec::new() }
    }
}

impl Scenario {
    /// The scenario in this directory; the default one when there is none.
    ///
    /// # Errors
    /// When it cannot be read, naming the file.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let path = directory.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            text => text?,
        };
        serde_json::from_str(&text).map_err(|fault| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {fault}", path.display()))
        })
    }

    /// Puts the scenario into this directory, in one step.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let unfinished = directory.join("scenario.new");
        std::fs::write(&unfinished, serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(unfinished, directory.join(FILE))
    }

    /// How long an execution takes.
    pub(super) fn duration(&self, order: &TaskOrder) -> Duration {
        let key = format!("{} {} {}", self.seed, order.task_id, order.attempt);
        let digest = Sha256::digest(key.as_bytes());
        let drawn = digest.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        let span = self.longest_ms.saturating_sub(self.shortest_ms).saturating_add(1);
        Duration::from_millis(self.shortest_ms.saturating_add(drawn % span))
    }

    /// The exit status of an execution.
    pub(super) fn code(&self, order: &TaskOrder) -> i64 {
        let service = order.config.service.as_ref().map(|service| &service.name);
        let fits = |fault: &&Fault| {
            fault.task.is_none_or(|task| task == order.task_name)
                && fault.node.is_none_or(|number| number == order.config.node.nodenum)
                && fault.service.as_ref().is_none_or(|name| Some(name) == service)
                && order.attempt <= fault.attempts
        };
        self.faults.iter().find(fits).map_or(0, |fault| fault.code)
    }
}

#[cfg(test)]
mod tests {
    use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
    use cooperage_domain::task::TaskConfig;

    use super::*;

    fn order(name: TaskName, node: u32, attempt: u32) -> TaskOrder {
        let job = JobId { cluster: ClusterId(1), number: 2 };
        let mut config = TaskConfig::default();
        config.node.nodenum = node;
        TaskOrder {
            task_id: TaskId { job, number: node },
            job_id: job,
            cluster_id: ClusterId(1),
            task_name: name,
            node_id: NodeId(node.to_string()),
            attempt,
            config,
        }
    }

    #[test]
    fn only_the_tasks_named_fail_and_only_so_often() {
        let fault =
            Fault { task: Some(TaskName::Create), node: Some(1001), service: None, attempts: 2, code: 9 };
        let scenario = Scenario { faults: vec![fault], ..Scenario::default() };
        let codes = [(TaskName::Create, 1001, 1), (TaskName::Create, 1001, 2), (TaskName::Create, 1001, 3)]
            .map(|(name, node, attempt)| scenario.code(&order(name, node, attempt)));
        assert_eq!(codes, [9, 9, 0]);
        assert_eq!(scenario.code(&order(TaskName::Create, 1000, 1)), 0);
        assert_eq!(scenario.code(&order(TaskName::Delete, 1001, 1)), 0);
    }

    #[test]
    fn durations_are_within_their_bounds_and_the_same_when_asked_again() {
        let scenario = Scenario { seed: 3, shortest_ms: 5, longest_ms: 9, faults: Vec::new() };
        let drawn: Vec<u128> = (1..200)
            .map(|attempt| scenario.duration(&order(TaskName::Start, 1, attempt)).as_millis())
            .collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&5), Some(&9)));
        let again = scenario.duration(&order(TaskName::Start, 1, 1)).as_millis();
        assert_eq!(again, drawn[0]);
    }
}
