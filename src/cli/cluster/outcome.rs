//! Watching a job to its end, and what is said then.

use std::time::Duration;

use console::style;
use cooperage_domain::cluster::{ClusterStatus, JobStatus};

use super::failed;
use super::shapes::Plan;
use super::show::nodes_table;
use crate::cli::args::WaitArgs;
use crate::cli::client::Client;
use crate::cli::duration::short;
use crate::cli::failure::Failure;
use crate::cli::progress::{Look, Watched, doing, watch};
use crate::cli::screen::Screen;

/// What follows once a job was begun: it is watched to its end, or the cluster is named and left alone.
///
/// # Errors
/// As for [`outcome`].
pub async fn begun(client: &Client, id: &str, screen: &Screen, wait: &WaitArgs) -> Result<(), Failure> {
    let limit = wait.limit()?;
    if wait.no_wait {
        screen.note(&format!("cluster {id}: begun; watch it with: cooperage cluster watch {id}"));
        screen.result(&serde_json::json!({ "id": id }), || id.to_owned());
        return Ok(());
    }
    outcome(client, id, screen, limit).await
}

/// Watches the latest job of a cluster until it ends, and tells how it ended.
///
/// # Errors
/// When it failed, is not over within `limit`, or Ctrl-C was pressed (then it goes on).
pub async fn outcome(
    client: &Client,
    id: &str,
    screen: &Screen,
    limit: Option<Duration>,
) -> Result<(), Failure> {
    let look = match watch(client, id, screen, limit).await? {
        Watched::Over(look) => look,
        Watched::Interrupted => {
            screen.note(&goes_on(id, "interrupted"));
            return Err(Failure::Interrupted);
        }
        Watched::TimedOut => {
            screen.note(&goes_on(id, "not over yet"));
            return Err(Failure::TimedOut);
        }
    };
    tell(&look, screen)
}

fn goes_on(id: &str, why: &str) -> String {
    format!(
        "{why}; the cluster goes on\n  look again:  cooperage cluster watch {id}\n  stop it:     cooperage cluster abort {id}"
    )
}

fn tell(look: &Look, screen: &Screen) -> Result<(), Failure> {
    let details = &look.details;
    let succeeded = look.plan.as_ref().is_none_or(|plan| plan.status == JobStatus::Complete);
    if !succeeded || matches!(details.status, ClusterStatus::Incomplete | ClusterStatus::Inconsistent) {
        screen.note(&failed::report(details, look.plan.as_ref()));
        if !screen.is_for_people() {
            screen.result(&look.raw, String::new);
        }
        return Err(Failure::Told);
    }
    let heading = format!("cluster {} ({}) is {}", details.name, details.id, details.status);
    let took = look.plan.as_ref().map(took).unwrap_or_default();
    screen.note(&format!("{} {}{took}", style("✓").green().for_stderr(), heading));
    screen.result(&look.raw, || {
        if details.status == ClusterStatus::Terminated {
            return String::new();
        }
        let links = details.ready_links().map(|link| format!("{}  {}\n", link.url, link.label));
        format!("{}{}", nodes_table(&details.nodes, screen.is_wide()), links.collect::<String>())
    });
    Ok(())
}

/// `, creating took 31.2 s (expected 28.0 s)`.
fn took(plan: &Plan) -> String {
    let Some(end) = plan.end_time else { return String::new() };
    let expected = if plan.predicted_ms > 0 {
        format!(" (expected {})", short(plan.predicted_ms))
    } else {
        String::new()
    };
    format!(", {} took {}{expected}", doing(&plan.action), short(end - plan.start_time))
}
