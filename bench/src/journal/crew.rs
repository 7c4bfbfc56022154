//! Clusters that are brought up, and plugins that take no time over it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cooperage_domain::cluster::{Account, CreateOrder, Event, Limits, Origins, create};
use cooperage_domain::entity::{
    ActionSpec, AutomatorType, ClusterTemplate, Provider as ProviderEntity, ProviderType, Service,
    ServiceAction,
};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::{NodeProperties, TaskName, TaskReport};
use cooperage_plugins::{Automator, Context, PluginSet, Provider, TaskFault};
use serde_json::Map;
use uuid::Uuid;

use crate::BenchError;

/// What is done to each node: its machine is created, confirmed and bootstrapped, its service installed and started.
pub const TASKS_OF_NODE: u64 = 5;

/// The only service.
const SERVICE: &str = "web";
const PROVIDER: &str = "idle";
const AUTOMATOR: &str = "idle";

/// The tenant of all clusters, by internal id.
pub const TENANT: &str = "bench";

/// The events that bring a cluster of so many nodes into being.
///
/// # Errors
/// When it cannot be planned.
pub fn founded(id: ClusterId, nodes: u64, now: i64) -> Result<Vec<Event>, BenchError> {
    let placed = (1..=nodes).map(|number| {
        let node = NodeId(format!("{:08x}-{:04x}-4000-8000-{number:012x}", id.0 >> 16, id.0 & 0xffff));
        (node, properties(id, number))
    });
    let placed: BTreeMap<NodeId, NodeProperties> = placed.collect();
    create(order(id), Ok(placed), now).map_err(|fault| BenchError::Question {
        question: format!("cluster {id} of {nodes} nodes"),
        fault: fault.to_string(),
    })
}

fn properties(id: ClusterId, number: u64) -> NodeProperties {
    NodeProperties {
        hostname: Some(format!("bench-{id}-{number}.local")),
        nodenum: u32::try_from(1000 + number).unwrap_or(u32::MAX),
        hardwaretype: "small".to_owned(),
        imagetype: "debian".to_owned(),
        flavor: "1cpu".to_owned(),
        image: "debian-12".to_owned(),
        sshuser: "root".to_owned(),
        services: BTreeSet::from([SERVICE.to_owned()]),
        automators: BTreeSet::from([AUTOMATOR.to_owned()]),
        ..NodeProperties::default()
    }
}

fn order(id: ClusterId) -> CreateOrder {
    let mut provider = ProviderEntity { providertype: PROVIDER.to_owned(), ..ProviderEntity::default() };
    provider.base.name = PROVIDER.to_owned();
    let mut template = ClusterTemplate::default();
    template.base.name = "bench".to_owned();
    CreateOrder {
        id,
        name: format!("bench-{id}"),
        description: String::new(),
        account: Account { user_id: "bench".to_owned(), tenant_id: TENANT.to_owned() },
        expires: 0,
        provider,
        template,
        services: BTreeSet::from([SERVICE.to_owned()]),
        definitions: BTreeMap::from([(SERVICE.to_owned(), service())]),
        config: Map::new(),
        dns_suffix: None,
        seed: Uuid::nil(),
        limits: Limits::default(),
        origins: Origins::default(),
    }
}

fn service() -> Service {
    let mut service = Service::default();
    service.base.name = SERVICE.to_owned();
    let spec = || ActionSpec { automator: AUTOMATOR.to_owned(), fields: BTreeMap::new(), timeout: None };
    let actions = [ServiceAction::Install, ServiceAction::Start, ServiceAction::Stop];
    service.provisioner.actions = actions.map(|action| (action, spec())).into();
    service
}

/// Plugins that take no time, and note how long each node waited from the end of one task to the begin of the next.
#[derive(Default)]
pub struct Idle {
    runs: AtomicU64,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    /// When the last task of a node ended.
    ended: HashMap<NodeId, Instant>,
    waits: Vec<Duration>,
}

impl Idle {
    /// The plugins, as the provisioner has them.
    pub fn plugins(self: &Arc<Self>) -> PluginSet {
        let provider = Arc::clone(self) as Arc<dyn Provider>;
        PluginSet::default().with_provider(provider).with_automator(Arc::clone(self) as Arc<dyn Automator>)
    }

    /// How many tasks were carried out.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// How long tasks waited, since this was asked last.
    pub fn waits(&self) -> Vec<Duration> {
        std::mem::take(&mut self.noted().waits)
    }

    /// Whole values, whatever a thread did that panicked over them.
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, task: &Context) -> TaskReport {
        let now = Instant::now();
        self.runs.fetch_add(1, Ordering::Relaxed);
        let mut noted = self.noted();
        let before = match task.order.task_name {
            TaskName::Start => noted.ended.remove(&task.order.node_id),
            TaskName::Create | TaskName::Stop => {
                noted.ended.insert(task.order.node_id.clone(), now);
                None
            }
            _ => noted.ended.get_mut(&task.order.node_id).map(|ended| std::mem::replace(ended, now)),
        };
        if let Some(before) = before {
            noted.waits.push(now.saturating_duration_since(before));
        }
        TaskReport::success()
    }
}

#[async_trait]
impl Provider for Idle {
    fn descriptor(&self) -> ProviderType {
        let mut descriptor = ProviderType::default();
        descriptor.0.base.name = PROVIDER.to_owned();
        descriptor
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        Ok(self.run(task))
    }

    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        Ok(self.run(task))
    }

    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        Ok(self.run(task))
    }
}

#[async_trait]
impl Automator for Idle {
    fn descriptor(&self) -> AutomatorType {
        let mut descriptor = AutomatorType::default();
        descriptor.0.base.name = AUTOMATOR.to_owned();
        descriptor
    }

    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        Ok(self.run(task))
    }

    async fn act(&self, _: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        Ok(self.run(task))
    }
}
