//! Output of tasks: whoever reads on from the last number misses nothing, whatever becomes of the chunks meanwhile.

use std::sync::mpsc::channel;

use cooperage_schema::{
    OutputLimits, OutputLine, OutputQuery, PackedLines, Pattern, Store, StoredLine, Stream,
};
use diesel::connection::SimpleConnection;

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::task;

on_both_engines![
    a_cursor_misses_nothing_while_output_is_written_and_merged,
    lines_keep_all_they_had,
    parts_forwards_and_backwards_have_every_line_once,
    a_cluster_s_lines_are_in_the_order_of_time_whatever_the_chunks,
    what_is_looked_for_is_found_in_all_chunks,
    small_chunks_become_few_large_ones_and_lines_stay,
    old_and_large_output_goes_and_numbers_go_on,
    output_of_earlier_releases_is_kept,
];

fn line(number: u32, at_ms: i64, text: &str) -> OutputLine {
    OutputLine { task: task(1, number), attempt: 1, at_ms, stream: Stream::Stdout, text: text.to_owned() }
}

/// Stores the lines together.
fn store_lines(store: &Store, lines: &[OutputLine]) {
    for packed in PackedLines::of(lines) {
        store.journal().output_blocking(packed).unwrap();
    }
}

/// How many chunks there are.
fn chunks(store: &Store) -> usize {
    use diesel::prelude::*;
    #[derive(QueryableByName)]
    struct Count {
        #[diesel(sql_type = diesel::sql_types::BigInt)]
        count: i64,
    }
    let count = store.read(|engine| {
        Ok(diesel::sql_query("SELECT count(*) AS count FROM output_chunks").get_result::<Count>(engine)?)
    });
    usize::try_from(count.unwrap().count).unwrap()
}

fn sequences(lines: &[StoredLine]) -> Vec<u64> {
    lines.iter().map(|line| line.sequence).collect()
}

fn a_cursor_misses_nothing_while_output_is_written_and_merged(fresh: &Fresh) {
    const LINES: u64 = 500;
    let store = fresh.open();
    let (sender, acknowledged) = channel();
    let journal = store.journal();
    let writing = std::thread::spawn(move || {
        for count in 1..=LINES {
            for number in [1, 2] {
                let sender = sender.clone();
                let packed = PackedLines::of(&[line(number, 5, &count.to_string())]).remove(0);
                journal.output(packed, move |result| sender.send(result).unwrap());
            }
        }
    });
    let mut cursor = 0;
    while cursor < LINES {
        for read in store.output(task(1, 2), cursor, 7).unwrap() {
            assert_eq!(read.sequence, cursor + 1, "no gap");
            assert_eq!(read.line.text, read.sequence.to_string(), "in order");
            cursor = read.sequence;
        }
        store.merge_output(0).unwrap();
    }
    writing.join().unwrap();
    assert_eq!(acknowledged.iter().filter(Result::is_ok).count() as u64, 2 * LINES);
    assert_eq!(store.output(task(1, 1), 0, u32::MAX).unwrap().len() as u64, LINES);
}

fn lines_keep_all_they_had(fresh: &Fresh) {
    let store = fresh.open();
    let second =
        OutputLine { attempt: 2, stream: Stream::Stderr, text: "é\0\n".to_owned(), ..line(1, 5, "") };
    let third = OutputLine { stream: Stream::System, at_ms: -7, ..second.clone() };
    store_lines(&store, &[line(1, 5, "first"), second.clone(), third.clone()]);
    store_lines(&store, std::slice::from_ref(&second));
    for _ in 0..2 {
        let stored = store.output(task(1, 1), 1, 10).unwrap();
        let lines: Vec<OutputLine> = stored.iter().map(|stored| stored.line.clone()).collect();
        assert_eq!(lines, [second.clone(), third.clone(), second.clone()]);
        assert_eq!(sequences(&stored), [2, 3, 4]);
        assert_eq!(store.output(task(1, 9), 0, 10), Ok(vec![]));
        store.merge_output(i64::MAX).unwrap();
    }
    assert_eq!(chunks(&store), 2, "one for each attempt");
}

fn parts_forwards_and_backwards_have_every_line_once(fresh: &Fresh) {
    let store = fresh.open();
    let lines: Vec<OutputLine> = (0..300).map(|at| line(1, at, &format!("line {at}"))).collect();
    for some in lines.chunks(11) {
        store_lines(&store, some);
    }
    let query = OutputQuery::default();
    for limit in [1, 7, 11, 299, 300, 301] {
        let (mut forwards, mut after) = (Vec::new(), Some(0));
        while let Some(place) = after {
            let page = store.output_after(task(1, 1), &query, place, limit).unwrap();
            forwards.extend(page.lines);
            after = page.next;
        }
        assert_eq!(sequences(&forwards), (1..=300).collect::<Vec<_>>(), "{limit}");
        let (mut backwards, mut before) = (Vec::new(), None);
        loop {
            let page = store.output_until(task(1, 1), &query, before, limit).unwrap();
            backwards.extend(page.lines);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(sequences(&backwards), (1..=300).rev().collect::<Vec<_>>(), "{limit}");
    }
    let late = OutputQuery { since_ms: Some(290), ..OutputQuery::default() };
    assert_eq!(
        sequences(&store.output_after(task(1, 1), &late, 0, 99).unwrap().lines),
        (291..=300).collect::<Vec<_>>()
    );
}

fn a_cluster_s_lines_are_in_the_order_of_time_whatever_the_chunks(fresh: &Fresh) {
    let store = fresh.open();
    let mut lines = Vec::new();
    for at in 0..200_i64 {
        // Many at the same time, and one task that prints rarely.
        let number = if at % 50 == 0 { 3 } else { 1 + u32::try_from(at % 2).unwrap() };
        lines.push(line(number, at / 5, &at.to_string()));
    }
    for some in lines.chunks(23) {
        store_lines(&store, some);
    }
    for _ in 0..2 {
        let all = store.cluster_output(task(1, 1).job.cluster, &OutputQuery::default(), None, 1000).unwrap();
        let place = |stored: &StoredLine| (stored.line.at_ms, stored.line.task.number, stored.sequence);
        assert!(all.lines.is_sorted_by_key(|line| std::cmp::Reverse(place(line))));
        assert_eq!((all.lines.len(), all.next), (200, None));
        for limit in [1, 3, 50, 199, 200] {
            let (mut parts, mut before) = (Vec::new(), None);
            loop {
                let page = store
                    .cluster_output(task(1, 1).job.cluster, &OutputQuery::default(), before, limit)
                    .unwrap();
                assert!(page.lines.len() <= limit as usize);
                parts.extend(page.lines);
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(parts, all.lines, "{limit}");
        }
        store.merge_output(i64::MAX).unwrap();
    }
}

fn what_is_looked_for_is_found_in_all_chunks(fresh: &Fresh) {
    let store = fresh.open();
    let lines: Vec<OutputLine> = (1..=100)
        .map(|at| line(1, at, &format!("{} {at}", if at % 10 == 0 { "FAILED" } else { "done" })))
        .collect();
    for some in lines.chunks(9) {
        store_lines(&store, some);
    }
    for _ in 0..2 {
        let query = |text: &str, any_case, is_expression| OutputQuery {
            pattern: Some(Pattern::new(text, any_case, is_expression).unwrap()),
            since_ms: None,
        };
        let tens: Vec<u64> = (1..=10).map(|ten| ten * 10).collect();
        for query in
            [query("FAILED", false, false), query("failed", true, false), query("^F.*0$", false, true)]
        {
            let forwards = store.output_after(task(1, 1), &query, 0, 100).unwrap();
            assert_eq!((sequences(&forwards.lines), forwards.next), (tens.clone(), None));
            let part = store.output_until(task(1, 1), &query, None, 4).unwrap();
            assert_eq!((sequences(&part.lines), part.next), (vec![100, 90, 80, 70], Some(70)));
            let rest = store.output_until(task(1, 1), &query, part.next, 10).unwrap();
            assert_eq!((sequences(&rest.lines), rest.next), (vec![60, 50, 40, 30, 20, 10], None));
            let of_all = store.cluster_output(task(1, 1).job.cluster, &query, None, 3).unwrap();
            assert_eq!(sequences(&of_all.lines), [100, 90, 80]);
        }
        let nothing = store.output_after(task(1, 1), &query("failed", false, false), 0, 100).unwrap();
        assert_eq!((nothing.lines, nothing.next), (vec![], None));
        store.merge_output(i64::MAX).unwrap();
    }
}

fn small_chunks_become_few_large_ones_and_lines_stay(fresh: &Fresh) {
    let store = fresh.open();
    let lines: Vec<OutputLine> = (0..9_000).map(|at| line(1, at, &format!("line {at}"))).collect();
    for some in lines.chunks(300) {
        store_lines(&store, some);
    }
    store_lines(&store, &[line(2, 1, "alone")]);
    let before = store.output(task(1, 1), 0, u32::MAX).unwrap();
    assert_eq!(before.len(), 9_000);
    assert_eq!(chunks(&store), 31);
    let merged = store.merge_output(0).unwrap();
    assert!(merged.small > merged.large, "{merged:?}");
    assert_eq!(store.output(task(1, 1), 0, u32::MAX).unwrap(), before);
    store.merge_output(i64::MAX).unwrap();
    assert_eq!(chunks(&store), 4, "9,000 lines are three chunks, and there is another task");
    assert_eq!(store.output(task(1, 1), 0, u32::MAX).unwrap(), before);
    assert_eq!(store.merge_output(i64::MAX).unwrap().large, 0, "nothing is done again");
    store_lines(&store, &[line(1, 9_999, "one more")]);
    assert_eq!(store.output(task(1, 1), 9_000, 10).unwrap()[0].sequence, 9_001);
}

fn old_and_large_output_goes_and_numbers_go_on(fresh: &Fresh) {
    let store = fresh.open();
    // A task that runs: its last chunk stays, so that its lines are counted on.
    store
        .write(|engine| {
            Ok(engine.batch_execute(
                "INSERT INTO tasks (cluster, number, job, node, service, name, status, attempts) \
                 VALUES (1, 1, 1, 'n', '', 'CREATE', 'running', 1)",
            )?)
        })
        .unwrap();
    for at in 1..=5 {
        store_lines(&store, &[line(1, at, &"x".repeat(100)), line(2, at, &"y".repeat(100))]);
    }
    let old = OutputLimits { before_ms: Some(3), ..OutputLimits::default() };
    assert_eq!(store.prune_output(&old).unwrap(), 4);
    assert_eq!(sequences(&store.output(task(1, 1), 0, 9).unwrap()), [3, 4, 5]);
    let large = OutputLimits { task_bytes: Some(250), ..OutputLimits::default() };
    assert_eq!(store.prune_output(&large).unwrap(), 2);
    assert_eq!(sequences(&store.output(task(1, 2), 0, 9).unwrap()), [4, 5]);
    assert_eq!(store.output_bytes().unwrap(), 404);
    let all = OutputLimits { all_bytes: Some(202), ..OutputLimits::default() };
    assert_eq!(store.prune_output(&all).unwrap(), 2);
    let everything = OutputLimits { before_ms: Some(99), ..OutputLimits::default() };
    store.prune_output(&everything).unwrap();
    assert_eq!(sequences(&store.output(task(1, 1), 0, 9).unwrap()), [5]);
    assert_eq!(store.output(task(1, 2), 0, 9).unwrap(), vec![]);
    store_lines(&store, &[line(1, 9, "on"), line(2, 9, "anew")]);
    assert_eq!(sequences(&store.output(task(1, 1), 5, 9).unwrap()), [6]);
}

fn output_of_earlier_releases_is_kept(fresh: &Fresh) {
    let store = fresh.open();
    store
        .write(|engine| {
            Ok(engine.batch_execute(
                "DROP TABLE output_chunks;
                 CREATE TABLE task_output (
                     cluster BIGINT NOT NULL, task BIGINT NOT NULL, sequence BIGINT NOT NULL, job BIGINT NOT NULL,
                     attempt BIGINT NOT NULL, at_ms BIGINT NOT NULL, stream TEXT NOT NULL, text TEXT NOT NULL,
                     PRIMARY KEY (cluster, task, sequence));
                 INSERT INTO task_output VALUES (1, 1, 1, 1, 1, 5, 'stdout', 'é one');
                 INSERT INTO task_output VALUES (1, 1, 2, 1, 1, 6, 'stderr', '');
                 INSERT INTO task_output VALUES (1, 1, 3, 1, 2, 7, 'system', 'three');
                 DELETE FROM __diesel_schema_migrations WHERE version = '0015';",
            )?)
        })
        .unwrap();
    if fresh.url.to_string().starts_with("postgres") {
        // What else that migration adds there.
        store.write(|engine| Ok(engine.batch_execute("ALTER TABLE journal DROP COLUMN place")?)).unwrap();
    }
    store.close();
    let store = fresh.open();
    let expected = [
        line(1, 5, "é one"),
        OutputLine { stream: Stream::Stderr, ..line(1, 6, "") },
        OutputLine { stream: Stream::System, attempt: 2, ..line(1, 7, "three") },
    ];
    for _ in 0..2 {
        let lines = store.output(task(1, 1), 0, 9).unwrap();
        assert_eq!(lines.into_iter().map(|stored| stored.line).collect::<Vec<_>>(), expected);
        store.merge_output(i64::MAX).unwrap();
    }
    store_lines(&store, &[line(1, 8, "four")]);
    assert_eq!(store.output(task(1, 1), 3, 9).unwrap()[0].sequence, 4);
}
