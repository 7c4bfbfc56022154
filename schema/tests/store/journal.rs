//! The journal: what is acknowledged is there, in order, with its projection; a wrong append fails alone.

use std::sync::mpsc::channel;

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Append, AppendError, Appended, Journal, Projection, Store, StoreError};
use proptest::prelude::*;

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row, event, task_row};

on_both_engines![
    what_was_written_is_replayed,
    a_snapshot_is_followed_by_its_tail,
    any_moment_of_the_past_is_found,
    a_conflict_in_a_batch_fails_alone,
    a_refused_projection_takes_only_its_own_events_along,
    the_same_append_again_is_acknowledged,
    appends_of_one_cluster_may_share_a_batch,
    a_row_of_another_cluster_is_refused,
    closing_stores_what_was_given_before,
    work_that_fails_or_panics_leaves_nothing,
    concurrent_appenders_never_lose_or_tear_anything,
];

fn texts(store: &Store, cluster: u64) -> Vec<String> {
    let events = store.events(ClusterId(cluster), 1, u32::MAX).unwrap();
    assert!(events.iter().zip(1..).all(|(event, number)| event.sequence == number), "{events:?}");
    events.into_iter().map(|event| event.event.json).collect()
}

/// Gives the writer all of these while it is busy, so that they share one batch; the results in their order.
fn in_one_batch(journal: &Journal, appends: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
    let (busy, is_busy) = channel();
    let (release, released) = channel::<()>();
    journal.write(
        move |_| {
            busy.send(()).unwrap();
            released.recv().unwrap();
            Ok(())
        },
        |_| {},
    );
    is_busy.recv().unwrap();
    let before = journal.statistics().batches;
    let count = appends.len();
    let (sender, results) = channel();
    for (place, append) in appends.into_iter().enumerate() {
        let sender = sender.clone();
        journal.append(append, move |result| sender.send((place, result)).unwrap());
    }
    release.send(()).unwrap();
    let mut results: Vec<_> = results.iter().take(count).collect();
    journal.write_blocking(|_| Ok(())).unwrap();
    assert_eq!(journal.statistics().batches, before + 3, "the blocker, the batch, and the one just now");
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

fn what_was_written_is_replayed(fresh: &Fresh) {
    let store = fresh.open();
    let journal = store.journal();
    assert_eq!(store.load(ClusterId(1)).unwrap().sequence(), 0);
    assert_eq!(journal.append_blocking(append(1, 0, &["a", "b"])), Ok(Appended { sequence: 2 }));
    assert_eq!(journal.append_blocking(append(1, 2, &["c"])), Ok(Appended { sequence: 3 }));
    journal.append_blocking(append(2, 0, &["other"])).unwrap();

    let replay = store.load(ClusterId(1)).unwrap();
    assert_eq!((replay.snapshot.is_none(), replay.sequence()), (true, 3));
    let events: Vec<_> = replay.events.iter().map(|recorded| recorded.event.clone()).collect();
    assert_eq!(events, [event("a"), event("b"), event("c")]);
    let first = &replay.events[0];
    assert_eq!((first.at_ms, &*first.actor, &*first.who), (1_700_000_000_000, "cluster", "ann"));
    assert_eq!(store.load_until(ClusterId(1), 2).unwrap().events, replay.events[..2]);
    assert_eq!(store.events(ClusterId(1), 2, 1).unwrap(), replay.events[1..2]);
}

fn any_moment_of_the_past_is_found(fresh: &Fresh) {
    let store = fresh.open();
    let journal = store.journal();
    let at = |at_ms, expected, texts: &[&str], snapshot: Option<&str>| {
        let snapshot = snapshot.map(str::to_owned);
        journal.append_blocking(Append { at_ms, snapshot, ..append(1, expected, texts) }).unwrap();
    };
    at(100, 0, &["a", "b"], Some("after b"));
    at(200, 2, &["c"], None);
    at(300, 3, &["d", "e"], Some("after e"));
    journal.append_blocking(append(2, 0, &["other"])).unwrap();
    let id = ClusterId(1);
    let before = |before, limit| -> Vec<u64> {
        store.events_before(id, before, limit).unwrap().iter().map(|event| event.sequence).collect()
    };
    assert_eq!((before(u64::MAX, 9), before(4, 2), before(1, 9)), (vec![5, 4, 3, 2, 1], vec![3, 2], vec![]));
    for (time, last) in [(99, None), (100, Some(2)), (299, Some(3)), (i64::MAX, Some(5))] {
        assert_eq!(store.sequence_at(id, time).unwrap(), last, "{time}");
    }
    assert_eq!(store.snapshot_sequences(id).unwrap(), [2, 5]);
    let until = |last| store.snapshot_until(id, last).unwrap().map(|found| (found.sequence, found.state));
    assert_eq!(until(1), None);
    assert_eq!(until(4), Some((2, "after b".to_owned())));
    assert_eq!(until(u64::MAX), Some((5, "after e".to_owned())));
}

fn a_snapshot_is_followed_by_its_tail(fresh: &Fresh) {
    let store = fresh.open();
    let journal = store.journal();
    journal
        .append_blocking(Append { snapshot: Some("two".to_owned()), ..append(1, 0, &["a", "b"]) })
        .unwrap();
    journal.append_blocking(append(1, 2, &["c"])).unwrap();
    journal.append_blocking(Append { snapshot: Some("four".to_owned()), ..append(1, 3, &["d"]) }).unwrap();
    journal.append_blocking(append(1, 4, &["e"])).unwrap();

    let state = |last| {
        let replay = store.load_until(ClusterId(1), last).unwrap();
        let tail: Vec<_> = replay.events.iter().map(|event| event.sequence).collect();
        (replay.snapshot.map(|snapshot| (snapshot.sequence, snapshot.state)), tail)
    };
    assert_eq!(state(9), (Some((4, "four".to_owned())), vec![5]));
    assert_eq!(state(3), (Some((2, "two".to_owned())), vec![3]));
    assert_eq!(state(1), (None, vec![1]));
}

fn a_conflict_in_a_batch_fails_alone(fresh: &Fresh) {
    let store = fresh.open();
    let journal = store.journal();
    journal.append_blocking(append(2, 0, &["first"])).unwrap();
    let results = in_one_batch(
        &journal,
        vec![
            append(1, 0, &["a"]),
            append(2, 0, &["wrong"]),
            append(2, 1, &["right"]),
            append(3, 7, &["gap"]),
        ],
    );
    let conflict =
        |cluster, expected, head| AppendError::Conflict { cluster: ClusterId(cluster), expected, head };
    assert_eq!(
        results,
        [
            Ok(Appended { sequence: 1 }),
            Err(conflict(2, 0, 1)),
            Ok(Appended { sequence: 2 }),
            Err(conflict(3, 7, 0))
        ]
    );
    assert_eq!(texts(&store, 1).len(), 1);
    assert_eq!(texts(&store, 2), [event("first").json, event("right").json]);
    assert!(texts(&store, 3).is_empty());
}

fn a_refused_projection_takes_only_its_own_events_along(fresh: &Fresh) {
    let store = fresh.open();
    let journal = store.journal();
    // A rule that only the engine knows, so that the fault comes from the middle of the batch's statements.
    store
        .write(|engine| {
            diesel::connection::SimpleConnection::batch_execute(
                engine,
                "ALTER TABLE tasks ADD COLUMN extra BIGINT CHECK (attempts <> 13)",
            )?;
            Ok(())
        })
        .unwrap();
    let with_task = |cluster, attempts| {
        let mut row = task_row(cluster, 1);
        row.attempts = attempts;
        let projection =
            Projection { cluster: Some(cluster_row(cluster)), tasks: vec![row], ..Projection::default() };
        Append { projection, ..append(cluster, 0, &["a"]) }
    };
    let appends = (1..=9).map(|cluster| with_task(cluster, if cluster == 6 { 13 } else { 1 })).collect();
    let results = in_one_batch(&journal, appends);
    for (cluster, result) in (1..=9).zip(results) {
        let id = ClusterId(cluster);
        if cluster == 6 {
            assert!(matches!(result, Err(AppendError::Store(StoreError::Refused { .. }))), "{result:?}");
            assert!(texts(&store, cluster).is_empty());
            assert_eq!((store.cluster(id).unwrap(), store.owner(id).unwrap()), (None, None));
        } else {
            assert_eq!(result, Ok(Appended { sequence: 1 }));
            assert_eq!(texts(&store, cluster).len(), 1);
            assert_eq!(store.tasks(id, None).unwrap(), [task_row(cluster, 1)]);
        }
    }
}

fn the_same_append_again_is_acknowledged(fresh: &Fresh) {
    let store = fresh.open();
    let journal = store.journal();
    let once = append(1, 0, &["a", "b"]);
    journal.append_blocking(once.clone()).unwrap();
    journal.append_blocking(append(1, 2, &["c"])).unwrap();
    assert_eq!(journal.append_blocking(once.clone()), Ok(Appended { sequence: 2 }));
    for different in [append(1, 0, &["a", "x"]), append(1, 0, &["a"]), Append { at_ms: 1, ..once }] {
        let same_start = different.events.len() == 1;
        let result = journal.append_blocking(different);
        assert_eq!(result.is_ok(), same_start, "{result:?}");
    }
    assert_eq!(texts(&store, 1).len(), 3);
}

fn appends_of_one_cluster_may_share_a_batch(fresh: &Fresh) {
    let store = fresh.open();
    let step = |done: u32| {
        let row = cooperage_schema::ClusterRow { steps_done: done, ..cluster_row(1) };
        let projection = Projection { cluster: Some(row), ..Projection::default() };
        Append { projection, ..append(1, u64::from(done), &["step"]) }
    };
    let results = in_one_batch(&store.journal(), vec![step(0), step(1), step(2)]);
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(store.cluster(ClusterId(1)).unwrap().unwrap().steps_done, 2);
    assert_eq!(texts(&store, 1).len(), 3);
}

fn a_row_of_another_cluster_is_refused(fresh: &Fresh) {
    let store = fresh.open();
    let projection = Projection { tasks: vec![task_row(2, 1)], ..Projection::default() };
    let result = store.journal().append_blocking(Append { projection, ..append(1, 0, &["a"]) });
    assert!(result.unwrap_err().to_string().contains("00000002-001-001"));
    assert!(texts(&store, 1).is_empty());
}

fn closing_stores_what_was_given_before(fresh: &Fresh) {
    let store = fresh.open();
    let journal = store.journal();
    let (sender, results) = channel();
    for cluster in 1..=100 {
        let sender = sender.clone();
        journal.append(append(cluster, 0, &["a"]), move |result| sender.send(result).unwrap());
    }
    store.close();
    assert_eq!(results.try_iter().filter(Result::is_ok).count(), 100);
    let late = journal.append_blocking(append(1, 1, &["late"]));
    assert_eq!(late, Err(AppendError::Store(StoreError::Closed)));
    let late = sender.clone();
    journal.append(append(1, 1, &["late"]), move |result| late.send(result).unwrap());
    assert_eq!(results.recv().unwrap(), Err(AppendError::Store(StoreError::Closed)));
    assert_eq!(texts(&store, 1).len(), 1);
}

fn work_that_fails_or_panics_leaves_nothing(fresh: &Fresh) {
    let store = fresh.open();
    let insert = |engine: &mut cooperage_schema::Engine, name: &str| {
        let text = format!("INSERT INTO counters (name, value) VALUES ('{name}', 7)");
        diesel::RunQueryDsl::execute(diesel::sql_query(text), engine)?;
        Ok::<_, StoreError>(())
    };
    let failed: Result<(), StoreError> = store.write(move |engine| {
        insert(engine, "failed")?;
        Err(StoreError::NotFound { what: "thing", name: "x".to_owned() })
    });
    assert!(matches!(failed, Err(StoreError::NotFound { .. })));
    let panicked: Result<(), StoreError> = store.write(move |engine| {
        insert(engine, "panicked")?;
        panic!("on purpose");
    });
    assert_eq!(panicked, Err(StoreError::Panicked { cause: "on purpose".to_owned() }));
    assert_eq!(store.next_number("failed", 1, 1), Ok(1));
    assert_eq!(store.next_number("panicked", 1, 1), Ok(1));
    store.journal().append(append(1, 0, &["a"]), |_| panic!("on purpose"));
    assert!(store.journal().append_blocking(append(2, 0, &["a"])).is_ok());
}

/// Clusters are appended to by several threads each, which all believe they are alone: exactly one of those that race for a
/// number gets it, and what is there in the end is what was acknowledged.
fn concurrent_appenders_never_lose_or_tear_anything(fresh: &Fresh) {
    let store = fresh.open();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(6));
    let first_cluster = std::cell::Cell::new(1_u64);
    let plan = (1_u64..5, 2_usize..6, proptest::collection::vec(1_usize..4, 5..25));
    runner
        .run(&plan, |(clusters, threads, sizes)| {
            let first = first_cluster.replace(first_cluster.get() + clusters);
            let acknowledged: Vec<(u64, u64, Vec<String>)> = std::thread::scope(|scope| {
                let race = |thread| {
                    let (store, sizes) = (&store, &sizes);
                    scope.spawn(move || appender(store, thread, first..first + clusters, sizes))
                };
                let racing: Vec<_> = (0..threads).map(race).collect();
                racing.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            for cluster in first..first + clusters {
                let mut expected: Vec<(u64, Vec<String>)> = acknowledged
                    .iter()
                    .filter(|(of, ..)| *of == cluster)
                    .map(|(_, after, texts)| (*after, texts.clone()))
                    .collect();
                expected.sort();
                let expected: Vec<String> = expected.into_iter().flat_map(|(_, texts)| texts).collect();
                prop_assert_eq!(texts(&store, cluster), expected);
            }
            Ok(())
        })
        .unwrap();
}

/// Appends to the clusters in turn; after a conflict it goes on from where the journal ends.
fn appender(
    store: &Store,
    thread: usize,
    clusters: std::ops::Range<u64>,
    sizes: &[usize],
) -> Vec<(u64, u64, Vec<String>)> {
    let mut acknowledged = Vec::new();
    let mut heads = std::collections::HashMap::new();
    for (turn, size) in sizes.iter().enumerate() {
        for cluster in clusters.clone() {
            let head = heads.entry(cluster).or_insert(0);
            let said: Vec<String> = (0..*size).map(|part| format!("{thread}-{turn}-{part}")).collect();
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            let append = append(cluster, *head, &said);
            let texts = append.events.iter().map(|event| event.json.clone()).collect();
            match store.journal().append_blocking(append) {
                Ok(appended) => {
                    acknowledged.push((cluster, *head, texts));
                    *head = appended.sequence;
                }
                Err(AppendError::Conflict { head: there, .. }) => *head = there,
                // Two that race to be the first of a cluster, on different servers only.
                Err(other) => panic!("{other}"),
            }
        }
    }
    acknowledged
}
