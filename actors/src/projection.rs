//! The rows of the read tables that change with events: a pure function of what happened and what is now.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{
    CareChange, Cluster, Event, FailedNext, Inheritance, Job, Node, Task, TaskState,
};
use cooperage_domain::id::NodeId;
use cooperage_domain::task::TaskName;
use cooperage_schema::{AncestryRow, ClusterRow, JobRow, NodeRow, Projection, TaskRow};

use crate::occurrence::occurrences;

/// The rows that changed with `events`, which led to `cluster`.
#[must_use]
pub fn project(cluster: &Cluster, events: &[Event]) -> Projection {
    let mut touched = Touched::default();
    for event in events {
        touched.by(event, cluster);
    }
    let latest = cluster.latest_job();
    let task_row = |number: &u32| latest.and_then(|job| job.tasks.get(number)).map(task_row);
    Projection {
        cluster: events.iter().any(changes_cluster).then(|| cluster_row(cluster)),
        nodes: touched
            .nodes
            .iter()
            .filter_map(|id| cluster.nodes.get(id))
            .map(|n| node_row(cluster, n))
            .collect(),
        jobs: touched.jobs.iter().filter_map(|number| cluster.job(*number)).map(job_row).collect(),
        tasks: touched.tasks.iter().filter_map(task_row).collect(),
        durations: Vec::new(),
        foreseen: Vec::new(),
        occurrences: occurrences(cluster, events),
        ancestry: ancestry_row(cluster, events),
        gone: touched.gone.into_iter().collect(),
    }
}

/// Whether lists show a cluster otherwise after an event: that a task begins changes only the task and its node.
const fn changes_cluster(event: &Event) -> bool {
    !matches!(event, Event::AttemptStarted { .. })
}

#[derive(Default)]
struct Touched {
    nodes: BTreeSet<NodeId>,
    jobs: BTreeSet<u32>,
    tasks: BTreeSet<u32>,
    gone: BTreeSet<NodeId>,
}

impl Touched {
    fn by(&mut self, event: &Event, cluster: &Cluster) {
        match event {
            Event::ClusterRequested { .. } | Event::LayoutRefused { .. } => {
                self.jobs.insert(1);
            }
            Event::LayoutFound { nodes, .. } => {
                self.jobs.insert(1);
                self.nodes.extend(nodes.keys().cloned());
            }
            Event::JobPlanned { job, tasks, .. } | Event::JobExtended { job, tasks, .. } => {
                self.jobs.insert(*job);
                self.tasks.extend(tasks.iter().map(|step| step.number));
                self.nodes.extend(tasks.iter().map(|step| step.node.clone()));
            }
            Event::AttemptStarted { task, .. }
            | Event::TaskSucceeded { task, .. }
            | Event::UnitProbed { task, .. } => {
                self.task(*task, cluster);
            }
            Event::TaskFailed { task, next, .. } => {
                self.task(*task, cluster);
                if let FailedNext::Recreate { delete, create, .. } = next {
                    self.tasks.extend([*delete, *create]);
                }
            }
            Event::ServicesAdded { placed, .. } => self.nodes.extend(placed.keys().cloned()),
            Event::WantedChanged { change, .. } => {
                self.nodes.extend(change.nodes.keys().cloned());
                self.nodes.extend(change.placed.keys().chain(change.removed.keys()).cloned());
            }
            Event::JobPaused { job, .. } | Event::JobResumed { job, .. } => {
                self.jobs.insert(*job);
            }
            Event::FollowUpSet { .. }
            | Event::ServicesWanted { .. }
            | Event::ConfigReplaced { .. }
            | Event::TemplateReplaced { .. }
            | Event::ProviderFieldsGiven { .. }
            | Event::LeaseWarned { .. }
            | Event::ChildAdopted { .. }
            | Event::ChildReleased { .. }
            | Event::Inherited { .. }
            | Event::LeaseChanged { .. } => {}
            Event::CareChanged { change, .. } => self.nodes.extend(cared_for(change, cluster)),
            Event::JobFailed { job, .. } | Event::JobEnded { job, .. } => {
                self.jobs.insert(*job);
                self.nodes.extend(cluster.nodes.keys().cloned());
                // The cluster forgets machines that went with the job.
                let tasks = cluster.jobs.get(job).into_iter().flat_map(|job| job.tasks.values());
                let deleted =
                    tasks.filter(|task| task.name == TaskName::Delete).map(|task| task.node.clone());
                self.gone.extend(deleted.filter(|node| !cluster.nodes.contains_key(node)));
            }
        }
    }

    fn task(&mut self, number: u32, cluster: &Cluster) {
        self.tasks.insert(number);
        let task = cluster.latest_job().and_then(|job| job.tasks.get(&number));
        self.nodes.extend(task.map(|task| task.node.clone()));
    }
}

/// The nodes that look different with a change.
fn cared_for(change: &CareChange, cluster: &Cluster) -> Vec<NodeId> {
    match change {
        CareChange::Health { node, .. } | CareChange::Maintenance { node: Some(node), .. } => {
            vec![node.clone()]
        }
        CareChange::Maintenance { node: None, .. } => cluster.nodes.keys().cloned().collect(),
        CareChange::Healing { .. } => Vec::new(),
    }
}

/// The row that lists show of a cluster.
#[must_use]
pub fn cluster_row(cluster: &Cluster) -> ClusterRow {
    let job = cluster.latest_job();
    ClusterRow {
        id: cluster.id,
        tenant: cluster.account.tenant_id.clone(),
        owner: cluster.account.user_id.clone(),
        name: cluster.name.clone(),
        status: cluster.status.as_str().to_owned(),
        template: cluster.template.base.name.clone(),
        provider: cluster.provider.base.name.clone(),
        created_ms: cluster.created,
        expires_ms: cluster.expires,
        nodes: u32::try_from(cluster.nodes_held()).unwrap_or(u32::MAX),
        latest_job: job.map(|job| job.id),
        steps_total: job.map_or(0, |job| u32::try_from(job.tasks.len()).unwrap_or(u32::MAX)),
        steps_done: job.map_or(0, |job| job.done),
        message: job.and_then(|job| job.message.clone()),
        summary: cluster.summary_text(),
    }
}

/// Written when a cluster is built upon others or carries others, and what it knows of them or is known to them changes.
fn ancestry_row(cluster: &Cluster, events: &[Event]) -> Option<AncestryRow> {
    let changes = |event: &Event| {
        let of_rest = matches!(event, Event::ClusterRequested { .. } | Event::JobEnded { .. });
        of_rest || matches!(event, Event::ChildAdopted { .. } | Event::Inherited { .. })
    };
    let kin = &cluster.kin;
    if kin.origins.is_empty() && kin.children.is_empty() || !events.iter().any(changes) {
        return None;
    }
    let held = |of: &Option<Inheritance>| of.as_ref().map(|held| (held.from, held.hash()));
    Some(AncestryRow {
        cluster: cluster.id,
        parent: held(&kin.origins.parent),
        foundation: held(&kin.origins.foundation),
        hands_down: kin.hands_down.clone(),
    })
}

fn node_row(cluster: &Cluster, node: &Node) -> NodeRow {
    NodeRow {
        id: node.id.clone(),
        cluster: cluster.id,
        tenant: cluster.account.tenant_id.clone(),
        number: node.properties.nodenum,
        hostname: node.properties.hostname.clone(),
        status: cluster.node_status(node).as_str().to_owned(),
        document: serde_json::to_string(&node.properties).unwrap_or_default(),
    }
}

fn job_row(job: &Job) -> JobRow {
    JobRow {
        id: job.id,
        action: job.action.as_str().to_owned(),
        status: job.status.as_str().to_owned(),
        started_ms: Some(job.started),
        ended_ms: job.ended,
        message: job.message.clone(),
    }
}

fn task_row(task: &Task) -> TaskRow {
    let last = task.attempts.last().and_then(|attempt| attempt.outcome.as_ref());
    let over = matches!(task.state, TaskState::Done | TaskState::Failed);
    TaskRow {
        id: task.id,
        node: task.node.clone(),
        service: task.service.clone().unwrap_or_default(),
        name: task.name,
        status: task.state.as_str().to_owned(),
        attempts: u32::try_from(task.attempts.len()).unwrap_or(u32::MAX),
        started_ms: task.attempts.first().map(|attempt| attempt.started),
        ended_ms: last.filter(|_| over).map(|outcome| outcome.at),
        code: last.map(|outcome| outcome.code),
    }
}
