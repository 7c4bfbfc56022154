//! The agent of a provisioner on another machine: it brings workers to a server, and has the server's tasks carried out.
//!
//! ```text
//!   server ──Assign(tenant, workers, resources)──► Agent ──prepare──► Supplies     plugin resources, as a snapshot
//!   server ◄──register, beat────────────────────── Agent
//!   server ◄──take (waits)──────────────────────── Agent ──Execute──► Provisioner ──► plugin
//!   server ◄──output, watch, finish─────────────── Agent ◄──report──────┘
//! ```
//!
//! Workers are slots: a number each until there is a task for it, then an execution. One request at a time asks for tasks
//! for all free slots of a tenant.
//!
//! - A slot asks for a task only when its last report has arrived. So if the server believes that it has one, the answer was
//!   lost, and the server gives it again.
//! - Reports are offered until the server took them or refuses them, however long it is away. Tasks go on meanwhile.
//! - A server that does not know the provisioner is told anew. It says again which workers it wants.
//! - One that is told to leave takes no more, ends what it has, and says good-bye.

mod deliver;
mod leave;
mod lines;
mod link;
mod standing;
mod take;
mod tenant;
mod watch;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr, AsyncContext, Context, Handler, Message, MessageResult};
use cooperage_domain::backoff::Backoff;
use cooperage_domain::worker_protocol::{ExecutionId, Extension};
use slog::Logger;
use tokio::sync::oneshot;
use uuid::Uuid;

pub use leave::{Leave, Left};
pub use link::{LinkFault, Prepared, Reply, ServerLink, Supplies};
pub use standing::SetCapacity;
pub use tenant::{Assign, Dismiss};

use crate::provisioner::{Execution, Provisioner};
use lines::Lines;
use tenant::Tenant;

/// How often what tasks print is passed on.
const PASS_ON: Duration = Duration::from_millis(200);
/// Pauses while the server is away.
const AWAY: Backoff = Backoff { first: Duration::from_millis(400), longest: Duration::from_secs(30) };

/// What an agent needs.
pub struct AgentOffice {
    /// Its id.
    pub id: String,
    /// Reaches the server.
    pub link: Arc<dyn ServerLink>,
    /// Gets plugin resources.
    pub supplies: Arc<dyn Supplies>,
    /// Carries tasks out.
    pub provisioner: Addr<Provisioner>,
    /// How often it says that it lives.
    pub beat: Duration,
    /// Where to log.
    pub logger: Logger,
}

/// The agent of a provisioner.
pub struct Agent {
    office: AgentOffice,
    capacity: u32,
    standing: Standing,
    /// What the server spoke when it was last asked.
    granted: BTreeSet<Extension>,
    /// Whether the last request of any kind failed.
    away: bool,
    /// Failures in a row to register.
    failures: u32,
    tenants: BTreeMap<String, Tenant>,
    running: HashMap<Execution, Running>,
    /// Whether output is on its way.
    passing_on: bool,
    /// Whose turn it is with output.
    passed_on: usize,
    /// Whether the server is being asked what it wants no more.
    watching: bool,
    /// Failures in a row to ask that.
    watch_failures: u32,
    /// Whom to tell when everything is done.
    leaving: Option<Vec<oneshot::Sender<Left>>>,
    gone: bool,
}

/// How it stands with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The server does not know it, or not as it is now.
    Unknown,
    /// It is being registered; once more after that, when something has changed meanwhile.
    Asking { again: bool },
    /// It is registered.
    Registered,
}

/// A task that a slot has, from when it is taken until its report has arrived.
struct Running {
    tenant: String,
    slot: u32,
    lines: Arc<Lines>,
    /// Whether the server wants it no more, and the plugin has been told.
    cancelled: bool,
}

impl Agent {
    /// Not registered yet; does so when it starts.
    #[must_use]
    pub fn new(office: AgentOffice, capacity: u32) -> Self {
        Self {
            office,
            capacity,
            standing: Standing::Unknown,
            granted: BTreeSet::new(),
            away: false,
            failures: 0,
            tenants: BTreeMap::new(),
            running: HashMap::new(),
            passing_on: false,
            passed_on: 0,
            watching: false,
            watch_failures: 0,
            leaving: None,
            gone: false,
        }
    }

    /// Whether the server speaks this.
    fn speaks(&self, extension: Extension) -> bool {
        self.granted.contains(&extension)
    }

    fn is_registered(&self) -> bool {
        self.standing == Standing::Registered
    }

    /// Id of the worker of a slot. It holds the tenant, so that no two tenants' workers have one name.
    fn worker_id(tenant: &str, slot: u32) -> String {
        format!("{tenant}-{slot}")
    }

    fn usage(&self) -> BTreeMap<String, u32> {
        self.tenants.iter().map(|(id, tenant)| (id.clone(), tenant.slots.live())).collect()
    }
}

/// The pause after so many failures to reach the server.
fn pause(failures: u32) -> Duration {
    // Any bits of it are random but for six.
    AWAY.pause(failures, Uuid::new_v4().as_u64_pair().1)
}

fn id_of(execution: Execution) -> ExecutionId {
    ExecutionId { task_id: execution.task, attempt: execution.attempt }
}

impl Actor for Agent {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.register(ctx);
        ctx.run_interval(self.office.beat, Self::beat);
        ctx.run_interval(PASS_ON, Self::pass_on);
    }
}

/// How does it stand?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "AgentState")]
pub struct GetAgentState;

/// How an agent stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentState {
    /// Whether the server knows it.
    pub registered: bool,
    /// Whether it takes no more.
    pub leaving: bool,
    /// Workers it brings, by tenant.
    pub usage: BTreeMap<String, u32>,
    /// Tasks whose report has not arrived.
    pub running: Vec<ExecutionId>,
}

impl Handler<GetAgentState> for Agent {
    type Result = MessageResult<GetAgentState>;

    fn handle(&mut self, _: GetAgentState, _: &mut Self::Context) -> Self::Result {
        MessageResult(AgentState {
            registered: self.is_registered(),
            leaving: self.leaving.is_some(),
            usage: self.usage(),
            running: self.running.keys().copied().map(id_of).collect(),
        })
    }
}
