//! When machines were there, and whose they were.

use cooperage_domain::id::ClusterId;
use cooperage_domain::task::TaskName;
use cooperage_schema::{Append, ClusterRow, MachineTask, MachineTaskFilter, Projection, Store, TaskRow};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row, task_row};

on_both_engines![machines_count_by_whose_they_are];

fn project(store: &Store, cluster: u64, row: ClusterRow, tasks: Vec<TaskRow>) {
    let sequence = store.load(ClusterId(cluster)).unwrap().sequence();
    let projection = Projection { cluster: Some(row), tasks, ..Projection::default() };
    store.journal().append_blocking(Append { projection, ..append(cluster, sequence, &["a"]) }).unwrap();
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
