//! What systemd is told: that the process is ready, that it stops, and between these, again and again, that it lives. Where
//! nobody asks (no `NOTIFY_SOCKET`), nothing is said.

use std::future::pending;

use sd_notify::{NotifyState, notify, watchdog_enabled};
use slog::{Logger, debug};

/// It answers from now on.
pub fn ready(logger: &Logger) {
    say(&[NotifyState::Ready], logger);
}

/// It was told to stop, and does.
pub fn stopping(logger: &Logger) {
    say(&[NotifyState::Stopping], logger);
}

/// Says that the thread which runs this is not stuck, twice in each time that systemd waits for it (`WatchdogSec`). Never ends.
pub async fn live(logger: Logger) {
    let Some(patience) = watchdog_enabled() else { return pending().await };
    let mut beat = tokio::time::interval(patience / 2);
    loop {
        beat.tick().await;
        say(&[NotifyState::Watchdog], &logger);
    }
}

fn say(state: &[NotifyState<'_>], logger: &Logger) {
    // A supervisor that cannot be told does what it does without.
    if let Err(fault) = notify(state) {
        debug!(logger, "systemd was not told"; "fault" => fault.to_string());
    }
}
