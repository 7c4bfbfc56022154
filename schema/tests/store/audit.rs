//! The audit log: one chain, whoever writes it, and whatever is done to it is found.

use std::sync::mpsc::channel;

use cooperage_domain::audit::{Broken, Entry, Outcome, PRUNE, Record};
use cooperage_schema::{AuditFilter, Store};
use diesel::connection::SimpleConnection;

use crate::fresh::{Fresh, on_both_engines};

on_both_engines![
    entries_are_found_by_what_they_say,
    what_is_done_to_the_table_is_found,
    a_prune_keeps_the_chain,
    many_writers_keep_one_chain,
];

fn record(at_ms: i64, tenant: &str, user: &str, action: &str, status: u16) -> Record {
    Record {
        at_ms,
        request: format!("r{at_ms}"),
        tenant: tenant.to_owned(),
        user: user.to_owned(),
        credential: "token 1".to_owned(),
        peer: "127.0.0.1".to_owned(),
        port: "user".to_owned(),
        action: action.to_owned(),
        object: format!("/v2/x/{at_ms}"),
        status,
        ..Record::default()
    }
}

fn write(store: &Store, records: impl IntoIterator<Item = Record>) -> Vec<u64> {
    let (sender, receiver) = channel();
    for record in records {
        let sender = sender.clone();
        store.journal().audit(record, move |written| sender.send(written.unwrap()).unwrap());
    }
    drop(sender);
    receiver.iter().collect()
}

fn filled(fresh: &Fresh) -> Store {
    let store = fresh.open();
    let records = [
        record(1, "t", "ann", "POST /v2/clusters", 200),
        record(2, "t", "ben", "PUT /v2/providers/{name}", 403),
        record(3, "s", "ann", "DELETE /v2/providers/{name}", 503),
        Record { object: "100%_\0".to_owned(), ..record(4, "", "", "POST (no route)", 401) },
        record(5, "t", "ann", "DELETE /v2/clusters/{id}", 200),
    ];
    assert_eq!(write(&store, records), [1, 2, 3, 4, 5]);
    store
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.sequence).collect()
}

fn entries_are_found_by_what_they_say(fresh: &Fresh) {
    let store = filled(fresh);
    let all = AuditFilter { limit: 100, ..AuditFilter::default() };
    let find = |filter: AuditFilter| numbers(&store.audit(&filter).unwrap());
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(find(all.clone()), [5, 4, 3, 2, 1]);
    assert_eq!(find(AuditFilter { tenant: text("t"), ..all.clone() }), [5, 2, 1]);
    assert_eq!(find(AuditFilter { user: text("ann"), ..all.clone() }), [5, 3, 1]);
    assert_eq!(find(AuditFilter { action: text("delete"), ..all.clone() }), [5, 3]);
    assert_eq!(find(AuditFilter { action: text("PROVIDERS"), ..all.clone() }), [3, 2]);
    assert_eq!(find(AuditFilter { object: text("%_"), ..all.clone() }), [4], "they stand for themselves");
    assert_eq!(find(AuditFilter { outcome: Some(Outcome::Refused), ..all.clone() }), [4, 2]);
    assert_eq!(find(AuditFilter { outcome: Some(Outcome::Failed), ..all.clone() }), [3]);
    assert_eq!(find(AuditFilter { since_ms: Some(2), until_ms: Some(4), ..all.clone() }), [3, 2]);
    assert_eq!(find(AuditFilter { before: Some(4), limit: 2, ..all.clone() }), [3, 2]);
    let first = &store.audit(&AuditFilter { before: Some(2), ..all }).unwrap()[0];
    assert_eq!(first.record, record(1, "t", "ann", "POST /v2/clusters", 200));
    assert_eq!(store.check_audit().unwrap().outcome, Ok(5));
    assert_eq!(store.audit_count(), Ok(5));
}

fn run(store: &Store, sql: &str) {
    let sql = sql.to_owned();
    store.write(move |engine| Ok(engine.batch_execute(&sql)?)).unwrap();
}

fn what_is_done_to_the_table_is_found(fresh: &Fresh) {
    let store = filled(fresh);
    run(&store, "CREATE TABLE kept AS SELECT * FROM audit");
    for (change, broken) in [
        ("UPDATE audit SET username = 'eve' WHERE sequence = 2", Broken::Altered { sequence: 2 }),
        ("UPDATE audit SET status = 200 WHERE sequence = 3", Broken::Altered { sequence: 3 }),
        (
            "UPDATE audit SET tenant = 'tb', username = 'en' WHERE sequence = 2",
            Broken::Altered { sequence: 2 },
        ),
        ("DELETE FROM audit WHERE sequence = 3", Broken::Missing { sequence: 3, found: 4 }),
        ("DELETE FROM audit WHERE sequence < 3", Broken::Missing { sequence: 1, found: 3 }),
        ("DELETE FROM audit WHERE sequence > 4", Broken::End { sequence: 5, found: 4 }),
        ("DELETE FROM audit", Broken::End { sequence: 5, found: 0 }),
        (
            "UPDATE audit SET sequence = 9 WHERE sequence = 2; UPDATE audit SET sequence = 2 WHERE sequence = 3; \
             UPDATE audit SET sequence = 3 WHERE sequence = 9",
            Broken::Altered { sequence: 2 },
        ),
        (
            "DELETE FROM audit WHERE sequence < 3; UPDATE audit_chain SET sequence = 2, \
             hash = (SELECT hash FROM kept WHERE sequence = 2) WHERE name = 'anchor'",
            Broken::Beginning { sequence: 2 },
        ),
    ] {
        run(&store, change);
        assert_eq!(store.check_audit().unwrap().outcome, Err(broken), "{change}");
        run(
            &store,
            "DELETE FROM audit; INSERT INTO audit SELECT * FROM kept; \
             UPDATE audit_chain SET sequence = 0, hash = '' WHERE name = 'anchor'",
        );
        assert_eq!(store.check_audit().unwrap().outcome, Ok(5), "{change}");
    }
}

fn a_prune_keeps_the_chain(fresh: &Fresh) {
    let store = filled(fresh);
    assert_eq!(store.prune_audit(1, 10), Ok(0), "nothing is that old, and nothing is recorded");
    assert_eq!(store.prune_audit(4, 10), Ok(3));
    let all = store.audit(&AuditFilter { limit: 9, ..AuditFilter::default() }).unwrap();
    assert_eq!((numbers(&all), all[0].record.action.as_str()), (vec![6, 5, 4], PRUNE));
    let check = store.check_audit().unwrap();
    assert_eq!((check.outcome, check.anchor.sequence, check.head.sequence), (Ok(3), 3, 6));
    assert_eq!(store.prune_audit(20, 30), Ok(3), "all of it");
    assert_eq!(store.check_audit().unwrap().outcome, Ok(1));
    assert_eq!(write(&store, [record(31, "t", "ann", "x", 200)]), [8]);
    assert_eq!(store.check_audit().unwrap().outcome, Ok(2));
}

fn many_writers_keep_one_chain(fresh: &Fresh) {
    const EACH: i64 = 60;
    // On PostgreSQL, two servers of one installation; SQLite's file waits for whoever writes.
    let servers = [fresh.open_as("one"), fresh.open_as("two")];
    let mut written: Vec<u64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|number| {
                let store = &servers[number % 2];
                scope.spawn(move || {
                    (0..EACH)
                        .flat_map(|at| write(store, [record(at, "t", "ann", "x", 200)]))
                        .collect::<Vec<u64>>()
                })
            })
            .collect();
        let prunes =
            scope.spawn(|| (1..5).map(|n| servers[0].prune_audit(n * 3, 1_000 + n).unwrap()).sum::<u64>());
        let all = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        prunes.join().unwrap();
        all
    });
    written.sort_unstable();
    written.dedup();
    assert_eq!(written.len() as i64, 8 * EACH, "each has a number of its own");
    let check = servers[1].check_audit().unwrap();
    assert_eq!(check.outcome, Ok(check.head.sequence - check.anchor.sequence));
    assert!(check.head.sequence >= 480);
}
