//! Killing the program: everything that was acknowledged is there afterwards.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Append, Projection, Store, StoreOptions};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row};

on_both_engines![what_was_acknowledged_survives_a_kill];

const DATABASE: &str = "COOPERAGE_CRASH_TEST_DATABASE";
const CLUSTERS: u64 = 8;
/// The child is killed after so many acknowledgements, while it goes on appending.
const ENOUGH: usize = 400;

fn what_was_acknowledged_survives_a_kill(fresh: &Fresh) {
    drop(fresh.open());
    let url = match &fresh.url {
        cooperage_schema::DatabaseUrl::Sqlite(path) => path.display().to_string(),
        cooperage_schema::DatabaseUrl::Postgres(url) => url.clone(),
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::appends_until_it_is_killed", "--ignored", "--nocapture"])
        .env(DATABASE, url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut acknowledged: BTreeMap<u64, u64> = BTreeMap::new();
    let mut seen = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // A line that the kill cut short has no end mark, and was perhaps not meant so.
        let Some((cluster, sequence)) = line
            .strip_prefix("acknowledged ")
            .and_then(|rest| rest.strip_suffix('.'))
            .and_then(|rest| rest.split_once(' '))
        else {
            continue;
        };
        acknowledged.insert(cluster.parse().unwrap(), sequence.parse().unwrap());
        seen += 1;
        if seen == ENOUGH {
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert!(seen >= ENOUGH && !status.success(), "the child ended by itself: {status}, {seen} acknowledged");

    let store = fresh.open();
    for (cluster, sequence) in acknowledged {
        let events = store.events(ClusterId(cluster), 1, u32::MAX).unwrap();
        assert!(events.iter().zip(1..).all(|(event, number)| event.sequence == number));
        let last = events.len() as u64;
        assert!(last >= sequence, "cluster {cluster}: {sequence} was acknowledged, {last} is there");
        let row = store.cluster(ClusterId(cluster)).unwrap().unwrap();
        assert_eq!(u64::from(row.steps_done), last, "the projection is that of the last event");
        let next = Append { epoch: 1, ..append(cluster, last, &["after the crash"]) };
        store.journal().append_blocking(next).unwrap();
    }
}

/// Not a test of its own: the program that is killed.
#[test]
#[ignore = "run by the crash test"]
fn appends_until_it_is_killed() {
    let Ok(url) = std::env::var(DATABASE) else { return };
    let store = Store::open(&url.parse().unwrap(), StoreOptions::default()).unwrap();
    std::thread::scope(|scope| {
        for cluster in 1..=CLUSTERS {
            let journal = store.journal();
            scope.spawn(move || {
                for sequence in 1.. {
                    let row = cooperage_schema::ClusterRow {
                        steps_done: u32::try_from(sequence).unwrap(),
                        ..cluster_row(cluster)
                    };
                    let projection = Projection { cluster: Some(row), ..Projection::default() };
                    let append = Append { projection, ..append(cluster, sequence - 1, &["a"]) };
                    journal.append_blocking(append).unwrap();
                    // One write per line, so that lines of several threads do not mix.
                    let line = format!("acknowledged {cluster} {sequence}.\n");
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}
