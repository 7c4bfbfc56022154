//! The provisioners elsewhere that bring workers: who is registered, who still lives, and for whom each works.
//!
//! ```text
//!   provisioner ──Register / Beat / Deregister──► Fleet ──tells, by WorkerControl──► provisioner: so many workers
//!   API ──SetWorkers(tenant, n) / Refresh(tenant)──►  │
//!   Janitor ──TimeUp(Heartbeat)──────────────────────►┘   silent for too long: forgotten, its work goes to others
//! ```
//!
//! Registrations are stored, so that after a restart of the server workers go on with what they have.

mod roll;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actix::{Actor, Addr, AsyncContext, Handler, Message, MessageResult, ResponseFuture};
use cooperage_domain::provisioner::{Provisioner, rebalance};
use cooperage_schema::{Registration, Store, StoreError};
use futures::future::BoxFuture;
use slog::{Logger, info, warn};
use tokio::sync::Mutex;

pub use roll::{Enrolled, Roll};

use crate::blocking;
use crate::clock::SharedClock;
use crate::console::Context;
use crate::janitor::{Arm, Deadline, Disarm, Janitor, TimeUp};

/// Tells provisioners how many workers to bring, by whatever way they are reached.
pub trait WorkerControl: Send + Sync + 'static {
    /// Asks `provisioner` to bring `workers` for `tenant`, with the tenant's plugin resources. Resolves to whether it
    /// answered, tries included.
    fn assign(&self, provisioner: Provisioner, tenant: String, workers: u32) -> BoxFuture<'static, bool>;
}

/// What the fleet needs.
pub struct FleetOffice {
    /// Keeps registrations.
    pub store: Store,
    /// Reaches provisioners.
    pub control: Arc<dyn WorkerControl>,
    /// Keeps deadlines.
    pub janitor: Addr<Janitor>,
    /// Tells the time.
    pub clock: SharedClock,
    /// How long a provisioner may be silent, in ms.
    pub silence: i64,
    /// Where to log.
    pub logger: Logger,
}

/// The provisioners elsewhere.
pub struct Fleet {
    office: FleetOffice,
    registered: BTreeMap<String, Registration>,
    /// The same for those who ask all the time.
    roll: Roll,
    /// Workers each tenant is to have, by internal id.
    wanted: BTreeMap<String, u32>,
    /// Held by whoever writes to the store; those who wait get it in their order.
    writing: Arc<Mutex<()>>,
}

impl Fleet {
    /// With the registrations and wishes that are stored.
    #[must_use]
    pub fn new(office: FleetOffice, stored: Vec<Registration>, wanted: BTreeMap<String, u32>) -> Self {
        let registered: BTreeMap<_, _> =
            stored.into_iter().map(|one| (one.provisioner.id.clone(), one)).collect();
        let roll = Roll::default();
        registered.values().for_each(|one| roll.enter(&one.provisioner));
        Self { office, registered, roll, wanted, writing: Arc::default() }
    }

    /// Who is registered, as far as those must know who ask with every request.
    #[must_use]
    pub fn roll(&self) -> Roll {
        self.roll.clone()
    }

    fn provisioners(&self) -> Vec<Provisioner> {
        self.registered.values().map(|one| one.provisioner.clone()).collect()
    }

    /// Gives each of these tenants the workers it is to have, as far as there is capacity, and tells whoever's number
    /// changes.
    fn balance(&mut self, tenants: &BTreeSet<String>, ctx: &Context<Self>) -> Stored {
        for tenant in tenants {
            let wanted = self.wanted.get(tenant).copied().unwrap_or(0);
            let shares = rebalance(&self.provisioners(), tenant, wanted);
            let total: u32 = shares.values().sum();
            if total < wanted {
                warn!(self.office.logger, "too little capacity for a tenant's workers"; "tenant" => tenant,
                    "wanted" => wanted, "assigned" => total);
            }
            for one in self.registered.values_mut() {
                let share = shares.get(&one.provisioner.id).copied().unwrap_or(0);
                if one.provisioner.assigned_to(tenant) == share {
                    continue;
                }
                if share == 0 {
                    one.provisioner.assignments.remove(tenant);
                } else {
                    one.provisioner.assignments.insert(tenant.clone(), share);
                }
                tell(&self.office, &one.provisioner, tenant, share, ctx);
            }
        }
        let registrations = self.registered.values().cloned().collect();
        self.write(move |store| store.put_provisioners(registrations))
    }

    fn all_tenants(&self) -> BTreeSet<String> {
        let assigned = self.registered.values().flat_map(|one| one.provisioner.assignments.keys());
        self.wanted.keys().chain(assigned).cloned().collect()
    }

    fn forget(&mut self, id: &str, ctx: &Context<Self>) -> Option<Stored> {
        let gone = self.registered.remove(id)?;
        self.roll.strike(id);
        self.office.janitor.do_send(Disarm(Deadline::Heartbeat(id.to_owned())));
        let id = id.to_owned();
        let forgotten = self.write(move |store| store.delete_provisioner(&id));
        let tenants = gone.provisioner.assignments.into_keys().collect();
        self.balance(&tenants, ctx);
        Some(forgotten)
    }

    fn expect_a_beat(&self, id: &str, ctx: &Context<Self>) {
        self.office.janitor.do_send(Arm {
            deadline: Deadline::Heartbeat(id.to_owned()),
            at: self.office.clock.now().saturating_add(self.office.silence),
            whom: ctx.address().recipient(),
        });
    }

    /// Written in the order of asking, whether or not anybody waits for it.
    fn write(&self, work: impl FnOnce(&Store) -> Result<(), StoreError> + Send + 'static) -> Stored {
        let (store, logger) = (self.office.store.clone(), self.office.logger.clone());
        let turn = Arc::clone(&self.writing);
        actix::spawn(async move {
            let _turn = turn.lock().await;
            let written = blocking::spawn(move || work(&store)).await;
            let written = written.unwrap_or(Err(StoreError::Closed));
            if let Err(fault) = &written {
                warn!(logger, "registrations were not stored"; "fault" => fault.to_string());
            }
            written
        })
    }
}

/// Ends when something is stored, or is not.
type Stored = actix_rt::task::JoinHandle<Result<(), StoreError>>;

/// Waits until something is stored.
async fn stored(what: Stored) -> Result<(), StoreError> {
    what.await.unwrap_or(Err(StoreError::Closed))
}

/// Tells a provisioner its number; one that does not answer is forgotten.
fn tell(office: &FleetOffice, provisioner: &Provisioner, tenant: &str, workers: u32, ctx: &Context<Fleet>) {
    let answered = office.control.assign(provisioner.clone(), tenant.to_owned(), workers);
    let (fleet, id, logger) = (ctx.address(), provisioner.id.clone(), office.logger.clone());
    actix::spawn(async move {
        if !answered.await {
            warn!(logger, "a provisioner does not answer and is forgotten"; "provisioner" => &id);
            fleet.do_send(Deregister { id });
        }
    });
}

impl Actor for Fleet {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        let known: Vec<String> = self.registered.keys().cloned().collect();
        for id in known {
            self.expect_a_beat(&id, ctx);
        }
    }
}

/// A provisioner says that it is there; one of the same id is replaced and starts without workers. Answered when it is durable.
#[derive(Debug, Clone, Message)]
#[rtype(result = "Result<(), StoreError>")]
pub struct Register(pub Provisioner);

/// A provisioner lives.
#[derive(Debug, Clone, Message)]
#[rtype(result = "bool")]
pub struct Beat {
    /// Which.
    pub id: String,
    /// Workers it brings, by tenant.
    pub usage: BTreeMap<String, u32>,
}

/// A provisioner goes. Answered when it is durable.
#[derive(Debug, Clone, Message)]
#[rtype(result = "Result<(), StoreError>")]
pub struct Deregister {
    /// Which.
    pub id: String,
}

/// Who is registered?
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "Vec<Provisioner>")]
pub struct ListProvisioners;

/// A tenant is to have so many workers.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct SetWorkers {
    /// Internal id.
    pub tenant: String,
    /// How many.
    pub workers: u32,
}

/// A tenant's plugin resources changed: its provisioners are told again.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct Refresh {
    /// Internal id.
    pub tenant: String,
}

impl Handler<Register> for Fleet {
    type Result = ResponseFuture<Result<(), StoreError>>;

    fn handle(&mut self, Register(mut provisioner): Register, ctx: &mut Self::Context) -> Self::Result {
        info!(self.office.logger, "a provisioner registered"; "provisioner" => &provisioner.id,
            "capacity" => provisioner.capacity_total);
        provisioner.assignments.clear();
        let id = provisioner.id.clone();
        self.roll.enter(&provisioner);
        self.registered.insert(id.clone(), Registration { provisioner, seen_ms: self.office.clock.now() });
        self.expect_a_beat(&id, ctx);
        let tenants = self.all_tenants();
        Box::pin(stored(self.balance(&tenants, ctx)))
    }
}

impl Handler<Beat> for Fleet {
    type Result = bool;

    fn handle(&mut self, Beat { id, usage }: Beat, ctx: &mut Self::Context) -> bool {
        let now = self.office.clock.now();
        let Some(found) = self.registered.get_mut(&id) else { return false };
        found.provisioner.usage = usage;
        found.seen_ms = now;
        self.expect_a_beat(&id, ctx);
        true
    }
}

impl Handler<Deregister> for Fleet {
    type Result = ResponseFuture<Result<(), StoreError>>;

    fn handle(&mut self, Deregister { id }: Deregister, ctx: &mut Self::Context) -> Self::Result {
        let forgotten = self.forget(&id, ctx);
        Box::pin(async move {
            match forgotten {
                Some(forgotten) => stored(forgotten).await,
                None => Ok(()),
            }
        })
    }
}

impl Handler<ListProvisioners> for Fleet {
    type Result = MessageResult<ListProvisioners>;

    fn handle(&mut self, _: ListProvisioners, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.provisioners())
    }
}

impl Handler<SetWorkers> for Fleet {
    type Result = ();

    fn handle(&mut self, SetWorkers { tenant, workers }: SetWorkers, ctx: &mut Self::Context) {
        self.wanted.insert(tenant.clone(), workers);
        self.balance(&BTreeSet::from([tenant]), ctx);
    }
}

impl Handler<Refresh> for Fleet {
    type Result = ();

    fn handle(&mut self, Refresh { tenant }: Refresh, ctx: &mut Self::Context) {
        for one in self.registered.values() {
            let workers = one.provisioner.assigned_to(&tenant);
            if workers > 0 {
                tell(&self.office, &one.provisioner, &tenant, workers, ctx);
            }
        }
    }
}

impl Handler<TimeUp> for Fleet {
    type Result = ();

    fn handle(&mut self, TimeUp(deadline): TimeUp, ctx: &mut Self::Context) {
        let Deadline::Heartbeat(id) = deadline else { return };
        warn!(self.office.logger, "a provisioner fell silent and is forgotten"; "provisioner" => &id);
        self.forget(&id, ctx);
    }
}
