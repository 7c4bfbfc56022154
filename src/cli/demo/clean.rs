//! Removing every trace: clusters with their machines, the server, the directory. Given again after whatever went wrong, it
//! goes on where it was.

use std::time::Duration;

use cooperage_domain::cluster::ClusterStatus;
use serde_json::Value;

use super::place::Place;
use super::server;
use super::steps::Steps;
use super::strays;
use crate::cli::args::DemoArgs;
use crate::cli::client::Client;
use crate::cli::cluster::delete_and_wait;
use crate::cli::cluster::shapes::{Progress, Summary};
use crate::cli::failure::Failure;
use crate::cli::progress::watch;
use crate::cli::screen::Screen;

/// How long one cluster may take to go.
const LIMIT: Duration = Duration::from_secs(300);
/// File the server keeps its clusters in; without it there never was one.
const DATABASE: &str = "cooperage.db";

/// Removes the demo.
pub(super) async fn run(place: &Place, args: &DemoArgs, screen: &Screen) -> Result<(), Failure> {
    if !place.root().exists() && server::find(place).is_none() {
        screen.note(&format!("nothing to remove: {} is not there", place.root().display()));
        return Ok(());
    }
    let _lock = place.lock().await?;
    let steps = Steps::begin(screen);
    if place.root().join(DATABASE).exists() {
        let (_, client) = steps.step("server", server::ensure(place, args.port_offset, screen)).await?;
        steps.step("clusters deleted", delete_clusters(&client, screen)).await?;
    }
    steps.step("server stopped", server::stop(place)).await?;
    strays::end(place).await?;
    steps.step("directory removed", async { place.remove() }).await?;
    steps.done();
    Ok(())
}

async fn delete_clusters(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let all: Vec<Summary> = client.get("/v2/clusters").await?;
    for cluster in all.iter().filter(|cluster| cluster.status != ClusterStatus::Terminated) {
        screen.note(&format!("  cluster {} ({})", cluster.name, cluster.id));
        if cluster.status == ClusterStatus::Pending {
            if cluster.progress.as_ref().is_some_and(is_creating) {
                let _: Value =
                    client.post(&format!("/v2/clusters/{}/abort", cluster.id), &Value::Null).await?;
            }
            // What runs ends first: the server deletes no cluster that is at work.
            watch(client, &cluster.id, screen, Some(LIMIT)).await?;
        }
        delete_and_wait(client, &cluster.id, screen, LIMIT).await?;
    }
    Ok(())
}

fn is_creating(progress: &Progress) -> bool {
    progress.action == "cluster_create"
}
