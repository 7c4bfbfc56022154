//! The actor that sees to it that calls are made: each hook's own number at a time, and again after faults.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::fut::wrap_future;
use actix::{Actor, ActorFutureExt, AsyncContext, Handler, Message};
use cooperage_domain::callback::Hook;
use cooperage_domain::cluster::Cluster;
use cooperage_domain::id::ClusterId;
use cooperage_schema::{Attempted, Delivery, DeliveryStatus, Occurrence, StoreError};
use slog::{info, warn};
use uuid::Uuid;

use super::body::body;
use super::{CallbackOffice, Letter, blocking, owner};
use crate::console::Context;
use crate::registry::read;

/// Occurrences and calls that one look takes.
const TOGETHER: u32 = 200;
/// Longest pause between two looks: what other servers on the database have stored is seen then.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Shortest pause between two looks that nothing led to.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
/// How much longer than its target may take a call is left to whoever took it, in ms.
const GRACE: i64 = 10_000;
/// Pause between two prunes of the record.
const PRUNE_PAUSE: Duration = Duration::from_secs(3600);
/// Most calls of a hook on record.
const MOST_KEPT: u32 = 10_000;
/// From which ids of calls are derived, so that the same call has the same id whoever decides it.
const IDS: Uuid = Uuid::from_u128(0x8a3b_7a0e_52c1_4c5e_9d0f_0b52_61a4_77c3);

/// Makes calls.
pub struct Callbacks {
    office: Arc<CallbackOffice>,
    /// Calls under way, by hook.
    under_way: HashMap<String, usize>,
    is_looking: bool,
    /// Whether something may be due that the look under way has not seen.
    look_again: bool,
    /// Counts looks, so that an alarm set by an earlier one is passed over.
    looks: u64,
}

/// Something may be due.
#[derive(Debug, Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Look;

/// What a look found.
struct Found {
    /// Calls that were taken, with what is to be sent.
    letters: Vec<(Delivery, Letter)>,
    /// When the next one is due, in ms since 1970.
    next_ms: Option<i64>,
    /// Whether more was there than one look takes.
    is_partial: bool,
}

impl Callbacks {
    /// For the hooks of this office.
    #[must_use]
    pub fn new(office: Arc<CallbackOffice>) -> Self {
        Self { office, under_way: HashMap::new(), is_looking: false, look_again: false, looks: 0 }
    }

    fn look(&mut self, ctx: &mut Context<Self>) {
        if self.is_looking {
            self.look_again = true;
            return;
        }
        (self.is_looking, self.look_again) = (true, false);
        self.looks += 1;
        let (office, under_way) = (Arc::clone(&self.office), self.under_way.clone());
        let found = blocking(move || look(&office, &under_way));
        ctx.spawn(wrap_future(found).map(|found, callbacks: &mut Self, ctx| callbacks.found(found, ctx)));
    }

    fn found(&mut self, found: Result<Found, StoreError>, ctx: &mut Context<Self>) {
        self.is_looking = false;
        let pause = match found {
            Ok(found) => {
                let has_more = !found.letters.is_empty() || found.is_partial;
                for (call, letter) in found.letters {
                    self.send(call, letter, ctx);
                }
                if has_more || self.look_again {
                    return self.look(ctx);
                }
                let wait = found.next_ms.map(|at| at.saturating_sub(self.office.clock.now()).max(0));
                let wait = wait.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
                wait.unwrap_or(LONGEST_PAUSE).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
            }
            Err(fault) => {
                warn!(self.office.logger, "callbacks wait for the database"; "fault" => fault.to_string());
                LONGEST_PAUSE
            }
        };
        let look = self.looks;
        ctx.run_later(pause, move |callbacks, ctx| {
            if callbacks.looks == look {
                callbacks.look(ctx);
            }
        });
    }

    /// Makes a call beside everything else.
    fn send(&mut self, call: Delivery, letter: Letter, ctx: &mut Context<Self>) {
        let id = call.callback.clone();
        *self.under_way.entry(id.clone()).or_default() += 1;
        let office = Arc::clone(&self.office);
        let sent = async move { make(&office, call, letter).await };
        ctx.spawn(wrap_future(sent).map(move |(), callbacks: &mut Self, ctx| {
            if let Some(count) = callbacks.under_way.get_mut(&id) {
                *count -= 1;
                if *count == 0 {
                    callbacks.under_way.remove(&id);
                }
            }
            callbacks.look(ctx);
        }));
    }

    fn prune(&self, ctx: &mut Context<Self>) {
        let office = Arc::clone(&self.office);
        let pruned = blocking(move || {
            let kept = office.rules.kept_ms;
            let before = if kept == 0 { i64::MIN } else { office.clock.now().saturating_sub(kept) };
            office.store.prune_deliveries(before, MOST_KEPT)
        });
        ctx.spawn(wrap_future(pruned).map(|pruned, callbacks: &mut Self, _| match pruned {
            Ok(0) => {}
            Ok(calls) => info!(callbacks.office.logger, "old calls of hooks were forgotten"; "calls" => calls),
            Err(fault) => {
                warn!(callbacks.office.logger, "old calls of hooks were not forgotten"; "fault" => fault.to_string());
            }
        }));
    }
}

impl Actor for Callbacks {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.look(ctx);
        self.prune(ctx);
        ctx.run_interval(PRUNE_PAUSE, |callbacks, ctx| callbacks.prune(ctx));
    }
}

impl Handler<Look> for Callbacks {
    type Result = ();

    fn handle(&mut self, _: Look, ctx: &mut Self::Context) {
        self.look(ctx);
    }
}

/// How many calls of a hook are made at a time.
fn at_once(office: &CallbackOffice, hook: &Hook) -> usize {
    if hook.is_of_settings() { office.rules.at_once_of_settings } else { office.rules.at_once }
}

/// Turns what happened into calls, and takes those that are due. Waits for the database.
fn look(office: &CallbackOffice, under_way: &HashMap<String, usize>) -> Result<Found, StoreError> {
    let occurrences = office.store.occurrences(TOGETHER)?;
    let is_partial = occurrences.len() == TOGETHER as usize;
    let hooks: HashMap<String, Hook> =
        office.hooks()?.into_iter().map(|hook| (hook.id.clone(), hook)).collect();
    if !occurrences.is_empty() {
        let mut clusters = Clusters { office, known: HashMap::new() };
        let fanned = occurrences.into_iter().map(|occurrence| {
            let concerned = hooks
                .values()
                .filter(|hook| hook.wants(occurrence.event, occurrence.action, &occurrence.tenant));
            let calls = concerned.map(|hook| call(office, &occurrence, hook, &mut clusters)).collect();
            (occurrence, calls)
        });
        office.store.fan_out(fanned.collect())?;
    }
    let busy = |id: &str| under_way.get(id).copied().unwrap_or(0);
    let free = |hook: &Hook| at_once(office, hook).saturating_sub(busy(&hook.id));
    let room: HashMap<String, usize> = hooks.values().map(|hook| (hook.id.clone(), free(hook))).collect();
    let full = room.iter().filter(|(_, free)| **free == 0).map(|(hook, _)| hook.clone()).collect();
    let now = office.clock.now();
    let longest = hooks.values().map(|hook| i64::from(hook.timeout)).max().unwrap_or(0);
    let taken = office.store.take_deliveries(now, now + longest + GRACE, room, TOGETHER)?;
    let mut letters = Vec::new();
    for call in taken {
        let Some(hook) = hooks.get(&call.callback) else {
            let last = Delivery { tries_left: 1, ..call };
            unsent(office, &last, "the settings name no such target any more")?;
            continue;
        };
        match office.letter(hook, &call) {
            Ok(letter) => letters.push((call, letter)),
            // One whose secret cannot be read keeps no other waiting.
            Err(fault) => unsent(office, &call, &fault.to_string())?,
        }
    }
    Ok(Found { letters, next_ms: office.store.next_delivery_ms(full)?, is_partial })
}

/// Records a try of a call that could not even be made.
fn unsent(office: &CallbackOffice, call: &Delivery, fault: &str) -> Result<(), StoreError> {
    let tried = Attempted {
        at_ms: office.clock.now(),
        duration_ms: 0,
        code: None,
        answer: String::new(),
        fault: Some(fault.to_owned()),
    };
    let (status, next_ms) = outcome(office, call, false);
    office.store.settle_delivery(&call.id, tried, status, next_ms)
}

/// What becomes of a call after a try: it was taken, is tried again at this time, or given up.
fn outcome(office: &CallbackOffice, call: &Delivery, is_taken: bool) -> (DeliveryStatus, Option<i64>) {
    if is_taken {
        return (DeliveryStatus::Delivered, None);
    }
    if call.tries_left <= 1 {
        warn!(office.logger, "a hook was not told, and is not tried again"; "callback" => &call.callback,
            "delivery" => &call.id, "event" => call.event.as_str(), "attempts" => call.attempts + 1);
        return (DeliveryStatus::Failed, None);
    }
    let failures = office.rules.max_attempts.saturating_sub(call.tries_left).saturating_add(1);
    let pause = office.rules.pauses.pause(failures, Uuid::new_v4().as_u64_pair().1);
    let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
    (DeliveryStatus::Waiting, Some(office.clock.now().saturating_add(pause)))
}

/// Clusters as they are now, each read once.
struct Clusters<'a> {
    office: &'a CallbackOffice,
    known: HashMap<ClusterId, Option<Cluster>>,
}

impl Clusters<'_> {
    fn get(&mut self, id: ClusterId) -> Option<&Cluster> {
        let store = &self.office.store;
        self.known.entry(id).or_insert_with(|| read(store, id).ok()).as_ref()
    }
}

/// The call that an occurrence leads to for a hook.
fn call(
    office: &CallbackOffice,
    occurrence: &Occurrence,
    hook: &Hook,
    clusters: &mut Clusters<'_>,
) -> Delivery {
    let name = format!("{} {} {}", occurrence.cluster, occurrence.sequence, hook.id);
    let id = Uuid::new_v5(&IDS, name.as_bytes()).to_string();
    let now = hook.is_of_settings().then(|| clusters.get(occurrence.cluster)).flatten();
    let at = office.clock.now();
    Delivery {
        body: body(&occurrence.document, &id, hook, now.map(|cluster| (cluster, occurrence.job))),
        id,
        callback: hook.id.clone(),
        tenant: owner(hook).to_owned(),
        event: occurrence.event,
        action: occurrence.action,
        cluster: Some(occurrence.cluster),
        job: occurrence.job,
        created_ms: at,
        status: DeliveryStatus::Waiting,
        attempts: 0,
        tries_left: office.rules.max_attempts.max(1),
        next_ms: Some(at),
    }
}

/// Makes a call, and records what came of it.
async fn make(office: &Arc<CallbackOffice>, call: Delivery, letter: Letter) {
    let (reply, tried) = office.send(letter).await;
    let (status, next_ms) = outcome(office, &call, reply.is_taken());
    let (store, id) = (office.store.clone(), call.id.clone());
    if let Err(fault) = blocking(move || store.settle_delivery(&id, tried, status, next_ms)).await {
        // It is due again when the time is over for which it was taken.
        warn!(office.logger, "what came of a call is not on record, and it is made again"; "delivery" => &call.id,
            "fault" => fault.to_string());
    }
}
