//! Where log lines go and how they look.

use std::io;

use cooperage_domain::invalid::Invalid;
use cooperage_domain::redact::Redactor;
use cooperage_schema::KnownSecrets;
use slog::{Drain, Level, LevelFilter, Logger, OwnedKVList, Record, o};
use slog_term::{Decorator, RecordDecorator};

use crate::config::{Log, LogFormat};

/// Lines that may wait to be written; beyond that they are dropped, and counted in the log.
const MAX_WAITING: usize = 16_384;

/// The process's logger: structured, on standard error, without the secrets that are `known`.
///
/// # Errors
/// When the level is none.
pub fn logger(settings: &Log, known: KnownSecrets) -> Result<Logger, Invalid> {
    let level: Level = settings.level.parse().map_err(|()| {
        Invalid::new("log.level", &settings.level, "is no level", "use error, warning, info, debug or trace")
    })?;
    Ok(match settings.format {
        LogFormat::Text => {
            let lines = RedactedLines { lines: slog_term::TermDecorator::new().stderr().build(), known };
            filtered(slog_term::FullFormat::new(lines).use_utc_timestamp().build().fuse(), level)
        }
        LogFormat::Json => {
            let lines = RedactedBytes { bytes: io::stderr(), held: Vec::new(), known };
            filtered(slog_json::Json::default(lines).fuse(), level)
        }
    })
}

fn filtered<D>(drain: D, level: Level) -> Logger
where
    D: Drain<Ok = (), Err = slog::Never> + Send + 'static,
{
    let lines = slog_async::Async::new(drain).chan_size(MAX_WAITING).build().fuse();
    Logger::root(LevelFilter::new(lines, level).fuse(), o!())
}

/// Lines for people, which come in pieces: each value is one.
struct RedactedLines<D> {
    lines: D,
    known: KnownSecrets,
}

impl<D: Decorator> Decorator for RedactedLines<D> {
    fn with_record<F>(&self, record: &Record<'_>, values: &OwnedKVList, write: F) -> io::Result<()>
    where
        F: FnOnce(&mut dyn RecordDecorator) -> io::Result<()>,
    {
        let redactor = self.known.redactor();
        self.lines.with_record(record, values, |line| write(&mut RedactedPieces { line, redactor }))
    }
}

struct RedactedPieces<'a> {
    line: &'a mut dyn RecordDecorator,
    redactor: Redactor,
}

impl io::Write for RedactedPieces<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.line.write_all(self.redactor.text(&String::from_utf8_lossy(piece)).as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.line.flush()
    }
}

/// Hands the marks of a line on.
macro_rules! hand_on {
    ($($mark:ident),*) => {
        impl RecordDecorator for RedactedPieces<'_> {
            $(fn $mark(&mut self) -> io::Result<()> {
                self.line.$mark()
            })*
        }
    };
}

hand_on!(
    reset,
    start_whitespace,
    start_msg,
    start_timestamp,
    start_level,
    start_comma,
    start_key,
    start_value,
    start_location,
    start_separator
);

/// Lines for machines: each goes out as a whole.
struct RedactedBytes<W> {
    bytes: W,
    held: Vec<u8>,
    known: KnownSecrets,
}

impl<W: io::Write> io::Write for RedactedBytes<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(piece);
        if let Some(end) = self.held.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.held.drain(..=end).collect();
            let lines = String::from_utf8_lossy(&lines);
            self.bytes.write_all(self.known.redactor().text(&lines).as_bytes())?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bytes.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_for_machines_go_out_whole_and_clean() {
        let known = KnownSecrets::default();
        known.learn(vec!["hunter2-is-no-password".to_owned()]);
        let mut lines = RedactedBytes { bytes: Vec::new(), held: Vec::new(), known };
        for piece in ["{\"fault\":\"hunter2", "-is-no-pass", "word\"}\n{"] {
            lines.write_all(piece.as_bytes()).unwrap();
        }
        assert_eq!(String::from_utf8(lines.bytes).unwrap(), "{\"fault\":\"[redacted]\"}\n");
    }

    #[test]
    fn values_in_lines_for_people_are_clean() {
        let known = KnownSecrets::default();
        known.learn(vec!["hunter2-is-no-password".to_owned()]);
        let written = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        struct To(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
        impl Write for To {
            fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().write(piece)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lines = RedactedLines { lines: slog_term::PlainSyncDecorator::new(To(written.clone())), known };
        let logger = Logger::root(slog_term::FullFormat::new(lines).build().fuse(), o!());
        slog::info!(logger, "it says hunter2-is-no-password"; "fault" => "was: hunter2-is-no-password!".to_owned());
        drop(logger);
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert!(!text.contains("hunter2") && text.matches("[redacted]").count() == 2, "{text}");
    }
}
