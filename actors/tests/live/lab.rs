//! A provider and an automator that do what a test wants, and remember what they were asked.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cooperage_domain::entity::{AutomatorType, ProviderType, ServiceAction};
use cooperage_domain::health::Finding;
use cooperage_domain::id::{NodeId, TaskId};
use cooperage_domain::task::{TaskName, TaskOrder, TaskReport};
use cooperage_plugins::{Automator, Context, PluginSet, Provider, Stream, TaskFault};
use serde_json::json;
use tokio::sync::watch;

use crate::rig::PATIENCE;

/// What an execution does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    Succeed,
    Fail(i64),
    Panic,
    /// Succeeds when released; stops with a failure when cancelled.
    Wait,
    /// Succeeds when released, and does not hear that it is cancelled.
    Deaf,
}

type Script = Box<dyn Fn(&TaskOrder) -> Behaviour + Send>;

/// The plugins, and what they remember. Outlives the process that it is part of.
#[derive(Clone)]
pub struct Lab(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    script: Option<Script>,
    released: BTreeSet<String>,
    running: HashMap<NodeId, u32>,
    /// Each time something was begun, in order: `NODE:TASK` or `NODE:TASK:SERVICE`.
    begun: Vec<String>,
    ended: Vec<String>,
    cancelled: Vec<String>,
    executions: BTreeMap<(TaskId, u32), u32>,
    most_at_once: u32,
    overlaps: Vec<String>,
    /// How probes find machines (`NODE`) and services (`NODE/SERVICE`); what is not here is up.
    health: HashMap<String, Finding>,
    /// Nodes whose probes do not end by themselves.
    slow: BTreeSet<String>,
    /// Each probe that was begun, as `NODE` or `NODE/SERVICE`.
    probed: Vec<String>,
    probing: HashMap<NodeId, u32>,
}

/// How a task is written.
pub fn label(order: &TaskOrder) -> String {
    match &order.config.service {
        None => format!("{}:{}", order.node_id, order.task_name),
        Some(service) => format!("{}:{}:{}", order.node_id, order.task_name, service.name),
    }
}

impl Lab {
    pub fn new() -> Self {
        let (changed, _) = watch::channel(());
        Self(Arc::new(Inner { state: Mutex::default(), changed }))
    }

    /// What executions do from now on; without it they succeed.
    pub fn script(&self, script: impl Fn(&TaskOrder) -> Behaviour + Send + 'static) {
        self.state().script = Some(Box::new(script));
    }

    /// Executions of these labels wait, the rest succeeds.
    pub fn hold(&self, labels: &[&str]) {
        let held: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        self.script(move |order| match held.contains(&label(order)) {
            true => Behaviour::Wait,
            false => Behaviour::Succeed,
        });
    }

    /// Lets those go that wait under this label, now and later.
    pub fn release(&self, label: &str) {
        self.state().released.insert(label.to_owned());
        self.0.changed.send_replace(());
    }

    /// Waits until so many executions of a label have begun.
    pub async fn until_begun(&self, label: &str, times: usize) {
        self.until(&format!("{label} to begin"), |state| count(&state.begun, label) >= times).await;
    }

    /// Waits until so many executions of anything have begun.
    pub async fn until_any_begun(&self, times: usize) {
        self.until(&format!("{times} executions to begin"), |state| state.begun.len() >= times).await;
    }

    pub async fn until_ended(&self, label: &str, times: usize) {
        self.until(&format!("{label} to end"), |state| count(&state.ended, label) >= times).await;
    }

    pub async fn until_cancelled(&self, label: &str) {
        self.until(&format!("{label} to be cancelled"), |state| count(&state.cancelled, label) > 0).await;
    }

    async fn until(&self, what: &str, holds: impl Fn(&State) -> bool) {
        let mut changes = self.0.changed.subscribe();
        let wait = async {
            while !holds(&self.state()) {
                changes.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        assert!(waited.is_ok(), "waited in vain for {what}; begun: {:?}", self.begun());
    }

    /// From now on probes find this: of `NODE`, or of `NODE/SERVICE`. A new machine is up.
    pub fn find(&self, unit: &str, finding: Finding) {
        self.state().health.insert(unit.to_owned(), finding);
    }

    /// From now on probes of this node's machine end when they are told to give way, and not before.
    pub fn slow_down(&self, node: &str) {
        self.state().slow.insert(node.to_owned());
    }

    /// What was probed so far, in order.
    pub fn probed(&self) -> Vec<String> {
        self.state().probed.clone()
    }

    /// Waits until a unit was probed so many times more.
    pub async fn until_probed(&self, unit: &str, times: usize) {
        let wanted = count(&self.state().probed, unit) + times;
        self.until(&format!("{unit} to be probed"), |state| count(&state.probed, unit) >= wanted).await;
    }

    async fn look(&self, task: &Context) -> Finding {
        let (finding, slow) = self.begin_look(&task.order);
        let _looking = Looking { lab: self, node: task.order.node_id.clone() };
        if slow {
            task.cancel.cancelled().await;
        } else {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        finding
    }

    /// What a probe finds, and whether it ends by itself.
    fn begin_look(&self, order: &TaskOrder) -> (Finding, bool) {
        let node = &order.node_id;
        let service = order.config.service.as_ref();
        let unit = service.map_or_else(|| node.to_string(), |service| format!("{node}/{}", service.name));
        let mut state = self.state();
        if state.running.get(node).is_some_and(|running| *running > 0) {
            state.overlaps.push(format!("probe of {unit}"));
        }
        *state.probing.entry(node.clone()).or_default() += 1;
        let (finding, slow) = (state.health.get(&unit).cloned(), state.slow.contains(&unit));
        state.probed.push(unit);
        drop(state);
        self.0.changed.send_replace(());
        (finding.unwrap_or(Finding::Up), slow)
    }

    pub fn begun(&self) -> Vec<String> {
        self.state().begun.clone()
    }

    /// How often each execution was asked for.
    pub fn executions(&self) -> BTreeMap<(TaskId, u32), u32> {
        self.state().executions.clone()
    }

    pub fn most_at_once(&self) -> u32 {
        self.state().most_at_once
    }

    pub fn running(&self) -> u32 {
        self.state().running.values().sum()
    }

    pub fn assert_never_two_at_once(&self) {
        assert_eq!(self.state().overlaps, Vec::<String>::new());
    }

    /// The process that executed is gone, and everything that ran in it.
    pub fn die(&self) {
        let mut state = self.state();
        state.running.clear();
        state.probing.clear();
    }

    pub fn plugins(&self) -> PluginSet {
        let lab = Arc::new(self.clone());
        PluginSet::default().with_provider(lab.clone()).with_automator(lab)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn begin(&self, order: &TaskOrder) -> (String, Behaviour) {
        let label = label(order);
        let mut state = self.state();
        let at_once = state.running.entry(order.node_id.clone()).or_default();
        *at_once += 1;
        if *at_once > 1 || state.probing.get(&order.node_id).is_some_and(|probing| *probing > 0) {
            state.overlaps.push(label.clone());
        }
        if order.task_name == TaskName::Create {
            let of_node = format!("{}/", order.node_id);
            state.health.retain(|unit, _| unit != order.node_id.as_str() && !unit.starts_with(&of_node));
        }
        state.most_at_once = state.most_at_once.max(state.running.values().sum());
        *state.executions.entry((order.task_id, order.attempt)).or_default() += 1;
        state.begun.push(label.clone());
        let behaviour = state.script.as_ref().map_or(Behaviour::Succeed, |script| script(order));
        drop(state);
        self.0.changed.send_replace(());
        (label, behaviour)
    }

    async fn execute(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let (label, behaviour) = self.begin(&task.order);
        let _ending = Ending { lab: self, node: task.order.node_id.clone(), label: label.clone() };
        let deaf = behaviour == Behaviour::Deaf;
        match behaviour {
            Behaviour::Succeed => Ok(TaskReport::success()),
            Behaviour::Fail(status) => {
                let fault = TaskFault { status, ..TaskFault::new("it broke") };
                Err(fault.with_output("on the way", "the disk is on fire"))
            }
            Behaviour::Panic => panic!("the plugin panics, as it should"),
            Behaviour::Wait | Behaviour::Deaf => {
                let mut changes = self.0.changed.subscribe();
                while !self.state().released.contains(&label) {
                    tokio::select! {
                        _ = changes.changed() => {}
                        () = task.cancel.cancelled(), if !deaf => {
                            self.state().cancelled.push(label.clone());
                            return Err(TaskFault::new("cancelled"));
                        }
                    }
                }
                task.output.line(Stream::Stdout, "released");
                Ok(TaskReport::success())
            }
        }
    }
}

fn count(labels: &[String], label: &str) -> usize {
    labels.iter().filter(|other| *other == label).count()
}

/// The end of an execution, by return or panic.
struct Ending<'a> {
    lab: &'a Lab,
    node: NodeId,
    label: String,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut state = self.lab.state();
        if let Some(running) = state.running.get_mut(&self.node) {
            *running = running.saturating_sub(1);
        }
        state.ended.push(self.label.clone());
        drop(state);
        self.lab.0.changed.send_replace(());
    }
}

/// The end of a probe, however it comes.
struct Looking<'a> {
    lab: &'a Lab,
    node: NodeId,
}

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        if let Some(probing) = self.lab.state().probing.get_mut(&self.node) {
            *probing = probing.saturating_sub(1);
        }
    }
}

#[async_trait]
impl Provider for Lab {
    fn descriptor(&self) -> ProviderType {
        serde_json::from_value(json!({"name": "local"})).unwrap()
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn probe(&self, task: &Context) -> Finding {
        self.look(task).await
    }
}

#[async_trait]
impl Automator for Lab {
    fn descriptor(&self) -> AutomatorType {
        serde_json::from_value(json!({"name": "shell"})).unwrap()
    }

    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn act(&self, _: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        self.execute(task).await
    }

    async fn probe(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        if task.order.task_id.number > 0 {
            return self.execute(task).await;
        }
        match self.look(task).await {
            Finding::Up => Ok(TaskReport::success()),
            Finding::Down(why) => Ok(TaskReport::failure(1, why)),
            Finding::Gone(why) | Finding::Unknown(why) => Err(TaskFault::new(why)),
        }
    }
}

/// Waits until something holds that only asking can tell.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}
