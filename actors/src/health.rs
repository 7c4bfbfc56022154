//! Probes machines and the services on them, has what was found remembered, and has machines replaced that are down.
//!
//! ```text
//!   Janitor ──TimeUp──► HealthMonitor ──Look, GetState──► cluster, or its journal while it rests
//!                            │  ──Probe──► Provisioner      a node at a time: its machine, then its services
//!                            │  ──TCP───► port of ssh       machines that workers elsewhere made
//!                            └──Tell(Care), Tell(Replace)──► Registry, only when something is new
//! ```
//!
//! What is decided is decided in [`cooperage_domain::health`]; here is what is remembered between rounds, in memory only. A
//! round looks at every node of a cluster that is at rest, once in each interval. A cluster whose actors rest is read from
//! its journal and not woken. Machines made by workers elsewhere belong to plugins elsewhere: of them only whether their ssh
//! port takes connections is looked at, of their services nothing, and they are not replaced without a person.

mod examine;
mod message;
mod round;
mod watched;

use std::collections::BTreeMap;

use actix::fut::wrap_future;
use actix::{Actor, ActorFutureExt, Addr, AsyncContext, Handler};
use cooperage_domain::cluster::ClusterStatus;
use cooperage_domain::health::Policy;
use cooperage_domain::health::budget::{self, Claim, next_turn};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{ClusterFilter, ClusterRow, Store, Vault};
use slog::{Logger, error};

pub use message::{ClusterHealth, GetHealth};

use crate::clock::SharedClock;
use crate::console::Context;
use crate::janitor::{Arm, Deadline, Janitor, TimeUp};
use crate::provisioner::Provisioner;
use crate::registry::Registry;
use watched::Watched;

/// States of clusters that have machines and no job under way.
const AT_REST: [&str; 2] = [ClusterStatus::Active.as_str(), ClusterStatus::Inconsistent.as_str()];

/// How it is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthSettings {
    /// What holds where neither a template nor a cluster says otherwise.
    pub policy: Policy,
    /// Most nodes that are probed at once; 0: none ever is.
    pub max_probes: usize,
}

/// What the monitor needs from the rest of the process.
pub struct HealthOffice {
    /// Everything durable.
    pub store: Store,
    /// Keeps secret values of clusters, which probes may need.
    pub vault: Vault,
    /// Who is where.
    pub registry: Addr<Registry>,
    /// Carries probes out in this process.
    pub provisioner: Addr<Provisioner>,
    /// Keeps deadlines.
    pub janitor: Addr<Janitor>,
    /// Tells the time.
    pub clock: SharedClock,
    /// Where to log.
    pub logger: Logger,
    /// How it is probed.
    pub settings: HealthSettings,
}

/// Probes, has remembered what was found, and has healed what is down.
pub struct HealthMonitor {
    office: HealthOffice,
    clusters: BTreeMap<ClusterId, Watched>,
    /// When it is looked next which clusters there are, in ms since 1970.
    look_at: i64,
}

impl HealthMonitor {
    /// Knows of nothing yet; looks for clusters when it starts.
    #[must_use]
    pub const fn new(office: HealthOffice) -> Self {
        Self { office, clusters: BTreeMap::new(), look_at: 0 }
    }

    /// Finds out which clusters there are, and goes on.
    fn look(&mut self, ctx: &mut Context<Self>) {
        let now = self.office.clock.now();
        self.look_at = now.saturating_add(self.office.settings.policy.interval);
        let store = self.office.store.clone();
        let filter =
            ClusterFilter { statuses: AT_REST.map(str::to_owned).to_vec(), ..ClusterFilter::default() };
        let work = async move { actix_rt::task::spawn_blocking(move || store.clusters(&filter)).await };
        ctx.spawn(wrap_future(work).map(|found, monitor: &mut Self, ctx: &mut Context<Self>| {
            match found {
                Ok(Ok(rows)) => monitor.know(&rows),
                Ok(Err(fault)) => monitor.cannot_look(&fault.to_string()),
                Err(fault) => monitor.cannot_look(&fault.to_string()),
            }
            monitor.go_on(ctx);
        }));
    }

    fn cannot_look(&self, fault: &str) {
        error!(self.office.logger, "cannot look for clusters to probe"; "fault" => fault);
    }

    /// These clusters are at rest; others are not watched, and what was known of them is forgotten.
    fn know(&mut self, rows: &[ClusterRow]) {
        let (now, interval) = (self.office.clock.now(), self.office.settings.policy.interval);
        let mut before = std::mem::take(&mut self.clusters);
        let known = |row: &ClusterRow| {
            let fresh = || Watched::new(&row.tenant, &row.provider, next_turn(row.id, interval, now));
            (row.id, before.remove(&row.id).unwrap_or_else(fresh))
        };
        self.clusters = rows.iter().map(known).collect();
    }

    /// Begins what has its turn, within the budget, and waits for the next turn.
    fn go_on(&mut self, ctx: &mut Context<Self>) {
        let now = self.office.clock.now();
        loop {
            let claims: Vec<(ClusterId, Claim<'_>)> =
                self.clusters.iter().filter_map(|(id, watched)| Some((*id, watched.claim(now)?))).collect();
            let plain: Vec<Claim<'_>> = claims.iter().map(|(_, claim)| *claim).collect();
            let Some(place) = budget::next(&plain, self.office.settings.max_probes) else { break };
            let id = claims[place].0;
            self.begin(id, ctx);
        }
        let turns = self.clusters.values().filter_map(|watched| watched.next_turn(now));
        let at = turns.min().unwrap_or(i64::MAX).min(self.look_at);
        let whom = ctx.address().recipient();
        self.office.janitor.do_send(Arm { deadline: Deadline::Probes, at, whom });
    }
}

impl Actor for HealthMonitor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        if self.office.settings.max_probes > 0 {
            self.look(ctx);
        }
    }
}

impl Handler<TimeUp> for HealthMonitor {
    type Result = ();

    fn handle(&mut self, _: TimeUp, ctx: &mut Self::Context) {
        if self.look_at <= self.office.clock.now() {
            self.look(ctx);
        } else {
            self.go_on(ctx);
        }
    }
}
