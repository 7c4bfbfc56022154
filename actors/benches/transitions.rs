//! How fast tasks follow each other through actors and journal when plugins take no time, and what an idle actor costs.
//!
//! `cargo bench -p cooperage-actors`. Every cluster has five nodes, each with a chain of five tasks; a task is two durable
//! transitions (it is begun, it has succeeded). There are as many workers as nodes, so that nothing waits for one. The wait
//! is measured from the return of a task's predecessor to the call of its plugin: it holds two commits.

#![allow(clippy::print_stdout, reason = "a bench reports by printing")]
#![allow(clippy::unwrap_used, reason = "what is shared with the tests unwraps")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use actix::{Actor, Addr, Arbiter, System};
use async_trait::async_trait;
use cooperage_actors::clock::{Clock, WallClock};
use cooperage_actors::estimate::Estimates;
use cooperage_actors::handover::Handover;
use cooperage_actors::janitor::Janitor;
use cooperage_actors::journal::Journal;
use cooperage_actors::node::{Colleagues, Identity, Node};
use cooperage_actors::provisioner::Provisioner;
use cooperage_actors::registry::{Create, Find, Office, Registry};
use cooperage_actors::task_log::TaskLog;
use cooperage_actors::worker_pool::WorkerPool;
use cooperage_domain::cluster::create;
use cooperage_domain::entity::{AutomatorType, ProviderType, ServiceAction};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::TaskReport;
use cooperage_plugins::{Automator, Context, PluginSet, Provider, TaskFault};
use cooperage_schema::{KnownSecrets, Store, StoreOptions, Vault};
use serde_json::json;
use slog::{Drain, Logger, Never, OwnedKVList, Record, o};

#[allow(dead_code, reason = "shared with the kernel's tests, which use more of it")]
#[path = "../../domain/tests/kernel/sketch.rs"]
mod sketch;
use sketch::{Sketch, node_id};

/// How long each measurement lasts at least.
const PERIOD: Duration = Duration::from_secs(4);
/// How many clusters are made at once.
const CLUSTERS: [u64; 3] = [1, 100, 1_000];
const NODES: u64 = 5;
const TASKS_OF_NODE: u64 = 5;
/// How many idle node actors are weighed.
const WEIGHED_NODES: usize = 20_000;

fn main() {
    // First, while the heap holds nothing that was used and freed.
    System::new().block_on(weigh_nodes());
    println!("\nclusters  tasks/s  transitions/s  times one  wait p50 ms  wait p99 ms");
    let mut alone = None;
    for clusters in CLUSTERS {
        let measured = System::new().block_on(measure(clusters));
        let alone = *alone.get_or_insert(measured.tasks_per_second);
        println!(
            "{clusters:>8}  {:>7.0}  {:>13.0}  {:>9.1}  {:>11.2}  {:>11.2}",
            measured.tasks_per_second,
            measured.tasks_per_second * 2.0,
            measured.tasks_per_second / alone,
            measured.waits.at(0.50),
            measured.waits.at(0.99)
        );
    }
    System::new().block_on(weigh_clusters());
}

struct Measured {
    tasks_per_second: f64,
    waits: Waits,
}

/// Sorted, in ms.
struct Waits(Vec<f64>);

impl Waits {
    fn at(&self, share: f64) -> f64 {
        self.0.get((self.0.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    }
}

/// Makes so many clusters at once, again and again.
async fn measure(clusters: u64) -> Measured {
    let bench = Bench::start();
    let start = Instant::now();
    let mut made = 0;
    while start.elapsed() < PERIOD {
        bench.make(made + 1..=made + clusters).await;
        made += clusters;
    }
    let tasks = made * NODES * TASKS_OF_NODE;
    let tasks_per_second = tasks as f64 / start.elapsed().as_secs_f64();
    let mut waits = std::mem::take(&mut *bench.plugin.waits.lock().unwrap());
    waits.sort_by(f64::total_cmp);
    Measured { tasks_per_second, waits: Waits(waits) }
}

/// What a live cluster with its nodes keeps in memory.
async fn weigh_clusters() {
    let bench = Bench::start();
    // What is made once, like connections and caches, is there already.
    bench.make(1..=100).await;
    let before = resident();
    bench.make(101..=1_100).await;
    let each = (resident() - before) / 1_000.0;
    println!("\nmemory of a live cluster of {NODES} nodes, all actors and state: {each:.1} KiB");
}

/// What an idle node's actor alone keeps in memory.
async fn weigh_nodes() {
    let bench = Bench::start();
    bench.make(1..=1).await;
    let cluster = bench.registry.send(Find { id: ClusterId(1) }).await.unwrap().unwrap();
    let before = resident();
    let nodes: Vec<Addr<Node>> = (0..WEIGHED_NODES)
        .map(|number| {
            let id = node_id(&format!("{number:036}"));
            let identity = Identity { id, cluster: ClusterId(1), tenant: "t1".to_owned() };
            let logger = bench.logger.new(o!("node" => number));
            Node::new(identity, cluster.downgrade(), bench.colleagues.clone(), PERIOD, logger).start()
        })
        .collect();
    tokio::task::yield_now().await;
    let each = (resident() - before) / WEIGHED_NODES as f64;
    println!("memory of an idle node's actor alone: {each:.2} KiB");
    drop(nodes);
}

/// Resident memory of this process in KiB.
fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 4.0
}

struct Bench {
    _folder: tempfile::TempDir,
    runtime: Option<tokio::runtime::Runtime>,
    plugin: Arc<InNoTime>,
    registry: Addr<Registry>,
    colleagues: Colleagues,
    logger: Logger,
    ended: Arc<AtomicUsize>,
    clock: Arc<WallClock>,
}

impl Bench {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("bench.db").to_str().unwrap().parse().unwrap();
        let store = Store::open(
            &url,
            StoreOptions { secrets_key: Some(folder.path().join("key")), ..StoreOptions::default() },
        )
        .unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let ended = Arc::new(AtomicUsize::new(0));
        let logger = Logger::root(CountEnds(Arc::clone(&ended)), o!());
        let clock = Arc::new(WallClock::default());
        let plugin = Arc::new(InNoTime::default());
        let plugins = PluginSet::default().with_provider(plugin.clone()).with_automator(plugin.clone());
        let journal = Journal::new(store.journal(), logger.clone());
        let colleagues = Colleagues {
            pool: WorkerPool::new(usize::MAX).start(),
            provisioner: Provisioner::new(Arc::new(plugins), runtime.handle().clone()).start(),
            handover: Handover::default(),
            vault: Vault::new(store.clone(), KnownSecrets::default()),
            janitor: Janitor::new(clock.clone()).start(),
            log: TaskLog::new(store.journal(), clock.clone(), logger.clone()),
        };
        let office = Office {
            store: store.clone(),
            journal: Journal::start_in_arbiter(&Arbiter::new().handle(), |_| journal),
            janitor: colleagues.janitor.clone(),
            provisioner: colleagues.provisioner.clone(),
            handover: colleagues.handover.clone(),
            vault: colleagues.vault.clone(),
            pools: HashMap::from([("t1".to_owned(), colleagues.pool.clone())]),
            log: colleagues.log.clone(),
            estimates: Estimates::default(),
            clock: clock.clone(),
            logger: logger.clone(),
            arbiters: (0..2).map(|_| Arbiter::new()).collect(),
        };
        let registry = Registry::new(office).start();
        Self { _folder: folder, runtime: Some(runtime), plugin, registry, colleagues, logger, ended, clock }
    }

    /// Makes these clusters, all at once, and waits until they are active.
    async fn make(&self, ids: std::ops::RangeInclusive<u64>) {
        let goal = self.ended.load(Ordering::SeqCst) + usize::try_from(ids.end() - ids.start() + 1).unwrap();
        let create = |id| {
            let sketch = cluster(id);
            let mut order = sketch.order();
            order.id = ClusterId(id);
            let events = create(order, Ok(sketch.nodes), self.clock.now()).unwrap();
            self.registry.send(Create { id: ClusterId(id), tenant: "t1".into(), events, who: "ann".into() })
        };
        for answer in futures::future::join_all(ids.map(create)).await {
            answer.unwrap().unwrap();
        }
        while self.ended.load(Ordering::SeqCst) < goal {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn cluster(id: u64) -> Sketch {
    let mut sketch = Sketch::new("web: install start");
    for node in 1..=NODES {
        let name = format!("{id:018}-{node:017}");
        sketch.add_node(&name, ["web"]);
        if let Some(properties) = sketch.nodes.get_mut(&node_id(&name)) {
            properties.automators.insert("shell".to_owned());
        }
    }
    sketch
}

/// Counts the jobs that have ended.
struct CountEnds(Arc<AtomicUsize>);

impl Drain for CountEnds {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        if record.msg().as_str() == Some("job ended") {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// Plugins that take no time, and measure how long each node waited for its next task.
#[derive(Default)]
struct InNoTime {
    ended: Mutex<HashMap<NodeId, Instant>>,
    waits: Mutex<Vec<f64>>,
}

impl InNoTime {
    fn run(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let mut ended = self.ended.lock().unwrap();
        let now = Instant::now();
        if let Some(before) = ended.get(&task.order.node_id) {
            self.waits.lock().unwrap().push((now - *before).as_secs_f64() * 1000.0);
        }
        ended.insert(task.order.node_id.clone(), Instant::now());
        Ok(TaskReport::success())
    }
}

#[async_trait]
impl Provider for InNoTime {
    fn descriptor(&self) -> ProviderType {
        serde_json::from_value(json!({"name": "local"})).unwrap()
    }

    async fn create(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.run(task)
    }

    async fn confirm(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.run(task)
    }

    async fn delete(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.run(task)
    }
}

#[async_trait]
impl Automator for InNoTime {
    fn descriptor(&self) -> AutomatorType {
        serde_json::from_value(json!({"name": "shell"})).unwrap()
    }

    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        self.run(task)
    }

    async fn act(&self, _: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        self.run(task)
    }
}
