//! What the events of all clusters say, kept in the plainest way and without the kernel's own bookkeeping, which is what is
//! to be checked.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{ClusterStatus, Event, FailedNext, PlannedStep};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::plan::ClusterAction;
use cooperage_domain::task::TaskName;

/// All clusters.
#[derive(Debug, Default)]
pub struct Ledger {
    books: BTreeMap<ClusterId, Book>,
}

/// One cluster.
#[derive(Debug, Default)]
pub struct Book {
    /// Internal id of its tenant.
    pub tenant: String,
    /// Tasks of all jobs, by number.
    pub tasks: BTreeMap<u32, Entry>,
    /// Tasks that succeeded.
    pub done: BTreeSet<u32>,
    /// Attempts that are open, by task.
    pub open: BTreeMap<u32, u32>,
    /// Jobs: what they are for, whether they may start more, whether they have ended.
    pub jobs: BTreeMap<u32, JobEntry>,
    /// What succeeded on the present machine of each node.
    pub steps: BTreeMap<NodeId, BTreeSet<TaskName>>,
    /// Whether it is gone.
    pub terminated: bool,
    /// Events so far.
    pub sequence: u64,
}

/// A task.
#[derive(Debug)]
pub struct Entry {
    /// Its job.
    pub job: u32,
    /// Its node.
    pub node: NodeId,
    /// What is done.
    pub name: TaskName,
    /// Which tasks it waits for.
    pub after: BTreeSet<u32>,
    /// Attempts begun.
    pub attempts: u32,
}

/// A job.
#[derive(Debug)]
pub struct JobEntry {
    /// What it is for.
    pub action: ClusterAction,
    /// Whether it may start tasks.
    pub starts: bool,
    /// Whether it has ended.
    pub ended: bool,
}

impl Ledger {
    /// A cluster; an empty book when there is none.
    pub fn book(&mut self, cluster: ClusterId) -> &mut Book {
        self.books.entry(cluster).or_default()
    }

    /// A cluster that has events.
    #[must_use]
    pub fn find(&self, cluster: ClusterId) -> Option<&Book> {
        self.books.get(&cluster)
    }

    /// All clusters with events.
    pub fn all(&self) -> impl Iterator<Item = (ClusterId, &Book)> {
        self.books.iter().map(|(id, book)| (*id, book))
    }

    /// Enters an event.
    pub fn enter(&mut self, cluster: ClusterId, event: &Event) {
        let book = self.book(cluster);
        book.sequence += 1;
        book.enter(event);
    }
}

impl Book {
    fn enter(&mut self, event: &Event) {
        match event {
            Event::ClusterRequested { order, .. } => {
                self.tenant.clone_from(&order.account.tenant_id);
                self.job(1, ClusterAction::SolveLayout);
            }
            Event::LayoutFound { .. } => self.end(1),
            Event::LayoutRefused { .. } => {
                self.end(1);
                self.terminated = true;
            }
            Event::JobPlanned { job, action, tasks, .. } => {
                self.job(*job, *action);
                self.plan(*job, tasks);
            }
            Event::JobExtended { job, tasks, .. } => self.plan(*job, tasks),
            Event::UnitProbed { task, .. } => {
                self.open.remove(task);
                self.done.insert(*task);
            }
            Event::JobPaused { job, .. } | Event::JobFailed { job, .. } => self.may_start(*job, false),
            Event::JobResumed { job, .. } => self.may_start(*job, true),
            Event::AttemptStarted { task, attempt, .. } => {
                self.open.insert(*task, *attempt);
                if let Some(entry) = self.tasks.get_mut(task) {
                    entry.attempts = *attempt;
                }
            }
            Event::TaskSucceeded { task, .. } => {
                self.open.remove(task);
                self.done.insert(*task);
                self.step(*task);
            }
            Event::TaskFailed { task, next, .. } => {
                self.open.remove(task);
                if let FailedNext::Recreate { delete, create, .. } = next {
                    self.recreate(*task, *delete, *create);
                }
            }
            Event::JobEnded { job, status, .. } => {
                self.end(*job);
                self.terminated = *status == ClusterStatus::Terminated;
            }
            _ => {}
        }
    }

    fn job(&mut self, number: u32, action: ClusterAction) {
        self.jobs.insert(number, JobEntry { action, starts: true, ended: false });
    }

    fn may_start(&mut self, job: u32, starts: bool) {
        if let Some(entry) = self.jobs.get_mut(&job) {
            entry.starts = starts;
        }
    }

    fn end(&mut self, job: u32) {
        if let Some(entry) = self.jobs.get_mut(&job) {
            entry.starts = false;
            entry.ended = true;
        }
    }

    fn plan(&mut self, job: u32, steps: &[PlannedStep]) {
        for step in steps {
            let after = step.after.iter().copied().collect();
            self.task(step.number, job, &step.node, step.name, after);
        }
    }

    fn task(&mut self, number: u32, job: u32, node: &NodeId, name: TaskName, after: BTreeSet<u32>) {
        self.tasks.insert(number, Entry { job, node: node.clone(), name, after, attempts: 0 });
    }

    fn recreate(&mut self, confirm: u32, delete: u32, create: u32) {
        let Some(entry) = self.tasks.get_mut(&confirm) else { return };
        entry.after.insert(create);
        let (job, node) = (entry.job, entry.node.clone());
        self.task(delete, job, &node, TaskName::Delete, BTreeSet::new());
        self.task(create, job, &node, TaskName::Create, BTreeSet::from([delete]));
    }

    fn step(&mut self, task: u32) {
        let Some(entry) = self.tasks.get(&task) else { return };
        let steps = self.steps.entry(entry.node.clone()).or_default();
        if entry.name == TaskName::Delete {
            steps.clear();
        } else {
            steps.insert(entry.name);
        }
    }
}
