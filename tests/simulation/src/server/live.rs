//! One life of a server: it is asked for what is planned, until it is struck or everything is done.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cooperage_actors::registry::{Create, Tell, read};
use cooperage_domain::cluster::{Cluster, ClusterStatus, Command, Origins, replay};
use cooperage_domain::id::ClusterId;
use cooperage_domain::quota::{OverQuota, UNLIMITED, Usage};
use cooperage_schema::{ClusterFilter, TERMINATED};

use super::office::{Home, Server};
use super::outside::Outside;
use super::reservations::Reservation;
use crate::catalog::TENANTS;
use crate::desk::{Desk, more_nodes, parent_of, tenant_of};
use crate::kernel::{LONG, MORNING, ROUNDS, farewell, wait_at_the_end};
use crate::operation::{Asked, CREATE, USER, named};
use crate::plan::{Plan, Step};
use crate::random::Random;
use crate::seen::Seen;

/// How a life ends.
pub enum End {
    /// The server died, and is to live again after so many ms.
    Crashed(i64),
    /// Everything is done.
    Over,
}

/// How often it is looked whether clusters still have something to do.
const LOOK: i64 = 60_000;
/// How often at most it is looked whether clusters that others are built upon can go: for longer than a server believes in
/// a child that does not come, by a clock that was set back.
const LOOKS_FOR_CHILDREN: u32 = 600;

/// Those who ask, and whom they ask.
#[derive(Clone)]
struct Callers {
    outside: Arc<Outside>,
    plan: Rc<Plan>,
    desk: Rc<Desk>,
    /// The server that answers; another one after a take-over.
    server: Rc<RefCell<Server>>,
}

/// Lives until the end, whichever comes first.
pub async fn live(home: &Home, outside: Arc<Outside>, plan: &Plan) -> End {
    outside.begin();
    let number = outside.next_server();
    let (server, opened) = Server::start(home, &outside, number, "a");
    let mut open = vec![opened];
    let callers = Callers {
        outside: Arc::clone(&outside),
        plan: Rc::new(plan.clone()),
        desk: Rc::new(Desk::new(plan.seed)),
        server: Rc::new(RefCell::new(server)),
    };
    callers.see_what_is_durable();
    let mut everything = pin!(callers.clone().ask_everything());
    let mut second = false;
    loop {
        tokio::select! {
            biased;
            () = outside.struck.notified() => {
                let (dies, taken_over) = {
                    let mut state = outside.lock();
                    (state.dies, std::mem::take(&mut state.taken_over))
                };
                if let Some(ms) = dies {
                    return End::Crashed(ms);
                }
                if taken_over && !second {
                    // The first one goes on, and does not know.
                    second = true;
                    let (server, opened) = Server::start(home, &outside, outside.next_server(), "b");
                    open.push(opened);
                    *callers.server.borrow_mut() = server;
                }
            }
            () = &mut everything => return End::Over,
        }
    }
}

impl Callers {
    fn server(&self) -> Server {
        self.server.borrow().clone()
    }

    fn clusters(&self) -> BTreeMap<ClusterId, Cluster> {
        let state = self.outside.lock();
        state.clusters.iter().filter_map(|(id, cluster)| Some((*id, cluster.clone()?))).collect()
    }

    /// What a server that has just started finds.
    fn see_what_is_durable(&self) {
        for id in self.clusters().into_keys() {
            let found = read(&self.server().store, id);
            let mut state = self.outside.lock();
            match found {
                Ok(found) => state.checkers.see(&Seen::Recovered { state: &found }),
                Err(fault) => state.checkers.broken(format!("{id} cannot be read: {fault}")),
            }
        }
    }

    async fn sleep_until(&self, at: i64) {
        let wait = at - self.outside.now();
        tokio::time::sleep(Duration::from_millis(wait.max(0).unsigned_abs())).await;
    }

    fn is_broken(&self) -> bool {
        self.outside.lock().checkers.violation().is_some()
    }

    async fn ask_everything(self) {
        for (index, step) in self.plan.steps.iter().enumerate() {
            if !self.outside.lock().asked.contains(&index) {
                self.sleep_until(step.at).await;
                self.outside.lock().asked.insert(index);
                let (callers, step) = (self.clone(), step.clone());
                actix::spawn(async move { callers.ask(&step).await });
            }
        }
        let last = self.plan.steps.last().map_or(0, |step| step.at);
        let end = last + wait_at_the_end(self.plan.seed);
        while self.outside.now() < end && !self.is_broken() && self.is_anything_live() {
            self.sleep_until(end.min(self.outside.now() + LOOK)).await;
        }
        self.outside.calm_down();
        for _ in 0..ROUNDS {
            self.send_all_off().await;
        }
        // One that another was to be built upon waits a while for that to come into being, and until it is gone.
        for _ in 0..LOOKS_FOR_CHILDREN {
            if !self.is_anything_built_upon() || self.is_broken() {
                break;
            }
            self.sleep_until(self.outside.now() + LOOK).await;
            self.send_all_off().await;
        }
        self.look_back();
    }

    fn is_anything_built_upon(&self) -> bool {
        let is_built_upon =
            |it: &Cluster| it.status != ClusterStatus::Terminated && !it.kin.children.is_empty();
        self.clusters().values().any(is_built_upon)
    }

    fn is_anything_live(&self) -> bool {
        let state = self.outside.lock();
        let asking = state.asked.len() > state.clusters.len() && state.clusters.is_empty();
        asking || state.clusters.values().flatten().any(|it| it.status != ClusterStatus::Terminated)
    }

    async fn ask(self, step: &Step) {
        let done = match step.operation.as_str() {
            CREATE => self.create(step.cluster).await,
            name => self.change(name, step).await,
        };
        self.outside.lock().coverage.operation(&step.operation, done);
    }

    async fn create(&self, number: u32) -> bool {
        let (id, tenant, server) = (ClusterId(u64::from(number)), tenant_of(number), self.server());
        if self.outside.lock().clusters.contains_key(&id) {
            return false;
        }
        let now = self.clock();
        let Some(origins) = self.origins_of(number) else { return false };
        let Ok(accepted) = self.desk.accept(number, origins, now) else { return false };
        let nodes = u64::from(accepted.layout.machines);
        let Ok(reserved) = self.reserve(tenant, Usage { clusters: 1, nodes }) else { return false };
        if let Some(reserved) = &reserved {
            reserved.is_for(id);
        }
        if server.vault.keep(tenant, id, accepted.secrets.clone()).is_err() {
            return false;
        }
        let Ok(events) = self.desk.found(accepted, Usage::default(), now) else { return false };
        let sequence = events.len() as u64;
        // One without a layout is terminated at once, and known to nobody.
        let new = replay(&events).filter(|new| new.status != ClusterStatus::Terminated);
        if let Some(new) = &new
            && !self.adopt(new).await
        {
            return false;
        }
        let create = Create { id, tenant: tenant.to_owned(), events, who: USER.to_owned() };
        let created = matches!(server.registry.send(create).await, Ok(Ok(())));
        drop(reserved);
        if created {
            self.outside.lock().checkers.see(&Seen::Acknowledged { cluster: id, sequence });
        }
        created
    }

    /// What a new cluster is built upon; `None` when that is not there, or gone.
    fn origins_of(&self, number: u32) -> Option<Origins> {
        let Some(parent) = parent_of(number) else { return Some(Origins::default()) };
        let state = self.outside.lock();
        let parent = state.clusters.get(&ClusterId(u64::from(parent)))?.as_ref()?;
        (parent.status != ClusterStatus::Terminated).then(|| Origins::of(Some(parent), None))
    }

    /// Makes a new cluster known to those it is built upon. What comes to nothing is found out when it matters.
    async fn adopt(&self, new: &Cluster) -> bool {
        let registry = self.server().registry;
        for origin in new.kin.origins.iter().map(|origin| origin.from) {
            let (child, name, needs) = (new.id, new.name.clone(), new.needs_of(origin));
            let command = Command::Adopt { child, name, needs };
            let tell = Tell { id: origin, command, who: USER.to_owned() };
            if !matches!(registry.send(tell).await, Ok(Ok(_))) {
                return false;
            }
        }
        true
    }

    /// Keeps what is asked for within the tenant's quota until it counts by itself.
    fn reserve(&self, tenant: &str, more: Usage) -> Result<Option<Reservation>, OverQuota> {
        let server = self.server();
        let quota =
            TENANTS.iter().find(|(name, ..)| *name == tenant).map_or(UNLIMITED, |(_, _, quota)| *quota);
        let filter = ClusterFilter { tenant: Some(tenant.to_owned()), ..ClusterFilter::default() };
        let live = || {
            let rows = server.store.clusters(&filter).unwrap_or_default();
            let live = rows.into_iter().filter(|row| row.status != TERMINATED);
            Ok::<_, OverQuota>(live.map(|row| (row.id, row.nodes)).collect::<Vec<_>>())
        };
        if more == Usage::default() {
            return Ok(None);
        }
        server.reservations.reserve(tenant, more, quota, live).map(Some)
    }

    fn clock(&self) -> i64 {
        let state = self.outside.lock();
        MORNING + state.now() + state.skew
    }

    async fn change(&self, name: &str, step: &Step) -> bool {
        let id = ClusterId(u64::from(step.cluster));
        let Some(cluster) = self.clusters().remove(&id) else { return false };
        let matter = [5, step.at.unsigned_abs(), u64::from(step.cluster)];
        let random = Random::about(self.plan.seed, &matter);
        let asked = &mut Asked { cluster: &cluster, now: self.clock(), random };
        let Some(command) = named(name).and_then(|operation| (operation.command)(asked)) else {
            return false;
        };
        let more = more_nodes(&cluster, &command);
        let Ok(_reserved) = self.reserve(&cluster.account.tenant_id, more) else { return false };
        self.tell(id, command).await
    }

    async fn tell(&self, id: ClusterId, command: Command) -> bool {
        let tell = Tell { id, command, who: USER.to_owned() };
        let registry = self.server().registry;
        let Ok(Ok(told)) = registry.send(tell).await else { return false };
        let mut state = self.outside.lock();
        state.checkers.see(&Seen::Acknowledged { cluster: id, sequence: told.sequence });
        let newest = state.clusters.get(&id).and_then(Option::as_ref).map(|it| it.sequence);
        if newest == Some(told.sequence) {
            state.checkers.see(&Seen::Recovered { state: &told });
        }
        true
    }

    /// Every cluster is to go, whatever it is doing; waits until nothing is under way.
    async fn send_all_off(&self) {
        for (id, cluster) in self.clusters() {
            if let Some(command) = farewell(&cluster, self.plan.seed) {
                self.tell(id, command).await;
            }
        }
        let end = self.outside.now() + LONG;
        let pending = || self.clusters().values().any(|cluster| cluster.status == ClusterStatus::Pending);
        while self.outside.now() < end && pending() && !self.is_broken() {
            self.sleep_until(self.outside.now() + LOOK).await;
        }
    }

    /// All that is left in the end.
    fn look_back(&self) {
        let store = self.server().store;
        let (mut found, mut journal) = (BTreeMap::new(), BTreeMap::new());
        for (id, cluster) in self.clusters() {
            let events = store.events(id, 1, u32::MAX).unwrap_or_default();
            let texts: Vec<String> = events.into_iter().map(|recorded| recorded.event.json).collect();
            journal.insert(id, texts);
            for task in cluster.jobs.values().flat_map(|job| job.tasks.values()) {
                for line in store.output(task.id, 0, 20).unwrap_or_default() {
                    let printed = Seen::Printed { cluster: id, text: &line.line.text };
                    self.outside.lock().checkers.see(&printed);
                }
            }
            if let Ok(cluster) = read(&store, id) {
                found.insert(id, cluster);
            }
        }
        let clusters = found.iter().map(|(id, cluster)| (*id, cluster)).collect();
        self.outside.look_back(&clusters, &journal);
    }
}
