//! The read tables.

use cooperage_domain::id::ClusterId;
use cooperage_domain::task::TaskName;
use cooperage_schema::{
    AncestryRow, Append, ClusterFilter, ClusterRow, JobRow, NodeRow, Projection, Store, TaskRow,
};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row, job, job_row, node_row, task, task_row};

on_both_engines![
    rows_are_read_as_they_were_written,
    clusters_are_filtered_and_newest_first,
    each_tenant_names_its_foundation,
];

fn project(store: &Store, cluster: u64, projection: Projection) {
    let sequence = store.load(ClusterId(cluster)).unwrap().sequence();
    store.journal().append_blocking(Append { projection, ..append(cluster, sequence, &["a"]) }).unwrap();
}

fn rows_are_read_as_they_were_written(fresh: &Fresh) {
    let store = fresh.open();
    let other_job =
        TaskRow { id: cooperage_domain::id::TaskId { job: job(7, 2), number: 3 }, ..task_row(7, 3) };
    let first = Projection {
        cluster: Some(cluster_row(7)),
        nodes: vec![node_row(7, 1001), node_row(7, 1000)],
        jobs: vec![job_row(7, 2), job_row(7, 1)],
        tasks: vec![task_row(7, 2), task_row(7, 1), other_job.clone()],
        foreseen: Vec::new(),
        durations: vec![],
        occurrences: Vec::new(),
        ancestry: None,
        gone: vec![],
    };
    project(&store, 7, first);
    let id = ClusterId(7);
    assert_eq!(store.cluster(id).unwrap(), Some(cluster_row(7)));
    assert_eq!(store.clusters_by_status().unwrap(), [(cluster_row(7).status, 1)]);
    assert_eq!(store.nodes(id).unwrap(), [node_row(7, 1000), node_row(7, 1001)]);
    assert_eq!(store.jobs(id).unwrap(), [job_row(7, 1), job_row(7, 2)]);
    assert_eq!(store.tasks(id, None).unwrap(), [task_row(7, 1), task_row(7, 2), other_job.clone()]);
    assert_eq!(store.tasks(id, Some(job(7, 2))).unwrap(), [other_job]);

    let second = Projection {
        cluster: Some(ClusterRow {
            message: Some("a\0b".to_owned()),
            latest_job: None,
            expires_ms: 9,
            ..cluster_row(7)
        }),
        nodes: vec![NodeRow { hostname: Some("n1".to_owned()), ..node_row(7, 1000) }],
        jobs: vec![JobRow { ended_ms: Some(5), message: Some("done".to_owned()), ..job_row(7, 1) }],
        tasks: vec![TaskRow { name: TaskName::Delete, code: Some(-1), ended_ms: Some(6), ..task_row(7, 1) }],
        foreseen: Vec::new(),
        durations: vec![],
        occurrences: Vec::new(),
        ancestry: None,
        gone: vec![],
    };
    project(&store, 7, second.clone());
    let cluster = store.cluster(id).unwrap().unwrap();
    assert_eq!(cluster.message.as_deref(), Some("a\u{fffd}b"), "NUL cannot be stored");
    assert_eq!((cluster.latest_job, cluster.expires_ms), (None, 9));
    assert_eq!(store.node(&second.nodes[0].id).unwrap().as_ref(), Some(&second.nodes[0]));
    assert_eq!(store.job(job(7, 1)).unwrap().as_ref(), Some(&second.jobs[0]));
    assert_eq!(store.task(task(7, 1)).unwrap().as_ref(), Some(&second.tasks[0]));
    assert_eq!(store.task(cooperage_domain::id::TaskId { job: job(7, 2), number: 1 }), Ok(None), "of job 1");
    assert_eq!(store.cluster(ClusterId(8)), Ok(None));
    assert_eq!(store.all_nodes(Some("dept-a"), None).unwrap().len(), 2);
    assert_eq!(store.all_nodes(Some("dept-b"), None).unwrap().len(), 0);
    assert_eq!(store.all_nodes(None, None).unwrap().len(), 2);

    let gone = node_row(7, 1001).id;
    project(&store, 7, Projection { gone: vec![gone.clone()], ..Projection::default() });
    assert_eq!(store.node(&gone), Ok(None));
    assert_eq!(store.all_nodes(None, None).unwrap().len(), 1);
    project(&store, 7, Projection { nodes: vec![node_row(7, 1001)], ..Projection::default() });
    assert!(store.node(&gone).unwrap().is_some(), "it may come back");
}

fn clusters_are_filtered_and_newest_first(fresh: &Fresh) {
    let store = fresh.open();
    for (id, tenant, owner, status, created_ms) in [
        (1, "dept-a", "ann", "active", 10),
        (2, "dept-a", "bob", "pending", 30),
        (3, "dept-b", "ann", "active", 20),
        (4, "dept-a", "ann", "terminated", 30),
    ] {
        let row = ClusterRow {
            tenant: tenant.to_owned(),
            owner: owner.to_owned(),
            status: status.to_owned(),
            created_ms,
            ..cluster_row(id)
        };
        project(
            &store,
            id,
            Projection { cluster: Some(row), ancestry: ancestry(id), ..Projection::default() },
        );
    }
    let ids = |filter: ClusterFilter| -> Vec<u64> {
        store.clusters(&filter).unwrap().iter().map(|row| row.id.0).collect()
    };
    let all = ClusterFilter::default;
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(ids(all()), [4, 2, 3, 1]);
    assert_eq!(ids(ClusterFilter { limit: 2, ..all() }), [4, 2]);
    assert_eq!(ids(ClusterFilter { tenant: text("dept-a"), ..all() }), [4, 2, 1]);
    assert_eq!(ids(ClusterFilter { tenant: text("dept-a"), owner: text("ann"), ..all() }), [4, 1]);
    let statuses = vec!["active".to_owned(), "pending".to_owned()];
    assert_eq!(ids(ClusterFilter { statuses, ..all() }), [2, 3, 1]);
    assert_eq!(ids(ClusterFilter { upon: Some(ClusterId(1)), ..all() }), [4, 2, 3]);
    assert_eq!(ids(ClusterFilter { name: text("nobody"), ..all() }), [0; 0]);
    let mut live = store.ancestry().unwrap();
    live.sort_by_key(|row| row.cluster);
    assert_eq!(live, [1, 2, 3].map(|id| ancestry(id).unwrap()), "the fourth is gone");
    let mut upon = store.ancestry_upon(ClusterId(1)).unwrap();
    upon.sort_by_key(|row| row.cluster);
    assert_eq!(upon, [2, 3].map(|id| ancestry(id).unwrap()));
}

/// All others are built upon the first.
fn ancestry(id: u64) -> Option<AncestryRow> {
    let upon = |is_so: bool| is_so.then(|| (ClusterId(1), format!("seen by {id}")));
    let (parent, foundation) = (upon(id == 2 || id == 4), upon(id == 3));
    Some(AncestryRow {
        cluster: ClusterId(id),
        parent,
        foundation,
        hands_down: (id == 1).then(|| "all".into()),
    })
}

fn each_tenant_names_its_foundation(fresh: &Fresh) {
    let store = fresh.open();
    assert_eq!(store.foundation("a"), Ok(None));
    for (tenant, cluster) in [("a", Some(7)), ("b", Some(8)), ("a", Some(9)), ("b", None), ("c", None)] {
        store.set_foundation(tenant, cluster.map(ClusterId)).unwrap();
    }
    let named = ["a", "b", "c"].map(|tenant| store.foundation(tenant).unwrap());
    assert_eq!(named, [Some(ClusterId(9)), None, None]);
}
