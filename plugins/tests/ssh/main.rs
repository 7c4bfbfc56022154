//! The SSH transport against private servers and bad peers on loopback; every test over every back end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod commands;
mod durable;
mod executor;
mod files;
mod once;
mod peers;
mod pool;
mod proxy;
mod sshd;
mod terminal;

use std::time::{Duration, Instant};

use cooperage_plugins::ssh::{Backend, Captured, Connection, ExitStatus, SshError, Target, transport};
use tokio_util::sync::CancellationToken;

/// Makes one test per back end out of each `async fn name(backend: Backend)`.
macro_rules! over_every_backend {
    ($($name:ident)*) => {
        mod russh {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::bounded(super::$name(cooperage_plugins::ssh::Backend::Russh)).await;
            })*
        }
        #[cfg(feature = "wezterm")]
        mod wezterm {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::bounded(super::$name(cooperage_plugins::ssh::Backend::Wezterm)).await;
            })*
        }
    };
}
pub(crate) use over_every_backend;

/// No test hangs for ever.
const TEST_LIMIT: Duration = Duration::from_secs(60);
/// Enough for every connection that is going to succeed.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);

async fn bounded(test: impl Future<Output = ()>) {
    tokio::time::timeout(TEST_LIMIT, test).await.expect("the test did not end");
}

async fn connect(backend: Backend, target: &Target) -> Result<Box<dyn Connection>, SshError> {
    transport(backend).unwrap().connect(target, CONNECT_LIMIT).await
}

/// Runs a script: its status, and what it printed on both streams.
async fn run(connection: &dyn Connection, script: &str) -> (ExitStatus, String, String) {
    let mut said = Captured::default();
    let status = connection.run(script, None, &mut said, &CancellationToken::new()).await.unwrap();
    (status, said.stdout.text(), said.stderr.text())
}

/// Waits until `condition` holds.
async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < TEST_LIMIT, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
