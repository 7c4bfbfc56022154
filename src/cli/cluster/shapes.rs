//! What the server says about clusters and jobs, as far as the command line looks at it.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{ClusterStatus, JobStatus, TaskState};
use cooperage_domain::entity::Link;
use cooperage_domain::node_action::NodeAction;
use cooperage_domain::task::{NodeProperties, TaskName};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::ancestry::Taken;
use super::care::Maintenance;

/// One line of the list.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Who asked for it.
    #[serde(default)]
    pub owner_id: String,
    /// When, in ms since 1970.
    pub create_time: i64,
    /// Until when it may live; 0 is for ever.
    #[serde(default)]
    pub expire_time: i64,
    /// Whether that is soon.
    #[serde(default)]
    pub expiring: bool,
    /// Number of nodes.
    #[serde(default)]
    pub num_nodes: usize,
    /// How it stands.
    pub status: ClusterStatus,
    /// What it is made from.
    pub cluster_template: Named,
    /// Where its machines come from.
    #[serde(default)]
    pub provider: Named,
    /// Names of its services.
    #[serde(default)]
    pub services: Vec<String>,
    /// Free text.
    #[serde(default)]
    pub description: String,
    /// What it costs per hour, where that is known.
    pub price_per_hour: Option<f64>,
    /// How far its latest job is.
    pub progress: Option<Progress>,
}

/// A thing with a name.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Named {
    /// Its name.
    #[serde(default)]
    pub name: String,
}

/// How far the latest job is.
#[derive(Debug, Clone, Deserialize)]
pub struct Progress {
    /// What is done, such as `cluster_create`.
    pub action: String,
    /// How the job stands.
    #[serde(rename = "actionstatus")]
    pub status: JobStatus,
    /// Tasks in all.
    #[serde(rename = "stepstotal")]
    pub total: usize,
    /// Tasks done.
    #[serde(rename = "stepscompleted")]
    pub done: usize,
}

/// Everything about a cluster.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Free text.
    #[serde(default)]
    pub description: String,
    /// When it was asked for, in ms since 1970.
    pub create_time: i64,
    /// Until when it may live; 0 is for ever.
    #[serde(default)]
    pub expire_time: i64,
    /// Whether that is soon.
    #[serde(default)]
    pub expiring: bool,
    /// How it stands.
    pub status: ClusterStatus,
    /// Where its machines come from.
    pub provider: Named,
    /// What it is made from.
    pub cluster_template: Named,
    /// Its nodes, by number.
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// The job under way, or the last one.
    pub latest_job_id: Option<String>,
    /// What the last job has to say.
    pub message: Option<String>,
    /// What it costs per hour, where that is known.
    pub price_per_hour: Option<f64>,
    /// Where people find it.
    #[serde(default)]
    pub links: Vec<Link>,
    /// How far its latest job is.
    pub progress: Option<Progress>,
    /// Why all of it is left alone.
    pub maintenance: Option<Maintenance>,
    /// The cluster it is built upon.
    pub parent: Option<String>,
    /// The foundation it is built upon, unless that is an ancestor anyway.
    pub foundation: Option<String>,
    /// What it takes of its ancestors.
    #[serde(default)]
    pub from_ancestors: Vec<Taken>,
}

/// What of a node is down.
#[derive(Debug, Clone, Deserialize)]
pub struct Down {
    /// The service; the machine when there is none.
    pub service: Option<String>,
}

/// One node.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its id.
    pub id: String,
    /// What is known of it.
    pub properties: NodeProperties,
    /// What it is doing.
    #[serde(default)]
    pub status: String,
    /// Why it is left alone.
    pub maintenance: Option<Maintenance>,
    /// What of it is down.
    #[serde(default)]
    pub down: Vec<Down>,
    /// What was done to it.
    #[serde(default)]
    pub actions: Vec<NodeAction>,
    /// What tasks found out about it.
    #[serde(default)]
    pub provisioner_results: Map<String, Value>,
}

/// One job, with all its tasks.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The job.
    pub id: String,
    /// What is done, such as `CLUSTER_CREATE`.
    pub action: String,
    /// What could run side by side, stage by stage.
    #[serde(default)]
    pub stages: Vec<Vec<StagedTask>>,
    /// How the job stands.
    pub status: JobStatus,
    /// Why, for people.
    pub message: Option<String>,
    /// When it was asked for, in ms since 1970.
    pub start_time: i64,
    /// When it ended.
    pub end_time: Option<i64>,
    /// Its tasks, each behind those it waits for.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// Ids of the tasks that decide how long it takes.
    #[serde(default)]
    pub critical_path: Vec<String>,
    /// How long it was expected to take, in ms.
    #[serde(default)]
    pub predicted_ms: i64,
}

/// A task in a stage.
#[derive(Debug, Clone, Deserialize)]
pub struct StagedTask {
    /// Its id.
    pub id: String,
}

/// One task.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What is done.
    pub task_name: TaskName,
    /// To which node.
    pub node_id: String,
    /// To which service; empty for the machine itself.
    #[serde(default)]
    pub service: String,
    /// Ids of the tasks it waits for.
    #[serde(default)]
    pub after: Vec<String>,
    /// How it stands.
    pub status: TaskState,
    /// How long it is expected to take, in ms.
    #[serde(default)]
    pub estimate_ms: i64,
    /// Oldest first.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// Why it waits, most important first.
    #[serde(default)]
    pub waiting: Vec<Waiting>,
    /// Whether it takes longer than its like.
    #[serde(default)]
    pub straggling: bool,
    /// How long its like take as a rule, in ms; 0 when it does not straggle.
    #[serde(default)]
    pub typical_ms: i64,
}

/// Why a task waits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Waiting {
    /// For programs.
    pub code: String,
    /// For people: continues the sentence "the task waits …".
    pub text: String,
}

/// One execution of a task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// When it began, in ms since 1970.
    pub start_time: i64,
    /// When it ended.
    pub end_time: Option<i64>,
    /// How it ended; 0 is well.
    pub code: Option<i64>,
}

impl Node {
    /// What it is doing, and what is not as it should be.
    #[must_use]
    pub fn standing(&self) -> String {
        let mut words = vec![self.status.clone()];
        if self.maintenance.is_some() {
            words.push("in maintenance".to_owned());
        }
        let down = self.down.iter().map(|down| match &down.service {
            None => "machine down".to_owned(),
            Some(service) => format!("{service} down"),
        });
        words.extend(down);
        words.join(", ")
    }
}

impl Details {
    /// Names of nodes for people, by id.
    #[must_use]
    pub fn node_names(&self) -> BTreeMap<&str, String> {
        self.nodes.iter().map(|node| (node.id.as_str(), node.name())).collect()
    }

    /// Links that lead somewhere: those whose macros have a value by now.
    pub fn ready_links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().filter(|link| is_expanded(&link.url))
    }

    /// A node by its number, host name (whole or up to the first dot) or id.
    #[must_use]
    pub fn node(&self, text: &str) -> Option<&Node> {
        let is = |node: &&Node| {
            let host = node.properties.hostname.as_deref().unwrap_or_default();
            node.id == text
                || node.properties.nodenum.to_string() == text
                || host == text
                || node.name() == text
        };
        self.nodes.iter().find(is)
    }
}

/// Whether each `%` is followed by two hexadecimal digits, as in addresses, and begins no macro.
fn is_expanded(url: &str) -> bool {
    let is_code = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    url.split('%').skip(1).all(is_code)
}

impl Node {
    /// For people: the host name up to its first dot; without one, the number.
    #[must_use]
    pub fn name(&self) -> String {
        let host = self.properties.hostname.as_deref().unwrap_or_default();
        match host.split('.').next().filter(|label| !label.is_empty()) {
            Some(label) => label.to_owned(),
            None => format!("node {}", self.properties.nodenum),
        }
    }

    /// The address people reach it at.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.properties.ipaddresses.get("access_v4").map(String::as_str)
    }

    /// Names of its services.
    #[must_use]
    pub fn services(&self) -> String {
        self.properties.services.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl Task {
    /// `INSTALL nginx`.
    #[must_use]
    pub fn title(&self) -> String {
        if self.service.is_empty() {
            self.task_name.to_string()
        } else {
            format!("{} {}", self.task_name, self.service)
        }
    }

    /// The attempt under way.
    #[must_use]
    pub fn open_attempt(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.end_time.is_none())
    }

    /// How long its last attempt took or has taken at `now`, in ms.
    #[must_use]
    pub fn took(&self, now: i64) -> Option<i64> {
        let last = self.attempts.last()?;
        Some((last.end_time.unwrap_or(now) - last.start_time).max(0))
    }
}

impl Plan {
    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let ended = matches!(self.status, JobStatus::Complete | JobStatus::Failed);
        ended && self.tasks.iter().all(|task| task.status != TaskState::Running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_with_macros_lead_nowhere_yet() {
        assert!(is_expanded("http://10.0.0.1/a%20b"));
        assert!(!is_expanded("http://%ip.access_v4.service.haproxy%/"));
    }
}
