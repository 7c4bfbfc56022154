//! Where log lines go and how they look.

use std::io;

use cooperage_domain::invalid::Invalid;
use slog::{Drain, Level, LevelFilter, Logger, o};

use crate::config::{Log, LogFormat};

/// Lines that may wait to be written; beyond that they are dropped, and counted in the log.
const MAX_WAITING: usize = 16_384;

/// The process's logger: structured, on standard error.
///
/// # Errors
/// When the level is none.
pub fn logger(settings: &Log) -> Result<Logger, Invalid> {
    let level: Level = settings.level.parse().map_err(|()| {
        Invalid::new("log.level", &settings.level, "is no level", "use error, warning, info, debug or trace")
    })?;
    Ok(match settings.format {
        LogFormat::Text => {
            let lines = slog_term::TermDecorator::new().stderr().build();
            filtered(slog_term::FullFormat::new(lines).use_utc_timestamp().build().fuse(), level)
        }
        LogFormat::Json => filtered(slog_json::Json::default(io::stderr()).fuse(), level),
    })
}

fn filtered<D>(drain: D, level: Level) -> Logger
where
    D: Drain<Ok = (), Err = slog::Never> + Send + 'static,
{
    let lines = slog_async::Async::new(drain).chan_size(MAX_WAITING).build().fuse();
    Logger::root(LevelFilter::new(lines, level).fuse(), o!())
}
