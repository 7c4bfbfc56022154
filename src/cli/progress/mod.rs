//! Watching a job until it ends: a moving picture on a terminal, a line for each event elsewhere.

mod drawing;
mod estimate;
mod feed;
mod picture;
#[cfg(test)]
pub mod samples;
mod transition;

pub use estimate::expected_end;
pub use feed::{Feed, Look};
pub use picture::doing;

use std::pin::pin;
use std::time::Duration;

use cooperage_domain::cluster::ClusterStatus;
use tokio::time::Instant;

use super::client::Client;
use super::failure::Failure;
use super::screen::Screen;
use drawing::Drawing;

/// How watching ended.
#[derive(Debug)]
pub enum Watched {
    /// The job is over.
    Over(Box<Look>),
    /// It still goes on, but we were to watch no longer.
    TimedOut,
    /// Somebody pressed Ctrl-C; the job goes on.
    Interrupted,
}

/// Watches a cluster's latest job until it ends, `limit` is over, or somebody presses Ctrl-C.
///
/// # Errors
/// When the server is away for long, or refuses.
pub async fn watch(
    client: &Client,
    id: &str,
    screen: &Screen,
    limit: Option<Duration>,
) -> Result<Watched, Failure> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    let mut feed = Feed::new(client.clone(), id);
    let mut drawing = Drawing::new(screen);
    // One for all looks: one that is made anew would miss what was pressed in between.
    let mut interrupted = pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            look = feed.next() => {
                let look = look?;
                drawing.show(&look);
                if is_over(&look) {
                    drawing.clear();
                    return Ok(Watched::Over(Box::new(look)));
                }
            }
            () = until(deadline) => return Ok(Watched::TimedOut),
            _ = &mut interrupted => return Ok(Watched::Interrupted),
        }
    }
}

fn is_over(look: &Look) -> bool {
    let over = look.plan.as_ref().is_none_or(super::cluster::shapes::Plan::is_over);
    over && look.details.status != ClusterStatus::Pending
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
