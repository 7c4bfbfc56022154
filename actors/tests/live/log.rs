//! A log that tests can wait for.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use slog::{Drain, KV, Key, Logger, Never, OwnedKVList, Record, Serializer, o};
use tokio::sync::watch;

use crate::rig::PATIENCE;

/// Lines that were logged, each with its values behind it: `job ended status=active cluster=00000001`.
#[derive(Clone)]
pub struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    tripped: Arc<Mutex<Option<&'static str>>>,
    /// slog wants to be sure that a panic leaves it whole, which nobody ever promised for channels.
    changed: Arc<AssertUnwindSafe<watch::Sender<()>>>,
}

impl Log {
    pub fn new() -> Self {
        Self {
            lines: Arc::default(),
            tripped: Arc::default(),
            changed: Arc::new(AssertUnwindSafe(watch::channel(()).0)),
        }
    }

    pub fn logger(&self) -> Logger {
        Logger::root(self.clone(), o!())
    }

    /// Whoever logs this next panics.
    pub fn trip(&self, message: &'static str) {
        *self.tripped.lock().unwrap() = Some(message);
    }

    /// How many lines have all these words.
    pub fn count(&self, words: &[&str]) -> usize {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|line| words.iter().all(|word| line.contains(word))).count()
    }

    /// Waits until so many lines have all these words.
    pub async fn until(&self, times: usize, words: &[&str]) {
        let mut changes = self.changed.subscribe();
        let wait = async {
            while self.count(words) < times {
                changes.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(PATIENCE, wait).await;
        assert!(
            waited.is_ok(),
            "waited in vain for {times} of {words:?} in {:#?}",
            self.lines.lock().unwrap()
        );
    }
}

struct Line(String);

impl Serializer for Line {
    fn emit_arguments(&mut self, key: Key, value: &fmt::Arguments<'_>) -> slog::Result {
        self.0.push_str(&format!(" {key}={value}"));
        Ok(())
    }
}

impl Drain for Log {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        let mut line = Line(record.msg().to_string());
        let _ = record.kv().serialize(record, &mut line);
        let _ = values.serialize(record, &mut line);
        self.lines.lock().unwrap().push(line.0);
        self.changed.send_replace(());
        let tripped = self.tripped.lock().unwrap().take_if(|tripped| record.msg().as_str() == Some(*tripped));
        assert_eq!(tripped, None, "the log is tripped, as it should");
        Ok(())
    }
}
