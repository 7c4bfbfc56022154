//! Output of tasks: whoever reads on from the last number misses nothing.

use std::sync::mpsc::channel;

use cooperage_schema::{OutputChunk, Stream};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::task;

on_both_engines![a_cursor_misses_nothing_while_output_is_written, chunks_keep_all_they_had];

fn chunk(number: u32, text: &str) -> OutputChunk {
    OutputChunk { task: task(1, number), attempt: 1, at_ms: 5, stream: Stream::Stdout, text: text.to_owned() }
}

fn a_cursor_misses_nothing_while_output_is_written(fresh: &Fresh) {
    const CHUNKS: u64 = 500;
    let store = fresh.open();
    let (sender, acknowledged) = channel();
    let journal = store.journal();
    let writing = std::thread::spawn(move || {
        for count in 1..=CHUNKS {
            for number in [1, 2] {
                let sender = sender.clone();
                journal.output(chunk(number, &count.to_string()), move |result| sender.send(result).unwrap());
            }
        }
    });
    let mut cursor = 0;
    while cursor < CHUNKS {
        for read in store.output(task(1, 2), cursor, 7).unwrap() {
            assert_eq!(read.sequence, cursor + 1, "no gap");
            assert_eq!(read.chunk.text, read.sequence.to_string(), "in order");
            cursor = read.sequence;
        }
    }
    writing.join().unwrap();
    assert_eq!(acknowledged.iter().filter(Result::is_ok).count() as u64, 2 * CHUNKS);
    assert_eq!(store.output(task(1, 1), 0, u32::MAX).unwrap().len() as u64, CHUNKS);
}

fn chunks_keep_all_they_had(fresh: &Fresh) {
    let store = fresh.open();
    let second =
        OutputChunk { attempt: 2, stream: Stream::Stderr, text: "é\0\n".to_owned(), ..chunk(1, "") };
    assert_eq!(store.journal().output_blocking(chunk(1, "first")), Ok(1));
    assert_eq!(store.journal().output_blocking(second.clone()), Ok(2));
    let stored = store.output(task(1, 1), 1, 10).unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].chunk, OutputChunk { text: "é\u{fffd}\n".to_owned(), ..second });
    assert_eq!(store.output(task(1, 9), 0, 10), Ok(vec![]));
}
