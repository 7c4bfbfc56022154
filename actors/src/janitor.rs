//! Deadlines: one timer wheel for the process.
//!
//! ```text
//!   anybody ──Arm(key, at, whom)──► Janitor … the time comes ──TimeUp(key)──► whom
//! ```
//!
//! Deadlines are not stored: whoever arms them derives them from durable state, and does so again after a restart.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use actix::fut::ActorFuture;
use actix::{Actor, AsyncContext, Handler, Message, Recipient};
use cooperage_domain::id::{ClusterId, NodeId};
use tokio_util::time::{DelayQueue, delay_queue};

use crate::clock::SharedClock;
use crate::console::Context;

/// The wheel turns at most so far ahead; what is due later is looked at again then.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// What a deadline is about. There is one deadline per key; arming it again moves it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Deadline {
    /// An attempt has taken too long.
    Attempt {
        /// The node it runs on.
        node: NodeId,
        /// Number of the task.
        task: u32,
        /// Number of the attempt.
        attempt: u32,
    },
    /// The pause before a task's next attempt has passed.
    Pause {
        /// The task's node.
        node: NodeId,
        /// Number of the task.
        task: u32,
    },
    /// Nobody has taken a task for too long.
    Queue {
        /// The task's cluster.
        cluster: ClusterId,
        /// Number of the task.
        task: u32,
    },
    /// An attempt takes longer than such tasks do.
    Straggler {
        /// The task's cluster.
        cluster: ClusterId,
        /// Number of the task.
        task: u32,
        /// Number of the attempt.
        attempt: u32,
    },
    /// A cluster's lease has run out.
    Lease(ClusterId),
    /// A cluster's lease ends soon.
    LeaseWarning(ClusterId),
    /// A cluster has had nothing to do for a while.
    Idle(ClusterId),
    /// Something is to be probed.
    Probes,
    /// A provisioner elsewhere, by its id, has been silent for too long.
    Heartbeat(String),
}

/// The time of a deadline has come.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct TimeUp(pub Deadline);

/// Tell `whom` at `at`.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Arm {
    /// What it is about.
    pub deadline: Deadline,
    /// When, in ms since 1970; a time that has passed is now.
    pub at: i64,
    /// Whom to tell.
    pub whom: Recipient<TimeUp>,
}

/// Nobody needs this deadline any more.
#[derive(Debug, Clone, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Disarm(pub Deadline);

/// The process's deadlines.
pub struct Janitor {
    clock: SharedClock,
    wheel: DelayQueue<Deadline>,
    armed: HashMap<Deadline, Armed>,
}

/// A deadline that has not come.
struct Armed {
    key: delay_queue::Key,
    at: i64,
    whom: Recipient<TimeUp>,
}

impl Janitor {
    /// Without deadlines.
    #[must_use]
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, wheel: DelayQueue::new(), armed: HashMap::new() }
    }
}

impl Actor for Janitor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.spawn(Turn);
    }
}

impl Janitor {
    /// How long the wheel waits before it looks at a deadline, again.
    fn wait_until(&self, at: i64) -> Duration {
        let wait = u64::try_from(at.saturating_sub(self.clock.now())).unwrap_or(0);
        Duration::from_millis(wait).min(LONGEST_WAIT)
    }

    /// The wheel has come to a deadline.
    fn come_to(&mut self, deadline: Deadline) {
        let Some(armed) = self.armed.remove(&deadline) else { return };
        let wait = self.wait_until(armed.at);
        if wait.is_zero() {
            armed.whom.do_send(TimeUp(deadline));
        } else {
            let key = self.wheel.insert(deadline.clone(), wait);
            self.armed.insert(deadline, Armed { key, ..armed });
        }
    }
}

impl Handler<Arm> for Janitor {
    type Result = ();

    fn handle(&mut self, Arm { deadline, at, whom }: Arm, _: &mut Self::Context) {
        let wait = self.wait_until(at);
        let key = match self.armed.remove(&deadline) {
            Some(Armed { key, .. }) => {
                self.wheel.reset(&key, wait);
                key
            }
            None => self.wheel.insert(deadline.clone(), wait),
        };
        self.armed.insert(deadline, Armed { key, at, whom });
    }
}

impl Handler<Disarm> for Janitor {
    type Result = ();

    fn handle(&mut self, disarm: Disarm, _: &mut Self::Context) {
        if let Some(armed) = self.armed.remove(&disarm.0) {
            self.wheel.remove(&armed.key);
        }
    }
}

/// The wheel's turning, as long as the actor lives.
struct Turn;

impl ActorFuture<Janitor> for Turn {
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        janitor: &mut Janitor,
        _: &mut Context<Janitor>,
        task: &mut TaskContext<'_>,
    ) -> Poll<()> {
        while let Poll::Ready(Some(expired)) = janitor.wheel.poll_expired(task) {
            janitor.come_to(expired.into_inner());
        }
        Poll::Pending
    }
}
