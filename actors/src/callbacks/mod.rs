//! Callbacks: others are told of jobs and leases, and asked before jobs begin.
//!
//! ```text
//!   Cluster ──Record──► Journal ──one transaction──► events + occurrences
//!                          └──Look──► Callbacks ──► deliveries ──Letter──► Courier ──HTTP──► target
//!                                        ▲                                    │
//!                                        └──── tried again later ◄── a fault ─┘
//!   API ──Tell / Create──► Registry ──► Gate ──Letter──► Courier: may the job begin?
//! ```
//!
//! What happened is stored with the event that says so, so that a crash loses no call. Each call is made at least once,
//! under the same id at every try. A target has a few calls at a time; no cluster ever waits for one that was told.

mod body;
mod dispatch;
mod gate;

use std::sync::Arc;
use std::time::Duration;

use cooperage_domain::backoff::Backoff;
use cooperage_domain::callback::{Hook, HookEvent};
use cooperage_schema::{Attempted, Delivery, DeliveryStatus, Store, StoreError};
use futures::future::BoxFuture;
use serde_json::json;
use slog::Logger;
use uuid::Uuid;
use zeroize::Zeroizing;

pub use dispatch::{Callbacks, Look};
pub use gate::{Gate, GateError, Veto};

use crate::clock::SharedClock;

/// One call to be made now.
pub struct Letter {
    /// Id of the call, the same at every try.
    pub id: String,
    /// Where to.
    pub url: String,
    /// What it is about.
    pub event: HookEvent,
    /// What is sent, as JSON.
    pub body: String,
    /// What signs it.
    pub secret: Option<Zeroizing<String>>,
    /// When it is sent, in ms since 1970.
    pub at: i64,
    /// How long the answer may take.
    pub timeout: Duration,
    /// Whether the operator chose the target, so that it may be anywhere.
    pub is_trusted: bool,
}

/// What came back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status of the answer, if there was one.
    pub code: Option<u16>,
    /// The first part of the answer.
    pub answer: String,
    /// Why there was no answer.
    pub fault: Option<String>,
}

impl Reply {
    /// Whether the target took the call.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.fault.is_none() && self.code.is_some_and(|code| (200..300).contains(&code))
    }
}

/// Makes calls, by whatever way targets are reached.
pub trait Courier: Send + Sync + 'static {
    /// Makes one call. Always resolves, when the letter's time is over at the latest.
    fn send(&self, letter: Letter) -> BoxFuture<'static, Reply>;
}

/// How often and how fast calls are made, and how long their record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Tries of a call in all.
    pub max_attempts: u32,
    /// Pauses between them.
    pub pauses: Backoff,
    /// Calls of one hook at a time.
    pub at_once: usize,
    /// Calls of one hook of the settings at a time.
    pub at_once_of_settings: usize,
    /// How long the record of calls is kept, in ms; 0 is for ever.
    pub kept_ms: i64,
}

/// What everything about callbacks needs.
pub struct CallbackOffice {
    /// Keeps hooks, calls and their record.
    pub store: Store,
    /// Makes calls.
    pub courier: Arc<dyn Courier>,
    /// Those of the settings.
    pub settings_hooks: Vec<Hook>,
    /// What signs the calls of those.
    pub settings_secret: Option<Zeroizing<String>>,
    /// How often, how fast, how long.
    pub rules: Rules,
    /// Tells the time.
    pub clock: SharedClock,
    /// Where to log.
    pub logger: Logger,
}

impl CallbackOffice {
    /// All hooks there are. Waits for the database.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn hooks(&self) -> Result<Vec<Hook>, StoreError> {
        let stored = self.store.hooks(None)?.into_iter().map(|stored| stored.hook);
        Ok(self.settings_hooks.iter().cloned().chain(stored).collect())
    }

    /// A call ready to be made. Waits for the database.
    fn letter(&self, hook: &Hook, call: &Delivery) -> Result<Letter, StoreError> {
        let secret = match &hook.tenant {
            None => self.settings_secret.clone(),
            Some(tenant) => self.store.hook_secret(tenant, &hook.id)?,
        };
        Ok(Letter {
            id: call.id.clone(),
            url: hook.url.clone(),
            event: call.event,
            body: call.body.clone(),
            secret,
            at: self.clock.now(),
            timeout: Duration::from_millis(hook.timeout.into()),
            is_trusted: hook.is_of_settings(),
        })
    }

    /// Makes a call now, and says what came of it.
    async fn send(&self, letter: Letter) -> (Reply, Attempted) {
        let at_ms = letter.at;
        let reply = self.courier.send(letter).await;
        let duration_ms = self.clock.now().saturating_sub(at_ms).max(0);
        let (code, answer, fault) = (reply.code, reply.answer.clone(), reply.fault.clone());
        (reply, Attempted { at_ms, duration_ms, code, answer, fault })
    }

    /// Tries a hook: one call of the event `test`, made at once and never again. Gives the call, and what came of it.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub async fn test(self: &Arc<Self>, hook: Hook, who: &str) -> Result<(Delivery, Attempted), StoreError> {
        let id = Uuid::new_v4().to_string();
        let now = self.clock.now();
        let body = json!({
            "id": id, "event": HookEvent::Test, "time": now, "callback": hook.name, "who": who,
            "cluster": null, "job": null,
        });
        let mut call = Delivery {
            id,
            callback: hook.id.clone(),
            tenant: owner(&hook).to_owned(),
            event: HookEvent::Test,
            action: None,
            cluster: None,
            job: None,
            body: body.to_string(),
            created_ms: now,
            status: DeliveryStatus::Failed,
            attempts: 1,
            tries_left: 0,
            next_ms: None,
        };
        let (office, wanted) = (Arc::clone(self), call.clone());
        let letter = blocking(move || office.letter(&hook, &wanted)).await?;
        let (reply, tried) = self.send(letter).await;
        if reply.is_taken() {
            call.status = DeliveryStatus::Delivered;
        }
        let (store, made, came) = (self.store.clone(), call.clone(), tried.clone());
        blocking(move || store.add_delivery(made, came)).await?;
        Ok((call, tried))
    }
}

/// Id of the tenant who sees the record of a hook's calls.
#[must_use]
pub fn owner(hook: &Hook) -> &str {
    hook.tenant.as_deref().unwrap_or(cooperage_schema::SUPERADMIN)
}

/// Work that waits for the database, on a thread that may wait.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    actix_rt::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
}
