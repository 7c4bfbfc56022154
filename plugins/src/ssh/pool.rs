//! Connections that are kept open and lent.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::error::SshError;
use super::target::Target;
use super::transport::{Connection, Transport};

/// How many connections a pool keeps, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLimits {
    /// Connections to one target that are lent at the same time; further borrowers wait.
    pub per_target: usize,
    /// Connections that are open at the same time, lent or not. When all are taken the longest idle one is closed.
    pub total: usize,
    /// An unused connection is closed after this time, give or take a quarter of it.
    pub idle: Duration,
    /// How long connecting may take, waiting for room in the pool included.
    pub connect: Duration,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self { per_target: 4, total: 2000, idle: Duration::from_secs(300), connect: Duration::from_secs(20) }
    }
}

/// Lends connections and keeps them for the next borrower. Clones share one pool; dropping the last one closes all
/// connections that are not lent, and those that are when they come back.
#[derive(Clone)]
pub struct SshPool {
    inner: Arc<Inner>,
}

struct Inner {
    transport: Arc<dyn Transport>,
    limits: PoolLimits,
    /// Where connections live: their tasks must not end with the caller's runtime.
    runtime: Handle,
    /// One permit per open connection.
    room: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    targets: HashMap<Target, PerTarget>,
    /// Borrowers that wait for room.
    waiting: usize,
}

struct PerTarget {
    /// One permit per lent connection.
    lent: Arc<Semaphore>,
    /// The last one that came back is lent first, so that the others can grow old.
    idle: Vec<Idle>,
}

struct Idle {
    open: Open,
    since: Instant,
}

/// An open connection with its share of the room.
struct Open {
    connection: Box<dyn Connection>,
    _room: OwnedSemaphorePermit,
}

impl SshPool {
    /// An empty pool. Connections live on the runtime this is called on.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn new(transport: Arc<dyn Transport>, limits: PoolLimits) -> Self {
        let inner = Arc::new(Inner {
            room: Arc::new(Semaphore::new(limits.total)),
            runtime: Handle::current(),
            state: Mutex::default(),
            transport,
            limits,
        });
        inner.runtime.spawn(close_idle(Arc::downgrade(&inner), inner.limits.idle));
        Self { inner }
    }

    /// A connection for the caller alone: one that is open and unused, or a new one. Dropping the lease gives it back.
    ///
    /// # Errors
    /// When a new connection is needed and cannot be made ([`Transport::connect`]).
    pub async fn lease(&self, target: &Target) -> Result<Lease, SshError> {
        let started = Instant::now();
        let limit = self.inner.limits.connect;
        let acquire = async {
            let lent = self.inner.lent_permits(target).acquire_owned().await.ok()?;
            Some((lent, self.inner.idle_or_room(target).await?))
        };
        let full = || SshError::TimedOut {
            address: target.address(),
            what: "waiting for a free SSH connection".into(),
            limit,
        };
        let (lent, found) = tokio::time::timeout(limit, acquire).await.ok().flatten().ok_or_else(full)?;
        let open = match found {
            Found::Idle(open) => open,
            Found::Room(room) => {
                let left = limit.saturating_sub(started.elapsed());
                Open { connection: self.inner.connect(target, left).await?, _room: room }
            }
        };
        Ok(Lease { open: Some(open), target: target.clone(), pool: Arc::downgrade(&self.inner), _lent: lent })
    }

    /// How many connections are open, lent ones included.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.inner.limits.total - self.inner.room.available_permits()
    }

    /// Closes all connections to a target that are not lent, as when its machine is given back.
    pub fn forget(&self, target: &Target) {
        let closed = self.inner.lock().targets.get_mut(target).map(|per| std::mem::take(&mut per.idle));
        drop(closed);
    }
}

enum Found {
    Idle(Open),
    Room(OwnedSemaphorePermit),
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while it was held cannot leave the maps half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lent_permits(&self, target: &Target) -> Arc<Semaphore> {
        let mut state = self.lock();
        let fresh = || PerTarget { lent: Arc::new(Semaphore::new(self.limits.per_target)), idle: Vec::new() };
        Arc::clone(&state.targets.entry(target.clone()).or_insert_with(fresh).lent)
    }

    /// An unused connection that still works, or room for a new one.
    async fn idle_or_room(&self, target: &Target) -> Option<Found> {
        let waiting = {
            let mut state = self.lock();
            if let Some(per) = state.targets.get_mut(target) {
                while let Some(idle) = per.idle.pop() {
                    if idle.open.connection.is_alive() {
                        return Some(Found::Idle(idle.open));
                    }
                }
            }
            if let Ok(room) = Arc::clone(&self.room).try_acquire_owned() {
                return Some(Found::Room(room));
            }
            // From here on, whoever gives a connection back closes it for us.
            state.waiting += 1;
            let evicted = state.longest_idle();
            drop(state);
            drop(evicted);
            Waiting(self)
        };
        let room = Arc::clone(&self.room).acquire_owned().await.ok()?;
        drop(waiting);
        Some(Found::Room(room))
    }

    /// Connects on the pool's own runtime.
    async fn connect(
        self: &Arc<Self>,
        target: &Target,
        limit: Duration,
    ) -> Result<Box<dyn Connection>, SshError> {
        let (transport, target) = (Arc::clone(&self.transport), target.clone());
        let address = target.address();
        let work = self.runtime.spawn(async move { transport.connect(&target, limit).await });
        work.await.unwrap_or_else(|failure| Err(SshError::lost(&address, failure)))
    }

    /// Takes back a connection that was lent.
    fn give_back(&self, target: &Target, open: Open) {
        let mut state = self.lock();
        if state.waiting > 0 || !open.connection.is_alive() {
            drop(state);
            drop(open);
            return;
        }
        if let Some(per) = state.targets.get_mut(target) {
            per.idle.push(Idle { open, since: Instant::now() });
        }
    }

    /// Closes what was not used for `limit` and forgets targets nobody uses.
    fn close_older_than(&self, limit: Duration) {
        let mut closed: Vec<Vec<Idle>> = Vec::new();
        let mut state = self.lock();
        state.targets.retain(|_, per| {
            let (old, young) =
                std::mem::take(&mut per.idle).into_iter().partition(|i| i.since.elapsed() >= limit);
            per.idle = young;
            closed.push(old);
            !per.idle.is_empty() || Arc::strong_count(&per.lent) > 1
        });
        drop(state);
        drop(closed);
    }
}

impl State {
    /// Takes out the connection that was not used for the longest time.
    fn longest_idle(&mut self) -> Option<Idle> {
        let per = self
            .targets
            .values_mut()
            .filter(|per| !per.idle.is_empty())
            .min_by_key(|per| per.idle.first().map(|idle| idle.since))?;
        Some(per.idle.remove(0))
    }
}

/// Counts a borrower as waiting for room until dropped.
struct Waiting<'a>(&'a Inner);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

/// Closes idle connections from time to time, for as long as the pool is there.
async fn close_idle(pool: Weak<Inner>, limit: Duration) {
    let mut tick = tokio::time::interval((limit / 4).max(Duration::from_millis(10)));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let Some(pool) = pool.upgrade() else { return };
        pool.close_older_than(limit);
    }
}

/// A connection that is lent. Goes back to its pool when dropped, if it still works.
pub struct Lease {
    open: Option<Open>,
    target: Target,
    pool: Weak<Inner>,
    _lent: OwnedSemaphorePermit,
}

impl Deref for Lease {
    type Target = dyn Connection;

    fn deref(&self) -> &Self::Target {
        &*self.open.as_ref().expect("it is only taken out when the lease is dropped").connection
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let (Some(open), Some(pool)) = (self.open.take(), self.pool.upgrade()) {
            pool.give_back(&self.target, open);
        }
    }
}
