//! What the journal says against what the read tables and the snapshots say.

use cooperage_domain::cluster::{Cluster, Event, apply, replay};
use cooperage_schema::{ClusterFilter, Store, StoreOptions};
use serde_json::Value;

/// Replays the journals of all clusters of a stopped server, from their first event.
pub fn check(url: &str) {
    let store = Store::open(&url.parse().unwrap(), StoreOptions::default()).unwrap();
    let rows = store.clusters(&ClusterFilter::default()).unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let recorded = store.events(row.id, 1, u32::MAX >> 1).unwrap();
        let numbers: Vec<u64> = recorded.iter().map(|event| event.sequence).collect();
        assert_eq!(numbers, (1..=recorded.len() as u64).collect::<Vec<_>>(), "gaps in {}", row.id);
        let events: Vec<Event> = recorded.iter().map(|stored| parse(&stored.event.json)).collect();
        let state = replay(&events).unwrap();

        let loaded = store.load(row.id).unwrap();
        let mut again: Option<Cluster> = loaded.snapshot.map(|snapshot| parse(&snapshot.state));
        for stored in &loaded.events {
            apply(&mut again, &parse(&stored.event.json));
        }
        assert_eq!(again.as_ref(), Some(&state), "snapshot of {}", row.id);
        assert_eq!(state.summary(), parse::<Value>(&row.summary), "row of {}", row.id);
        assert_eq!(row.status, state.status.as_str());
        check_rows(&store, &state);
    }
    store.close();
}

/// The rows of nodes, jobs and tasks.
fn check_rows(store: &Store, state: &Cluster) {
    let mut nodes: Vec<_> =
        store.nodes(state.id).unwrap().into_iter().map(|row| (row.id, row.status)).collect();
    nodes.sort();
    let expected =
        state.nodes.values().map(|node| (node.id.clone(), state.node_status(node).as_str().to_owned()));
    assert_eq!(nodes, expected.collect::<Vec<_>>(), "nodes of {}", state.id);
    let jobs: Vec<_> = store.jobs(state.id).unwrap().into_iter().map(|row| row.id.number).collect();
    assert_eq!(jobs.len(), state.jobs.len(), "jobs of {}", state.id);
    for job in state.jobs.values() {
        let mut tasks: Vec<_> = store
            .tasks(state.id, Some(job.id))
            .unwrap()
            .into_iter()
            .map(|row| (row.id, row.status))
            .collect();
        tasks.sort();
        let expected = job.tasks.values().map(|task| (task.id, task.state.as_str().to_owned()));
        assert_eq!(tasks, expected.collect::<Vec<_>>(), "tasks of {}", job.id);
    }
}

fn parse<T: serde::de::DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap()
}
