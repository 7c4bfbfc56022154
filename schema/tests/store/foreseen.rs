//! What was foreseen of tasks when they were planned.

use std::collections::BTreeMap;

use cooperage_domain::id::{ClusterId, JobId};
use cooperage_schema::{AppendError, ForeseenRow, Projection};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::append;

on_both_engines![
    what_was_foreseen_is_read_by_cluster_and_by_job,
    what_is_foreseen_of_another_cluster_is_refused
];

const fn job(cluster: u64, number: u32) -> JobId {
    JobId { cluster: ClusterId(cluster), number }
}

fn foreseen(job: JobId, tasks: &[(u32, u64)]) -> ForeseenRow {
    ForeseenRow::new(job, &tasks.iter().copied().collect()).unwrap()
}

fn what_was_foreseen_is_read_by_cluster_and_by_job(fresh: &Fresh) {
    let store = fresh.open();
    let mut first = append(7, 0, &["one"]);
    first.projection.foreseen = vec![foreseen(job(7, 1), &[(1, 500), (2, 10_000)])];
    store.journal().append_blocking(first).unwrap();
    let mut second = append(7, 1, &["two", "three"]);
    second.projection.foreseen = vec![foreseen(job(7, 1), &[(3, 1)]), foreseen(job(7, 2), &[(4, 2)])];
    store.journal().append_blocking(second).unwrap();
    let read = |cluster, job| store.foreseen(ClusterId(cluster), job).unwrap();
    assert_eq!(read(7, None), BTreeMap::from([(1, 500), (2, 10_000), (3, 1), (4, 2)]));
    assert_eq!(read(7, Some(job(7, 1))), BTreeMap::from([(1, 500), (2, 10_000), (3, 1)]), "extended");
    assert_eq!(read(7, Some(job(7, 2))), BTreeMap::from([(4, 2)]));
    assert_eq!(read(8, None), BTreeMap::new());
    assert_eq!(ForeseenRow::new(job(7, 3), &BTreeMap::new()), None, "nothing was planned");
}

fn what_is_foreseen_of_another_cluster_is_refused(fresh: &Fresh) {
    let store = fresh.open();
    let mut wrong = append(7, 0, &["one"]);
    wrong.projection = Projection { foreseen: vec![foreseen(job(8, 1), &[(1, 1)])], ..Projection::default() };
    let refused = store.journal().append_blocking(wrong);
    assert!(matches!(refused, Err(AppendError::ForeignRow { .. })), "{refused:?}");
    assert_eq!(store.foreseen(ClusterId(8), None).unwrap(), BTreeMap::new());
}
