//! `cooperage cluster wait`: there is no result, the exit code says how it went.

use std::time::Duration;

use cooperage_domain::cluster::ClusterStatus;
use tokio::time::Instant;

use super::find;
use super::list::known;
use super::outcome::outcome;
use super::shapes::Details;
use crate::cli::args::WaitForArgs;
use crate::cli::client::Client;
use crate::cli::duration;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Waits for the end of a cluster's job, or for a status.
///
/// # Errors
/// When the job failed, the status can no longer come, or it takes too long.
pub async fn run(args: &WaitForArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let limit = args.timeout.as_deref().map(|text| duration::parse("--timeout", text)).transpose()?;
    let wanted = args.status.as_deref().map(|word| known("--for", word)).transpose()?;
    let id = find::id_of(client, &args.which.cluster).await?;
    match wanted {
        None => outcome(client, &id, &screen.without_results(), limit).await,
        Some(wanted) => tokio::select! {
            waited = until(wanted, &id, limit, client, screen) => waited,
            _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
        },
    }
}

async fn until(
    wanted: ClusterStatus,
    id: &str,
    limit: Option<Duration>,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    loop {
        match client.get::<Details>(&format!("/v2/clusters/{id}")).await {
            Ok(details) if details.status == wanted => return Ok(()),
            Ok(details) if details.status == ClusterStatus::Terminated => {
                screen.note(&format!("cluster {id} is terminated and will not be {wanted}"));
                return Err(Failure::Told);
            }
            Ok(_) => {}
            Err(fault) if fault.is_passing() && deadline.is_some() => {}
            Err(fault) => return Err(fault.into()),
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            screen.note(&format!("cluster {id} is not {wanted} yet"));
            return Err(Failure::TimedOut);
        }
        tokio::time::sleep(PAUSE).await;
    }
}
