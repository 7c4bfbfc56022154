//! Showing something once, or again whenever it changes.

use std::pin::pin;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::args::WatchArgs;
use super::failure::Failure;
use super::screen::Screen;

/// How long a server may be away, for a restart, before we give up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something to see: for programs, and for people.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// As the server wrote it.
    pub value: Value,
    /// As people read it.
    pub text: String,
}

/// Shows what `look` sees; if it is to be watched, again and again until Ctrl-C: drawn in its place on a terminal, elsewhere
/// written anew when it changed.
///
/// # Errors
/// What `look` cannot do; a server that is away is waited for, once there was something to see.
pub async fn show(
    screen: &Screen,
    watch: &WatchArgs,
    look: impl AsyncFn() -> Result<View, Failure>,
) -> Result<(), Failure> {
    let every = watch.every()?;
    let mut last = look().await?;
    let Some(every) = every else {
        screen.result(&last.value, || last.text);
        return Ok(());
    };
    if screen.can_redraw() {
        screen.clear();
    }
    tell(&last, screen);
    // One for all looks: one that is made anew would miss what was pressed in between.
    let mut interrupted = pin!(tokio::signal::ctrl_c());
    let mut seen = Instant::now();
    loop {
        let next = async {
            tokio::time::sleep(every).await;
            look().await
        };
        let looked = tokio::select! {
            looked = next => looked,
            _ = &mut interrupted => return Err(Failure::Interrupted),
        };
        match looked {
            Ok(view) => {
                seen = Instant::now();
                if view != last {
                    tell(&view, screen);
                    last = view;
                }
            }
            Err(Failure::Client(fault)) if fault.is_passing() && seen.elapsed() < PATIENCE => {}
            Err(failure) => return Err(failure),
        }
    }
}

fn tell(view: &View, screen: &Screen) {
    if screen.can_redraw() {
        screen.redraw(&view.text);
    } else {
        screen.event(&view.value, || view.text.trim_end_matches('\n').to_owned());
    }
}
