//! The outside world of a cluster under test, kept from its journal alone: which machines may exist, and how far each
//! node was brought.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{Cluster, Event, Task};
use cooperage_domain::entity::{Service, ServiceAction};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::{UnitId, Wanted};
use cooperage_domain::task::TaskName;

/// A step done to a node: the task, and its service if it has one.
type Step = (TaskName, Option<String>);

/// What the journal of a cluster did to the world.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// Nodes with a machine, or what may be one.
    machines: BTreeSet<NodeId>,
    /// What succeeded on the present machine of each node.
    done: BTreeMap<NodeId, BTreeSet<Step>>,
}

impl Outside {
    /// Takes note of what happened, and panics when something started too early. `before` is the cluster before `events`.
    pub fn see(&mut self, before: &Cluster, events: &[Event]) {
        let task = |number: &u32| &before.latest_job().unwrap().tasks[number];
        for event in events {
            match event {
                Event::AttemptStarted { task: number, .. } => self.check_start(before, task(number)),
                Event::TaskSucceeded { task: number, .. } => self.succeeded(task(number)),
                Event::TaskFailed { task: number, outcome, .. } => {
                    let task = task(number);
                    // The worst case: whatever is not a clear refusal has left a machine behind. Nobody asked for one
                    // where no attempt was made.
                    let asked = task.open_attempt().is_some();
                    if asked && task.name == TaskName::Create && !(200..300).contains(&outcome.code) {
                        self.machines.insert(task.node.clone());
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether any machine may exist.
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    fn succeeded(&mut self, task: &Task) {
        match task.name {
            TaskName::Delete => {
                self.machines.remove(&task.node);
                self.done.remove(&task.node);
            }
            name => {
                self.machines.insert(task.node.clone());
                let done = self.done.entry(task.node.clone()).or_default();
                if name == TaskName::Stop {
                    done.remove(&(TaskName::Start, task.service.clone()));
                }
                done.insert((name, task.service.clone()));
            }
        }
    }

    /// Whether a step was done to the present machine of a node.
    fn has(&self, node: &NodeId, name: TaskName, service: Option<&String>) -> bool {
        self.done.get(node).is_some_and(|done| done.contains(&(name, service.cloned())))
    }

    fn check_start(&self, cluster: &Cluster, task: &Task) {
        let machine: &[TaskName] = match task.name {
            TaskName::Delete | TaskName::Create => &[],
            TaskName::Confirm => &[TaskName::Create],
            TaskName::Bootstrap => &[TaskName::Create, TaskName::Confirm],
            _ => &[TaskName::Create, TaskName::Confirm, TaskName::Bootstrap],
        };
        for step in machine {
            assert!(self.has(&task.node, *step, None), "{} of {} before {step}", task.name, task.node);
        }
        if task.name == TaskName::Create {
            let confirmed = self.has(&task.node, TaskName::Confirm, None);
            assert!(!confirmed, "{} gets a second machine", task.node);
        }
        let Some(service) = task.service.as_ref().map(|name| &cluster.definitions[name]) else { return };
        self.check_service(task, service);
        if matches!(task.name, TaskName::Start | TaskName::Initialize) {
            self.check_needs(cluster, task, service);
        }
        if task.name == TaskName::Start {
            let wanted = cluster.units[&UnitId::service(task.node.clone(), service.name())].wanted;
            assert_eq!(wanted, Wanted::Running, "{} of {}", task.id, service.name());
        }
        if task.name == TaskName::Stop {
            self.check_needed_by(cluster, service);
        }
    }

    /// The earlier steps that the service defines were done on this node.
    fn check_service(&self, task: &Task, service: &Service) {
        let order = [TaskName::Install, TaskName::Configure, TaskName::Initialize];
        for step in order.into_iter().take_while(|step| *step != task.name) {
            if step.service_action().is_some_and(|it| service.provisioner.actions.contains_key(&it)) {
                assert!(self.has(&task.node, step, task.service.as_ref()), "{} before {step}", task.id);
            }
        }
    }

    /// Nothing that needs the service to run and can be stopped runs any more, on any node. What has no START is never waited
    /// for by those that need it, so that they may be started again before it is stopped: as in Coopr.
    fn check_needed_by(&self, cluster: &Cluster, service: &Service) {
        if !service.provisioner.actions.contains_key(&ServiceAction::Start) {
            return;
        }
        for other in cluster.definitions.values() {
            let stops = other.provisioner.actions.contains_key(&ServiceAction::Stop);
            if !stops || !other.dependencies.runtime.requires.contains(service.name()) {
                continue;
            }
            for node in cluster.nodes.keys() {
                let name = other.name().to_owned();
                let runs = self.has(node, TaskName::Start, Some(&name));
                assert!(!runs, "{} is stopped while {name} runs on {node}", service.name());
            }
        }
    }

    /// What the service needs was started on every node that carries it.
    fn check_needs(&self, cluster: &Cluster, task: &Task, service: &Service) {
        for needed in &service.dependencies.runtime.requires {
            if !cluster.definitions[needed].provisioner.actions.contains_key(&ServiceAction::Start) {
                continue;
            }
            for node in cluster.nodes.values().filter(|node| node.properties.services.contains(needed)) {
                let runs = self.has(&node.id, TaskName::Start, Some(needed));
                assert!(runs, "{} of {} before {needed} runs on {}", task.name, service.name(), node.id);
            }
        }
    }
}
