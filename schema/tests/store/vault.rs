//! Secrets of clusters, and when machines were there.

use cooperage_domain::id::ClusterId;
use cooperage_domain::task::TaskName;
use cooperage_schema::{
    Append, ClusterRow, MachineTask, MachineTaskFilter, Projection, Seal, Store, StoreError, TERMINATED,
    TaskRow, Vault,
};
use serde_json::{Map, Value, json};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row, task_row};

on_both_engines![secrets_are_kept_until_the_cluster_is_terminated, machines_count_by_whose_they_are];

fn secrets(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn project(store: &Store, cluster: u64, row: ClusterRow, tasks: Vec<TaskRow>) {
    let sequence = store.load(ClusterId(cluster)).unwrap().sequence();
    let projection = Projection { cluster: Some(row), tasks, ..Projection::default() };
    store.journal().append_blocking(Append { projection, ..append(cluster, sequence, &["a"]) }).unwrap();
}

fn secrets_are_kept_until_the_cluster_is_terminated(fresh: &Fresh) {
    let store = fresh.open();
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::new(store.clone(), Seal::open(&folder.path().join("key")).unwrap());
    let (seven, eight) = (ClusterId(7), ClusterId(8));
    let kept = secrets(&json!({"key": "k", "n": 5}));
    assert_eq!(vault.secrets(seven), Ok(Map::new()));
    vault.keep(seven, &secrets(&json!({"old": true}))).unwrap();
    vault.keep(seven, &kept).unwrap();
    vault.keep(eight, &kept).unwrap();
    project(&store, 7, cluster_row(7), vec![]);
    assert_eq!(vault.secrets(seven), Ok(kept.clone()), "those before are replaced");

    let other = Vault::new(store.clone(), Seal::open(&folder.path().join("other")).unwrap());
    assert!(matches!(other.secrets(seven), Err(StoreError::Sealed { .. })));

    project(&store, 7, ClusterRow { status: TERMINATED.to_owned(), ..cluster_row(7) }, vec![]);
    assert_eq!((vault.secrets(seven), vault.secrets(eight)), (Ok(Map::new()), Ok(kept)));
    vault.forget(eight).unwrap();
    assert_eq!(vault.secrets(eight), Ok(Map::new()));
}

fn machines_count_by_whose_they_are(fresh: &Fresh) {
    let store = fresh.open();
    let done = |cluster, number, name, code, ended_ms| TaskRow {
        name,
        code: Some(code),
        ended_ms: Some(ended_ms),
        ..task_row(cluster, number)
    };
    let tasks = vec![
        done(7, 1, TaskName::Create, 0, 10),
        done(7, 2, TaskName::Confirm, 0, 20),
        done(7, 3, TaskName::Create, 1, 5),
        done(7, 4, TaskName::Delete, 0, 30),
    ];
    project(&store, 7, cluster_row(7), tasks);
    let other = ClusterRow { owner: "ben".to_owned(), template: "small".to_owned(), ..cluster_row(8) };
    project(&store, 8, other, vec![done(8, 1, TaskName::Create, 0, 15)]);
    let found = |filter: MachineTaskFilter| -> Vec<(bool, i64)> {
        let tasks: Vec<MachineTask> = store.machine_tasks(&filter).unwrap();
        tasks.iter().map(|task| (task.made, task.at_ms)).collect()
    };
    let none = MachineTaskFilter::default;
    let (of_seven, of_eight) = (vec![(true, 10), (false, 30)], vec![(true, 15)]);
    assert_eq!(found(none()), [(true, 10), (true, 15), (false, 30)]);
    assert_eq!(found(MachineTaskFilter { owner: Some("ann".to_owned()), ..none() }), of_seven);
    assert_eq!(found(MachineTaskFilter { template: Some("small".to_owned()), ..none() }), of_eight);
    assert_eq!(found(MachineTaskFilter { cluster: Some(ClusterId(8)), ..none() }), of_eight);
    assert_eq!(found(MachineTaskFilter { tenant: Some("dept-a".to_owned()), ..none() }).len(), 3);
    assert_eq!(found(MachineTaskFilter { tenant: Some("dept-b".to_owned()), ..none() }), []);
}
