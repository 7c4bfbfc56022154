//! PostgreSQL going away: appends resume by themselves, and no acknowledgement is lost.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use cooperage_domain::id::ClusterId;
use cooperage_schema::Store;

use crate::fresh::Fresh;
use crate::postgres::Server;
use crate::sample::append;

const CLUSTERS: u64 = 16;
const EVENTS_BEFORE: u64 = 20;
const EVENTS_AFTER: u64 = 20;

#[test]
fn appends_resume_after_the_server_crashed() {
    let server = Server::start(&[]);
    let fresh = Fresh::on(&server);
    let store = fresh.open();
    let is_back = AtomicBool::new(false);
    let everybody = Barrier::new(usize::try_from(CLUSTERS).unwrap() + 1);
    let results: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let appending: Vec<_> = (1..=CLUSTERS)
            .map(|cluster| {
                let (store, is_back, everybody) = (&store, &is_back, &everybody);
                scope.spawn(move || append_through_the_crash(store, cluster, is_back, everybody))
            })
            .collect();
        everybody.wait();
        server.crash_and_restart();
        is_back.store(true, Ordering::Relaxed);
        appending.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.iter().any(|(_, failed)| *failed > 0), "the crash was not even noticed");
    for (cluster, (acknowledged, _)) in (1..).zip(results) {
        assert_eq!(store.load(ClusterId(cluster)).unwrap().sequence(), acknowledged, "cluster {cluster}");
    }
}

/// Appends one event after the other until the server is back and some more are stored; one that fails is given again as it
/// is. Gives the last number acknowledged, and how often an append failed.
fn append_through_the_crash(
    store: &Store,
    cluster: u64,
    is_back: &AtomicBool,
    everybody: &Barrier,
) -> (u64, u64) {
    let (mut acknowledged, mut failed, mut after) = (0, 0, 0);
    while after < EVENTS_AFTER {
        let again = is_back.load(Ordering::Relaxed);
        match store.journal().append_blocking(append(cluster, acknowledged, &[&acknowledged.to_string()])) {
            Ok(appended) => {
                acknowledged = appended.sequence;
                after += u64::from(again);
            }
            Err(fault) => {
                assert!(fault.is_retryable(), "{fault}");
                failed += 1;
            }
        }
        if acknowledged == EVENTS_BEFORE && !again && failed == 0 {
            everybody.wait();
        }
    }
    (acknowledged, failed)
}
