//! Calls of hooks: those to be made, and the record of those that were.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use cooperage_domain::callback::{self, HookEvent};
use cooperage_domain::id::ClusterId;
use cooperage_domain::invalid::Invalid;
use cooperage_domain::plan::ClusterAction;
use diesel::prelude::*;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{callback_attempts as attempts, callback_deliveries as deliveries};

/// Most calls that one statement removes.
const FORGOTTEN_TOGETHER: usize = 500;

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// It is to be made, for the first time or again.
    Waiting,
    /// It was taken.
    Delivered,
    /// It was not taken, and is not made again.
    Failed,
    /// A start hook let the job begin.
    Allowed,
    /// A start hook refused the job.
    Vetoed,
}

impl DeliveryStatus {
    const ALL: [Self; 5] = [Self::Waiting, Self::Delivered, Self::Failed, Self::Allowed, Self::Vetoed];

    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Allowed => "allowed",
            Self::Vetoed => "vetoed",
        }
    }
}

impl fmt::Display for DeliveryStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DeliveryStatus {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let remedy = || format!("use {}", Self::ALL.map(Self::as_str).join(", "));
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| Invalid::new("status", text, "is no status of deliveries", remedy()))
    }
}

/// One call of one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id, the same at every try.
    pub id: String,
    /// Id of the hook.
    pub callback: String,
    /// Id of the tenant who may see it.
    pub tenant: String,
    /// What it is about.
    pub event: HookEvent,
    /// The kind of its job.
    pub action: Option<ClusterAction>,
    /// Its cluster.
    pub cluster: Option<ClusterId>,
    /// The number of its job.
    pub job: Option<u32>,
    /// What is sent, as JSON.
    pub body: String,
    /// When it was decided, in milliseconds since 1970.
    pub created_ms: i64,
    /// How it stands.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: u32,
    /// How often it may still be tried.
    pub tries_left: u32,
    /// When the next try is due; `None` when there is none.
    pub next_ms: Option<i64>,
}

/// One try of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    /// When it began, in milliseconds since 1970.
    pub at_ms: i64,
    /// How long it took, in ms.
    pub duration_ms: i64,
    /// The HTTP status of the answer, if there was one.
    pub code: Option<u16>,
    /// The first part of the answer.
    pub answer: String,
    /// Why there was no answer.
    pub fault: Option<String>,
}

/// Which calls of a hook to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Only those that stand so.
    pub status: Option<DeliveryStatus>,
    /// Only those older than this one: when it was decided, and its id.
    pub behind: Option<(i64, String)>,
    /// At most so many.
    pub limit: u32,
}

type Columns = (
    String,
    String,
    String,
    String,
    Option<String>,
    Option<i64>,
    Option<i64>,
    String,
    i64,
    String,
    i64,
    i64,
    Option<i64>,
);

fn delivery(columns: Columns) -> Result<Delivery, StoreError> {
    let (id, callback, tenant, event, action, cluster, job, body, created_ms, status, tried, left, next_ms) =
        columns;
    let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Delivery {
        id,
        callback,
        tenant,
        event: event.parse()?,
        action: action.as_deref().map(callback::action).transpose()?,
        cluster: cluster.map(|cluster| ClusterId(cluster.cast_unsigned())),
        job: job.map(count),
        body,
        created_ms,
        status: status.parse()?,
        attempts: count(tried),
        tries_left: count(left),
        next_ms,
    })
}

/// Stores a new call, inside the present transaction.
pub(crate) fn insert(engine: &mut Engine, call: &Delivery) -> QueryResult<()> {
    diesel::insert_into(deliveries::table)
        .values((
            deliveries::id.eq(&call.id),
            deliveries::callback.eq(&call.callback),
            deliveries::tenant.eq(&call.tenant),
            deliveries::event.eq(call.event.as_str()),
            deliveries::action.eq(call.action.map(ClusterAction::as_str)),
            deliveries::cluster.eq(call.cluster.map(|cluster| cluster.0.cast_signed())),
            deliveries::job.eq(call.job.map(i64::from)),
            deliveries::body.eq(&call.body),
            deliveries::created_ms.eq(call.created_ms),
            deliveries::status.eq(call.status.as_str()),
            deliveries::attempts.eq(i64::from(call.attempts)),
            deliveries::tries_left.eq(i64::from(call.tries_left)),
            deliveries::next_ms.eq(call.next_ms),
        ))
        .execute(engine)?;
    Ok(())
}

fn insert_attempt(engine: &mut Engine, id: &str, number: u32, tried: &Attempted) -> QueryResult<()> {
    // PostgreSQL's text cannot hold NUL.
    let storable = |text: &str| text.replace('\0', "\u{fffd}");
    diesel::insert_into(attempts::table)
        .values((
            attempts::delivery.eq(id),
            attempts::number.eq(i64::from(number)),
            attempts::at_ms.eq(tried.at_ms),
            attempts::duration_ms.eq(tried.duration_ms),
            attempts::code.eq(tried.code.map(i64::from)),
            attempts::answer.eq(storable(&tried.answer)),
            attempts::fault.eq(tried.fault.as_deref().map(storable)),
        ))
        .execute(engine)?;
    Ok(())
}

impl Store {
    /// Takes calls that are due at `now_ms` to be made now, oldest first: of each hook as many as there is `room` for, of a hook
    /// that is not named there one. Looks at no more than `limit`. Whoever takes one has until `until_ms` to say what came of
    /// it; then it is due again.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn take_deliveries(
        &self,
        now_ms: i64,
        until_ms: i64,
        mut room: HashMap<String, usize>,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError> {
        let due = deliveries::table.filter(deliveries::next_ms.le(now_ms));
        let full: Vec<&String> = room.iter().filter(|(_, free)| **free == 0).map(|(hook, _)| hook).collect();
        let due = due.filter(diesel::dsl::not(deliveries::callback.eq_any(full)));
        let due = due.order((deliveries::next_ms, deliveries::id)).limit(limit.into());
        let rows: Vec<Columns> = self.read(|engine| Ok(due.load(engine)?))?;
        let mut found = rows.into_iter().map(delivery).collect::<Result<Vec<_>, _>>()?;
        found.retain(|call| {
            let free = room.entry(call.callback.clone()).or_insert(1);
            let has_room = *free > 0;
            *free = free.saturating_sub(1);
            has_room
        });
        if found.is_empty() {
            return Ok(found);
        }
        self.write(move |engine| {
            let mut taken = Vec::with_capacity(found.len());
            for call in found {
                // Somebody else may have taken it meanwhile.
                let still = deliveries::table.find(&call.id).filter(deliveries::next_ms.le(now_ms));
                if diesel::update(still).set(deliveries::next_ms.eq(until_ms)).execute(engine)? == 1 {
                    taken.push(call);
                }
            }
            Ok(taken)
        })
    }

    /// When the next call is due, of hooks that are not among those `without`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn next_delivery_ms(&self, without: Vec<String>) -> Result<Option<i64>, StoreError> {
        self.read(|engine| {
            let waiting = deliveries::table.filter(deliveries::next_ms.is_not_null());
            let waiting = waiting.filter(diesel::dsl::not(deliveries::callback.eq_any(without)));
            Ok(waiting.select(diesel::dsl::min(deliveries::next_ms)).first(engine)?)
        })
    }

    /// Stores a call that was made already, with its only try.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_delivery(&self, call: Delivery, tried: Attempted) -> Result<(), StoreError> {
        self.write(move |engine| {
            insert(engine, &call)?;
            Ok(insert_attempt(engine, &call.id, call.attempts, &tried)?)
        })
    }

    /// Stores what came of a try: how the call stands now, and when the next one is due. Nothing is stored of a call that is
    /// gone.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn settle_delivery(
        &self,
        id: &str,
        tried: Attempted,
        status: DeliveryStatus,
        next_ms: Option<i64>,
    ) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |engine| {
            let one = deliveries::table.find(&id);
            let counts = one.select((deliveries::attempts, deliveries::tries_left));
            let Some((tried_before, left)) = counts.first::<(i64, i64)>(engine).optional()? else {
                return Ok(());
            };
            diesel::update(one)
                .set((
                    deliveries::status.eq(status.as_str()),
                    deliveries::attempts.eq(tried_before + 1),
                    deliveries::tries_left.eq((left - 1).max(0)),
                    deliveries::next_ms.eq(next_ms),
                ))
                .execute(engine)?;
            let number = u32::try_from(tried_before + 1).unwrap_or(u32::MAX);
            Ok(insert_attempt(engine, &id, number, &tried)?)
        })
    }

    /// Makes a call due again at `now_ms`, with so many tries. Gives it as it is then.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the hook has no such call, or when the database cannot be written.
    pub fn redeliver(&self, hook: &str, id: &str, tries: u32, now_ms: i64) -> Result<Delivery, StoreError> {
        let (hook, id) = (hook.to_owned(), id.to_owned());
        self.write(move |engine| {
            let mine = deliveries::table.find(&id).filter(deliveries::callback.eq(&hook));
            let changed = diesel::update(mine)
                .set((
                    deliveries::status.eq(DeliveryStatus::Waiting.as_str()),
                    deliveries::tries_left.eq(i64::from(tries)),
                    deliveries::next_ms.eq(now_ms),
                ))
                .execute(engine)?;
            if changed == 0 {
                return Err(StoreError::NotFound { what: "delivery", name: id });
            }
            delivery(deliveries::table.find(&id).first(engine)?)
        })
    }

    /// The calls of a hook that pass the filter, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn deliveries(&self, hook: &str, filter: &DeliveryFilter) -> Result<Vec<Delivery>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            let mine = deliveries::table.filter(deliveries::callback.eq(hook));
            let mut mine = mine.into_boxed::<<Engine as Connection>::Backend>();
            if let Some(status) = filter.status {
                mine = mine.filter(deliveries::status.eq(status.as_str()));
            }
            if let Some((created, id)) = &filter.behind {
                let same_moment = deliveries::created_ms.eq(*created).and(deliveries::id.lt(id));
                mine = mine.filter(deliveries::created_ms.lt(*created).or(same_moment));
            }
            let newest = mine.order((deliveries::created_ms.desc(), deliveries::id.desc()));
            Ok(newest.limit(filter.limit.into()).load(engine)?)
        })?;
        rows.into_iter().map(delivery).collect()
    }

    /// A call of a hook with its tries, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn delivery(&self, hook: &str, id: &str) -> Result<Option<(Delivery, Vec<Attempted>)>, StoreError> {
        type Tried = (String, i64, i64, i64, Option<i64>, String, Option<String>);
        self.read(|engine| {
            let mine = deliveries::table.find(id).filter(deliveries::callback.eq(hook));
            let Some(columns) = mine.first::<Columns>(engine).optional()? else { return Ok(None) };
            let tried = attempts::table.filter(attempts::delivery.eq(id)).order(attempts::number);
            let tried = tried.load::<Tried>(engine)?.into_iter().map(
                |(_, _, at_ms, duration_ms, code, answer, fault)| Attempted {
                    at_ms,
                    duration_ms,
                    code: code.and_then(|code| u16::try_from(code).ok()),
                    answer,
                    fault,
                },
            );
            Ok(Some((delivery(columns)?, tried.collect())))
        })
    }

    /// Forgets calls that are over: those decided before `before_ms`, and of each hook those beyond the newest `most`. Gives
    /// how many there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn prune_deliveries(&self, before_ms: i64, most: u32) -> Result<usize, StoreError> {
        self.write(move |engine| {
            let mut pruned = prune(engine, None, before_ms)?;
            let hooks: Vec<String> =
                deliveries::table.select(deliveries::callback).distinct().load(engine)?;
            for hook in hooks {
                let mine = deliveries::table.filter(deliveries::callback.eq(&hook));
                let newest = mine.order(deliveries::created_ms.desc()).select(deliveries::created_ms);
                let last: Option<i64> = newest.offset(most.into()).limit(1).first(engine).optional()?;
                if let Some(last) = last {
                    pruned += prune(engine, Some(&hook), last.saturating_add(1))?;
                }
            }
            Ok(pruned)
        })
    }
}

/// Forgets calls that are over and were decided before a time, of one hook or of all.
fn prune(engine: &mut Engine, hook: Option<&str>, before_ms: i64) -> QueryResult<usize> {
    let over = deliveries::table.filter(deliveries::next_ms.is_null());
    let over = over.filter(deliveries::created_ms.lt(before_ms)).select(deliveries::id);
    let mut over = over.into_boxed::<<Engine as Connection>::Backend>();
    if let Some(hook) = hook {
        over = over.filter(deliveries::callback.eq(hook));
    }
    let ids: Vec<String> = over.load(engine)?;
    forget(engine, &ids)?;
    Ok(ids.len())
}

/// Forgets the calls of a hook, inside the present transaction.
pub(crate) fn forget_of_hook(engine: &mut Engine, hook: &str) -> QueryResult<()> {
    let mine = deliveries::table.filter(deliveries::callback.eq(hook));
    let ids: Vec<String> = mine.select(deliveries::id).load(engine)?;
    forget(engine, &ids)
}

/// Forgets calls with their tries.
fn forget(engine: &mut Engine, ids: &[String]) -> QueryResult<()> {
    for ids in ids.chunks(FORGOTTEN_TOGETHER) {
        diesel::delete(attempts::table.filter(attempts::delivery.eq_any(ids))).execute(engine)?;
        diesel::delete(deliveries::table.filter(deliveries::id.eq_any(ids))).execute(engine)?;
    }
    Ok(())
}
