//! `cooperage cluster diff`

use cooperage_domain::cluster::Difference;
use serde_json::Value;

use super::find;
use super::planned::difference;
use super::show::moment;
use crate::cli::args::ClusterDiffArgs;
use crate::cli::client::{Client, understood};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Shows what is different between two moments of a cluster.
///
/// # Errors
/// When there is no such cluster, or it was not there at one of them.
pub async fn run(args: &ClusterDiffArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let from = moment("FROM", &args.from)?;
    let to = args.to.as_deref().map(|text| moment("TO", text)).transpose()?;
    let id = find::id_of(client, &args.which.cluster).await?;
    let to = to.map(|to| format!("&to={to}")).unwrap_or_default();
    let path = format!("/v2/clusters/{id}/diff?from={from}{to}");
    let shown: Value = client.get(&path).await?;
    let changes: Difference = understood(&path, &shown["changes"])?;
    screen.result(&shown, || {
        let heading = format!("cluster {id}, from revision {} to {}", shown["from"], shown["to"]);
        match changes.is_empty() {
            true => format!("{heading}: nothing is different"),
            false => format!("{heading}\n\n{}", difference(&changes)),
        }
    });
    Ok(())
}
