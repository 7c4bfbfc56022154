//! The agent of a remote provisioner, with a server that is written here and does what each test wants.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::{Actor, Addr, System};
use async_trait::async_trait;
use cooperage_actors::agent::{
    Agent, AgentOffice, Assign, GetAgentState, Leave, LinkFault, Prepared, Reply, ServerLink, Supplies,
};
use cooperage_actors::console::{Console, Live as _};
use cooperage_actors::provisioner::Provisioner;
use cooperage_domain::entity::{ActionSpec, AutomatorType, Base, PluginType, ServiceAction};
use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
use cooperage_domain::task::{ServiceOrder, TaskConfig, TaskName, TaskOrder, TaskReport};
use cooperage_domain::worker_protocol::{
    ActiveVersion, Extension, Finished, Kind, LinesTaken, OutputBatch, Resources, TakeBatch, TakenTask,
    Unwanted, Watch,
};
use cooperage_plugins::{Automator, Context, PluginSet, Stream, TaskFault};
use futures::FutureExt;
use futures::future::BoxFuture;
use slog::{Discard, Logger, o};
use tokio::sync::Semaphore;

use crate::lab::eventually;

/// A server in memory.
#[derive(Default)]
struct Fake {
    granted: BTreeSet<Extension>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<TaskOrder>,
    /// So many requests of a kind find nobody from now on.
    away: BTreeMap<&'static str, u32>,
    asked: Vec<&'static str>,
    finished: Vec<Finished>,
    lines: Vec<String>,
}

impl Fake {
    fn new(granted: &[Extension]) -> Arc<Self> {
        Arc::new(Self { granted: granted.iter().copied().collect(), state: Mutex::default() })
    }

    fn offer(&self, number: u32) {
        self.state.lock().unwrap().waiting.push_back(order(number));
    }

    fn asked(&self, what: &str) -> usize {
        self.state.lock().unwrap().asked.iter().filter(|asked| **asked == what).count()
    }

    async fn until_finished(&self, number: usize) -> Vec<Finished> {
        let finished =
            async || Some(self.state.lock().unwrap().finished.clone()).filter(|all| all.len() >= number);
        eventually("a report", finished).await
    }

    fn ask<T: Send + 'static>(&self, what: &'static str, answer: impl FnOnce(&mut State) -> T) -> Reply<T> {
        let mut state = self.state.lock().unwrap();
        state.asked.push(what);
        let away = state.away.get_mut(what).filter(|left| **left > 0);
        let answer = if let Some(left) = away {
            *left -= 1;
            Err(LinkFault::Away("nobody is there".to_owned()))
        } else {
            Ok(answer(&mut state))
        };
        async move { answer }.boxed()
    }
}

/// The way to it.
struct Link(Arc<Fake>);

impl ServerLink for Link {
    fn register(&self, _: u32, _: bool) -> Reply<BTreeSet<Extension>> {
        let granted = self.0.granted.clone();
        self.0.ask("register", |_| granted)
    }
    fn beat(&self, _: BTreeMap<String, u32>) -> Reply<()> {
        self.0.ask("beat", |_| ())
    }
    fn deregister(&self) -> Reply<()> {
        self.0.ask("deregister", |_| ())
    }
    fn take(&self, _: String, _: String) -> Reply<Option<TaskOrder>> {
        self.0.ask("take", |state| state.waiting.pop_front())
    }
    fn take_batch(&self, batch: TakeBatch) -> Reply<Vec<TakenTask>> {
        self.0.ask("take_batch", |state| {
            let free = batch.worker_ids.into_iter().zip(std::mem::take(&mut state.waiting));
            free.map(|(worker_id, task)| TakenTask { worker_id, task }).collect()
        })
    }
    fn finish(&self, finished: Finished) -> Reply<()> {
        self.0.ask("finish", |state| state.finished.push(finished))
    }
    fn output(&self, batch: OutputBatch) -> Reply<Vec<LinesTaken>> {
        self.0.ask("output", |state| {
            let part = |part: cooperage_domain::worker_protocol::OutputPart| {
                let next = part.first + part.lines.len() as u64;
                state.lines.extend(part.lines.into_iter().map(|line| line.text));
                LinesTaken { execution: part.execution, next }
            };
            batch.outputs.into_iter().map(part).collect()
        })
    }
    fn watch(&self, _: Watch) -> Reply<Unwanted> {
        self.0.ask("watch", |_| Unwanted::default())
    }
}

/// An automator that prints which resources it sees, before and after it is let go on.
struct Seer {
    sees: String,
    go_on: Arc<Semaphore>,
}

#[async_trait]
impl Automator for Seer {
    fn descriptor(&self) -> AutomatorType {
        AutomatorType(PluginType {
            base: Base { name: "seer".to_owned(), ..Base::default() },
            ..PluginType::default()
        })
    }

    async fn bootstrap(&self, _: &Context) -> Result<TaskReport, TaskFault> {
        Ok(TaskReport::success())
    }

    async fn act(&self, _: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        task.output.line(Stream::Stdout, &format!("begins with {}", self.sees));
        self.go_on.acquire().await.unwrap().forget();
        task.output.line(Stream::Stdout, &format!("ends with {}", self.sees));
        Ok(TaskReport::success())
    }
}

/// Plugins that see the names of the resources.
struct Names(Arc<Semaphore>);

impl Supplies for Names {
    fn prepare(&self, _: String, wanted: Resources) -> BoxFuture<'static, Prepared> {
        let names: Vec<_> = wanted.versions().into_iter().map(|one| one.version.name).collect();
        let seer = Seer { sees: names.join(" "), go_on: Arc::clone(&self.0) };
        let plugins = Arc::new(PluginSet::default().with_automator(Arc::new(seer)));
        async { Prepared { plugins, faults: Vec::new() } }.boxed()
    }
}

fn order(number: u32) -> TaskOrder {
    let job = JobId { cluster: ClusterId(1), number: 1 };
    let action = ActionSpec { automator: "seer".to_owned(), ..ActionSpec::default() };
    let service = ServiceOrder { name: "web".to_owned(), action, ..ServiceOrder::default() };
    TaskOrder {
        task_id: TaskId { job, number },
        job_id: job,
        cluster_id: ClusterId(1),
        task_name: TaskName::Install,
        node_id: NodeId(format!("n{number}")),
        attempt: 1,
        config: TaskConfig { service: Some(service), ..TaskConfig::default() },
    }
}

fn resources(name: &str) -> Resources {
    let version = ActiveVersion { name: name.to_owned(), version: 1, sha256: None };
    let kinds = [("scripts".to_owned(), Some(Kind { active: vec![version] }))].into();
    let plugins = [("seer".to_owned(), Some(kinds))].into();
    Resources([("automatortypes".to_owned(), Some(plugins))].into())
}

fn assign(workers: u32, name: &str) -> Assign {
    Assign { tenant: "t1".to_owned(), workers, resources: resources(name) }
}

/// Runs a test with an agent of this server; tasks wait for the semaphore.
fn with_agent<F: Future<Output = ()>>(fake: &Arc<Fake>, test: impl FnOnce(Addr<Agent>, Arc<Semaphore>) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let system = System::new();
    system.block_on(async {
        let go_on = Arc::new(Semaphore::new(0));
        let office = AgentOffice {
            id: "p1".to_owned(),
            link: Arc::new(Link(Arc::clone(fake))),
            supplies: Arc::new(Names(Arc::clone(&go_on))),
            provisioner: Provisioner::new(Arc::default(), runtime.handle().clone())
                .live(&Console::default(), "/provisioner"),
            beat: Duration::from_millis(100),
            logger: Logger::root(Discard, o!()),
        };
        test(Agent::new(office, 10).start(), go_on).await;
        System::current().stop();
    });
    system.run().unwrap();
    runtime.shutdown_timeout(Duration::from_secs(5));
}

#[test]
fn a_server_without_extensions_is_asked_as_coopr_asks() {
    let fake = Fake::new(&[]);
    with_agent(&fake, async |agent, go_on| {
        agent.send(assign(2, "old")).await.unwrap();
        (1..=2).for_each(|number| fake.offer(number));
        go_on.add_permits(2);
        let finished = fake.until_finished(2).await;
        let mut workers: Vec<_> = finished.iter().map(|one| one.worker_id.as_str()).collect();
        workers.sort_unstable();
        assert_eq!(workers, ["t1-1", "t1-2"]);
        for what in ["take_batch", "output", "watch"] {
            assert_eq!(fake.asked(what), 0, "{what}");
        }
    });
}

#[test]
fn running_tasks_keep_the_resources_they_began_with_and_new_ones_get_the_new() {
    let fake = Fake::new(&[Extension::TakeBatch, Extension::Output]);
    with_agent(&fake, async |agent, go_on| {
        agent.send(assign(2, "old")).await.unwrap();
        fake.offer(1);
        let says = async |text: &str| {
            let found =
                async || fake.state.lock().unwrap().lines.iter().any(|line| line == text).then_some(());
            eventually(text, found).await;
        };
        says("begins with old").await;
        agent.send(assign(2, "new")).await.unwrap();
        fake.offer(2);
        says("begins with new").await;
        go_on.add_permits(2);
        says("ends with old").await;
        says("ends with new").await;
        fake.until_finished(2).await;
    });
}

#[test]
fn a_report_arrives_once_however_often_the_server_is_away() {
    let fake = Fake::new(&[Extension::TakeBatch, Extension::Output, Extension::Cancel]);
    with_agent(&fake, async |agent, go_on| {
        agent.send(assign(1, "old")).await.unwrap();
        fake.offer(1);
        eventually("its begin", async || (!fake.state.lock().unwrap().lines.is_empty()).then_some(())).await;
        fake.state.lock().unwrap().away = [("output", 2), ("finish", 3)].into();
        go_on.add_permits(1);
        let finished = fake.until_finished(1).await;
        assert_eq!(fake.asked("finish"), 4);
        assert_eq!((finished[0].report.status, finished[0].attempt), (0, Some(1)));
        assert_eq!(fake.state.lock().unwrap().lines, ["begins with old", "ends with old"]);
        // The slot is free again.
        fake.offer(2);
        go_on.add_permits(1);
        assert_eq!(fake.until_finished(2).await.len(), 2);
    });
}

#[test]
fn told_to_leave_it_ends_what_it_has_and_says_good_bye() {
    let fake = Fake::new(&Extension::ALL);
    with_agent(&fake, async |agent, go_on| {
        agent.send(assign(2, "old")).await.unwrap();
        fake.offer(1);
        eventually("its begin", async || (!fake.state.lock().unwrap().lines.is_empty()).then_some(())).await;
        let left = agent.send(Leave);
        let state = agent.send(GetAgentState).await.unwrap();
        assert!(state.leaving && state.running.len() == 1, "{state:?}");
        fake.offer(2);
        go_on.add_permits(9);
        left.await.unwrap();
        assert_eq!(fake.until_finished(1).await.len(), 1, "it took another one");
        assert_eq!(fake.asked("deregister"), 1);
        assert_eq!(fake.state.lock().unwrap().waiting.len(), 1);
    });
}
