//! The steps of the demo, each told with the time it took.

use std::future::Future;

use console::style;

use crate::cli::duration::{now, short};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Steps one after the other.
pub(super) struct Steps<'a> {
    screen: &'a Screen,
    begun: i64,
}

impl<'a> Steps<'a> {
    pub(super) fn begin(screen: &'a Screen) -> Self {
        Self { screen, begun: now() }
    }

    /// Does one step and tells its time.
    pub(super) async fn step<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        self.screen.note(&format!("{} {what}", style("→").cyan().for_stderr()));
        let begun = now();
        let result = work.await;
        let sign = if result.is_ok() { style("✓").green() } else { style("✗").red() }.for_stderr();
        self.screen.note(&format!("{sign} {what:<40} {:>9}", short(now() - begun)));
        result
    }

    /// All is done.
    pub(super) fn done(&self) {
        let took = short(now() - self.begun);
        self.screen.note(&format!("{} everything {took:>39}", style("✓").green().bold().for_stderr()));
    }
}
