//! How many task transitions per second become durable, with few and with many clusters at work.
//!
//! `cargo bench -p cooperage-schema [-- sqlite|postgres]`. Each appender is a cluster that waits for one append before it
//! gives the next, as actors do. An append is one event of some 300 bytes, the cluster's row and one task's.

#![allow(clippy::print_stdout, reason = "a bench reports by printing")]
#![allow(clippy::unwrap_used, reason = "what is shared with the tests unwraps")]

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Append, ClusterRow, Projection, Store, StoreOptions, TaskRow};

#[cfg(feature = "postgres")]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
#[path = "../tests/store/postgres.rs"]
mod postgres;
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
#[path = "../tests/store/sample.rs"]
mod sample;

/// How long each measurement lasts.
const PERIOD: Duration = Duration::from_secs(4);
/// How many clusters are at work at once.
const APPENDERS: [u64; 3] = [1, 100, 2_000];

fn main() {
    let wanted = |engine: &str| {
        let mut named = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
        named.peek().is_none() || named.any(|argument| argument == engine)
    };
    println!("engine    appenders  transitions/s  times one  mean batch  largest");
    if wanted("sqlite") {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("bench.db");
        measure("sqlite", path.to_str().expect("its path is UTF-8"));
    }
    #[cfg(feature = "postgres")]
    if wanted("postgres") {
        let server = postgres::Server::start(&[]);
        measure("postgres", &server.new_database());
    }
}

fn measure(engine: &str, url: &str) {
    let url = url.parse().expect("the URL is well-formed");
    let store = Store::open(&url, StoreOptions::default()).expect("the database can be opened");
    let mut alone = None;
    let mut first_cluster = 1;
    for appenders in APPENDERS {
        let before = store.journal().statistics();
        let rate = rate(&store, first_cluster, appenders);
        first_cluster += appenders;
        let after = store.journal().statistics();
        let alone = *alone.get_or_insert(rate);
        let mean = (after.jobs - before.jobs) as f64 / (after.batches - before.batches) as f64;
        println!(
            "{engine:<9} {appenders:>9}  {rate:>13.0}  {:>9.1}  {mean:>10.1}  {:>7}",
            rate / alone,
            after.largest_batch
        );
    }
    store.close();
}

/// Durable appends per second with so many clusters at work.
fn rate(store: &Store, first_cluster: u64, appenders: u64) -> f64 {
    let journal = store.journal();
    let (sender, answered) = channel();
    let give = |cluster: u64, sequence: u64| {
        let sender = sender.clone();
        journal.append(transition(cluster, sequence), move |result| {
            let appended = result.expect("every append of the bench is right");
            // At the end nobody listens any more.
            let _ = sender.send((cluster, appended.sequence));
        });
    };
    let start = Instant::now();
    for cluster in first_cluster..first_cluster + appenders {
        give(cluster, 0);
    }
    let (mut done, mut under_way) = (0_u64, appenders);
    while under_way > 0 {
        let (cluster, sequence) = answered.recv().expect("every append is answered");
        done += 1;
        if start.elapsed() < PERIOD {
            give(cluster, sequence);
        } else {
            under_way -= 1;
        }
    }
    done as f64 / start.elapsed().as_secs_f64()
}

fn transition(cluster: u64, sequence: u64) -> Append {
    let steps_done = u32::try_from(sequence % 12).expect("below twelve");
    let cluster_row = ClusterRow { steps_done, ..sample::cluster_row(cluster) };
    let task = TaskRow { status: "complete".to_owned(), ..sample::task_row(cluster, steps_done) };
    let projection = Projection { cluster: Some(cluster_row), tasks: vec![task], ..Projection::default() };
    let event = "a task of the cluster was reported complete, and this is what it said; ".repeat(4);
    Append { cluster: ClusterId(cluster), projection, ..sample::append(cluster, sequence, &[&event]) }
}
