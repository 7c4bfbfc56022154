//! `cooperage cluster delete`

use std::time::Duration;

use super::find;
use super::outcome::begun;
use super::planned::{self, Verb};
use crate::cli::args::DeleteArgs;
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::progress::{Watched, watch};
use crate::cli::screen::Screen;

/// Deletes a cluster, having asked for its name, and waits until it is gone.
///
/// # Errors
/// When the answer is not its name, the server refuses, or a machine could not be given back.
pub async fn run(args: &DeleteArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    args.wait.limit()?;
    let fields = args.fields.body()?;
    let (_, details) = find::details(client, &args.which.cluster).await?;
    if !args.yes.yes && !args.preview.plan {
        let question = format!(
            "cluster {} ({}) and its {} machines will be gone for ever. Type its name to delete it:",
            details.name,
            details.id,
            details.nodes.len()
        );
        if screen.ask(&question, "use --yes")? != details.name {
            return Err(Failure::refused(
                "that is not its name, so nothing was deleted",
                "type the cluster's name",
            ));
        }
    }
    let now = if args.now { "?now=true" } else { "" };
    let path = format!("/v2/clusters/{}{now}", details.id);
    if !planned::change(Verb::Delete, &path, &fields, &args.preview, client, screen).await? {
        return Ok(());
    }
    begun(client, &details.id, screen, &args.wait).await
}

/// Deletes a cluster without asking, and waits at most `limit` until it is gone.
///
/// # Errors
/// When the server refuses, or it is not gone in time.
pub async fn delete_and_wait(
    client: &Client,
    id: &str,
    screen: &Screen,
    limit: Duration,
) -> Result<(), Failure> {
    client.delete(&format!("/v2/clusters/{id}")).await?;
    match watch(client, id, screen, Some(limit)).await? {
        Watched::Over(look) if look.details.status.as_str() == "terminated" => Ok(()),
        Watched::Over(look) => {
            screen.note(&super::failed::report(&look.details, look.plan.as_ref()));
            Err(Failure::Told)
        }
        Watched::TimedOut => Err(Failure::refused(
            format!("cluster {id} is not deleted after {} s", limit.as_secs()),
            format!("see why: cooperage cluster plan {id}"),
        )),
        Watched::Interrupted => Err(Failure::Interrupted),
    }
}
