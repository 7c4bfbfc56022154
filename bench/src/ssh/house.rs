//! A whole server in this process, but for HTTP: real actors, a real store on a temporary SQLite database, the real SSH
//! transport, and the shell automator as it is installed.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix::{Addr, Arbiter};
use cooperage_actors::clock::{Clock, WallClock};
use cooperage_actors::console::{Console, Live as _};
use cooperage_actors::estimate::Estimates;
use cooperage_actors::handover::Handover;
use cooperage_actors::janitor::Janitor;
use cooperage_actors::journal::Journal;
use cooperage_actors::provisioner::Provisioner;
use cooperage_actors::registry::{Create, Office, Registry, pool_path};
use cooperage_actors::task_log::TaskLog;
use cooperage_actors::worker_pool::WorkerPool;
use cooperage_domain::cluster::{Account, CreateOrder, Limits, Origins, create};
use cooperage_domain::entity::{ActionSpec, Service, ServiceAction};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::NodeProperties;
use cooperage_plugins::PluginSet;
use cooperage_plugins::resources::{Active, PluginResources, ResourceKey, Side};
use cooperage_plugins::shell::{AUTOMATOR_TYPE, SCRIPTS, ShellAutomator};
use cooperage_plugins::ssh::{Backend, PoolLimits, SshPool, transport};
use cooperage_schema::{KnownSecrets, Store, StoreOptions, Vault};
use serde_json::Map;
use sha2::{Digest as _, Sha256};
use slog::{Drain, KV as _, Key, Logger, Never, OwnedKVList, Record, Serializer, o};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::Fault;
use super::machines::{FIRST_NODE, Machines, PROVIDER_TYPE};
use super::sshd::Doors;

/// Whose clusters they are.
const TENANT: &str = "t1";
/// What every task runs.
const SCRIPT: &str = "true.sh";
/// It.
pub const SCRIPT_TEXT: &str = "#!/bin/sh\nexit 0\n";
/// What services do: each a task on each node.
const ACTIONS: [ServiceAction; 4] =
    [ServiceAction::Install, ServiceAction::Configure, ServiceAction::Initialize, ServiceAction::Start];
/// How long the creation of a cluster may take.
const LIMIT: Duration = Duration::from_secs(600);
/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// A server. Lives in an actix system.
pub struct House {
    runtime: Option<Runtime>,
    store: Store,
    registry: Addr<Registry>,
    clock: Arc<WallClock>,
    ends: Ends,
    pool: SshPool,
    made: u64,
    /// Machines that clusters have of their own.
    taken: u32,
}

impl House {
    /// Opens its database in `folder`, with so many workers.
    ///
    /// # Errors
    /// When the database or the folder refuses.
    pub fn open(folder: &Path, doors: Doors, workers: usize) -> Result<Self, Fault> {
        let url = folder.join("bench.db").display().to_string().parse()?;
        let options = StoreOptions { secrets_key: Some(folder.join("key")), ..StoreOptions::default() };
        let store = Store::open(&url, options)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let pool = {
            let _inside = runtime.enter();
            SshPool::new(transport(Backend::default())?, PoolLimits::default())
        };
        let automator = ShellAutomator::new(pool.clone(), resources(&folder.join("resources"))?);
        let plugins =
            PluginSet::default().with_provider(Arc::new(Machines(doors))).with_automator(Arc::new(automator));
        let (ends, clock) = (Ends::default(), Arc::new(WallClock::default()));
        let logger = Logger::root(ends.clone(), o!());
        let console = Console::default();
        let office = Office {
            store: store.clone(),
            journal: Journal::new(store.journal()),
            janitor: Janitor::new(clock.clone()).live(&console, "/janitor"),
            provisioner: Provisioner::new(Arc::new(plugins), runtime.handle().clone())
                .live(&console, "/provisioner"),
            handover: Handover::default(),
            vault: Vault::new(store.clone(), KnownSecrets::default()),
            pools: HashMap::from([(
                TENANT.to_owned(),
                WorkerPool::new(workers).live(&console, pool_path(TENANT)),
            )]),
            log: TaskLog::new(store.journal(), clock.clone(), logger.clone()),
            estimates: Estimates::default(),
            clock: clock.clone(),
            logger,
            arbiters: (0..2).map(|_| Arbiter::new()).collect(),
            console: console.clone(),
        };
        let registry = Registry::new(office).live(&console, "/registry");
        Ok(Self { runtime: Some(runtime), store, registry, clock, ends, pool, made: 0, taken: 0 })
    }

    /// From now on clusters are made on other machines.
    pub const fn take(&mut self, machines: u32) {
        self.taken += machines;
    }

    /// Makes a cluster, on the same machines as the one before, and waits until it is active.
    ///
    /// # Errors
    /// When it is refused, or does not become active.
    pub async fn make(&mut self, nodes: u32, services: u32) -> Result<Duration, Fault> {
        let begun = Instant::now();
        self.made += 1;
        let id = ClusterId(self.made);
        let (order, nodes) = planned(id, self.taken, nodes, services);
        let events = create(order, Ok(nodes), self.clock.now()).map_err(|refusal| refusal.to_string())?;
        let asked = Create { id, tenant: TENANT.into(), events, who: "bench".into() };
        self.registry.send(asked).await?.map_err(|fault| fault.to_string())?;
        while begun.elapsed() < LIMIT {
            match self.ends.take() {
                Some(Ok(())) => return Ok(begun.elapsed()),
                Some(Err(reason)) => return Err(reason.into()),
                None => tokio::time::sleep(LOOK).await,
            }
        }
        Err("a cluster did not become active".into())
    }

    /// SSH connections that are open.
    pub fn connections(&self) -> usize {
        self.pool.open_connections()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        self.store.close();
    }
}

/// Tasks of a cluster that are carried out over SSH.
pub const fn tasks_over_ssh(nodes: u32, services: u32) -> u32 {
    nodes * (1 + services * ACTIONS.len() as u32)
}

/// Where the script is that tasks run.
fn resources(folder: &Path) -> Result<PluginResources, Fault> {
    let resources = PluginResources::local(folder);
    let key = ResourceKey {
        tenant: TENANT.to_owned(),
        side: Side::Automator,
        plugin: AUTOMATOR_TYPE.to_owned(),
        kind: SCRIPTS.to_owned(),
        name: SCRIPT.to_owned(),
    };
    let draft = resources.drafts()?.join(SCRIPT);
    std::fs::write(&draft, SCRIPT_TEXT)?;
    resources.place(&key, 1, &draft)?;
    let sha256 = Sha256::digest(SCRIPT_TEXT).iter().map(|byte| format!("{byte:02x}")).collect();
    resources.activate(&key, Some(&Active { version: 1, sha256 }))?;
    Ok(resources)
}

/// Every service is on every node, and needs nothing.
fn planned(
    id: ClusterId,
    first: u32,
    nodes: u32,
    services: u32,
) -> (CreateOrder, BTreeMap<NodeId, NodeProperties>) {
    let definitions: BTreeMap<String, Service> = (0..services).map(service).collect();
    let node = |number: u32| {
        let properties = NodeProperties {
            hostname: Some(format!("machine-{number}.local")),
            nodenum: FIRST_NODE + first + number,
            services: definitions.keys().cloned().collect(),
            automators: std::iter::once(AUTOMATOR_TYPE.to_owned()).collect(),
            ..NodeProperties::default()
        };
        (NodeId(Uuid::from_u64_pair(id.0, number.into()).to_string()), properties)
    };
    let nodes = (0..nodes).map(node).collect();
    let mut provider = cooperage_domain::entity::Provider::default();
    provider.base.name = PROVIDER_TYPE.to_owned();
    provider.providertype = PROVIDER_TYPE.to_owned();
    let order = CreateOrder {
        id,
        name: "bench".into(),
        description: String::new(),
        account: Account { user_id: "bench".into(), tenant_id: TENANT.into() },
        expires: 0,
        provider,
        template: cooperage_domain::entity::ClusterTemplate::default(),
        services: definitions.keys().cloned().collect(),
        definitions,
        config: Map::new(),
        dns_suffix: None,
        seed: Uuid::nil(),
        limits: Limits::default(),
        origins: Origins::default(),
    };
    (order, nodes)
}

fn service(number: u32) -> (String, Service) {
    let mut service = Service::default();
    service.base.name = format!("service-{number:02}");
    for action in ACTIONS {
        let fields = BTreeMap::from([("script".to_owned(), SCRIPT.to_owned())]);
        let spec = ActionSpec { automator: AUTOMATOR_TYPE.to_owned(), fields, timeout: None };
        service.provisioner.actions.insert(action, spec);
    }
    (service.base.name.clone(), service)
}

/// How jobs ended, as the log says.
#[derive(Clone, Default)]
struct Ends(Arc<Mutex<Vec<Result<(), String>>>>);

impl Ends {
    fn take(&self) -> Option<Result<(), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Drain for Ends {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        let end = match record.msg().as_str() {
            Some("job ended") => Ok(()),
            Some("job failed") => Err(told(record)),
            _ => return Ok(()),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(end);
        Ok(())
    }
}

/// The reason in a record.
fn told(record: &Record<'_>) -> String {
    struct Reason(String);
    impl Serializer for Reason {
        fn emit_arguments(&mut self, key: Key, value: &std::fmt::Arguments<'_>) -> slog::Result {
            if key == "reason" {
                self.0 = value.to_string();
            }
            Ok(())
        }
    }
    let mut reason = Reason("a job failed".to_owned());
    // It cannot fail: writing to a String never does.
    let _ = record.kv().serialize(record, &mut reason);
    reason.0
}
