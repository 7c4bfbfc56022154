//! The pool, on connections that exist only here and on a clock that only moves when all wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cooperage_plugins::ssh::{
    Connection, ExitStatus, HostKey, PoolLimits, Sink, SshError, SshPool, Target, Terminal, TerminalSize,
    Transport,
};
use tokio_util::sync::CancellationToken;

/// Makes connections out of nothing and counts them.
#[derive(Clone, Default)]
struct Nowhere {
    made: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    most_open: Arc<AtomicUsize>,
    broken: Arc<AtomicBool>,
}

#[async_trait]
impl Transport for Nowhere {
    async fn connect(&self, _: &Target, _: Duration) -> Result<Box<dyn Connection>, SshError> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        self.made.fetch_add(1, Ordering::SeqCst);
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_open.fetch_max(open, Ordering::SeqCst);
        Ok(Box::new(Imagined(self.clone())))
    }

    async fn terminal(&self, target: &Target, _: TerminalSize, _: Duration) -> Result<Terminal, SshError> {
        Err(SshError::NoTerminal { address: target.address() })
    }
}

struct Imagined(Nowhere);

impl Drop for Imagined {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Connection for Imagined {
    async fn run(
        &self,
        _: &str,
        _: Option<&[u8]>,
        _: &mut dyn Sink,
        _: &CancellationToken,
    ) -> Result<ExitStatus, SshError> {
        Ok(ExitStatus(0))
    }

    async fn ask_executor(&self, _: &[u8], _: &mut dyn Sink) -> Option<ExitStatus> {
        None
    }

    async fn beside(&self, _: &str) -> Result<(), SshError> {
        Ok(())
    }

    async fn upload(&self, _: &str, _: &[u8], _: u32) -> Result<(), SshError> {
        Ok(())
    }

    async fn download(&self, _: &str) -> Result<Vec<u8>, SshError> {
        Ok(Vec::new())
    }

    fn is_alive(&self) -> bool {
        !self.0.broken.load(Ordering::SeqCst)
    }

    async fn close(&self) {}
}

const LIMITS: PoolLimits =
    PoolLimits { per_target: 2, total: 3, idle: Duration::from_secs(100), connect: Duration::from_secs(5) };

fn target(host: &str) -> Target {
    let key = "AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";
    Target {
        host: host.into(),
        port: 22,
        user: "root".into(),
        identity_file: "/key".into(),
        host_key: key.parse::<HostKey>().unwrap(),
    }
}

fn pool() -> (SshPool, Nowhere) {
    let nowhere = Nowhere::default();
    (SshPool::new(Arc::new(nowhere.clone()), LIMITS), nowhere)
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_lent_again_but_not_one_that_broke() {
    let (pool, nowhere) = pool();
    for _ in 0..5 {
        pool.lease(&target("a")).await.unwrap();
    }
    assert_eq!(nowhere.made.load(Ordering::SeqCst), 1);
    nowhere.broken.store(true, Ordering::SeqCst);
    let lease = pool.lease(&target("a")).await.unwrap();
    assert_eq!((nowhere.made.load(Ordering::SeqCst), pool.open_connections()), (2, 1));
    drop(lease);
    assert_eq!(pool.open_connections(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_target_cannot_take_more_than_its_share() {
    let (pool, nowhere) = pool();
    let (first, second) = (pool.lease(&target("a")).await.unwrap(), pool.lease(&target("a")).await.unwrap());
    let waiting = pool.lease(&target("a")).await.err();
    assert!(matches!(waiting, Some(SshError::TimedOut { .. })), "{waiting:?}");
    pool.lease(&target("b")).await.unwrap();
    drop((first, second));
    assert_eq!(nowhere.made.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn room_is_made_by_closing_the_longest_idle() {
    let (pool, nowhere) = pool();
    for host in ["a", "b", "c", "d"] {
        pool.lease(&target(host)).await.unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert_eq!(pool.open_connections(), 3);
    pool.lease(&target("b")).await.unwrap();
    assert_eq!(nowhere.made.load(Ordering::SeqCst), 4, "b was kept");
    pool.lease(&target("a")).await.unwrap();
    assert_eq!(nowhere.made.load(Ordering::SeqCst), 5, "a was closed");
}

#[tokio::test(start_paused = true)]
async fn many_borrowers_share_a_full_pool() {
    let (pool, nowhere) = pool();
    let borrowers = (0..200).map(|n| {
        let (pool, target) = (pool.clone(), target(&format!("host-{}", n % 17)));
        tokio::spawn(async move {
            let lease = pool.lease(&target).await.unwrap();
            tokio::time::sleep(Duration::from_millis(n % 7)).await;
            drop(lease);
        })
    });
    for borrower in borrowers.collect::<Vec<_>>() {
        borrower.await.unwrap();
    }
    assert!(nowhere.most_open.load(Ordering::SeqCst) <= LIMITS.total);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_uses_is_closed() {
    let (pool, nowhere) = pool();
    let kept = pool.lease(&target("a")).await.unwrap();
    pool.lease(&target("b")).await.unwrap();
    tokio::time::sleep(LIMITS.idle + LIMITS.idle / 3).await;
    assert_eq!((pool.open_connections(), nowhere.open.load(Ordering::SeqCst)), (1, 1));
    drop(kept);
    pool.forget(&target("a"));
    assert_eq!(nowhere.open.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_pool_closes_everything() {
    let (pool, nowhere) = pool();
    let lent = pool.lease(&target("a")).await.unwrap();
    pool.lease(&target("b")).await.unwrap();
    drop(pool);
    assert_eq!(nowhere.open.load(Ordering::SeqCst), 1);
    drop(lent);
    assert_eq!(nowhere.open.load(Ordering::SeqCst), 0);
}
