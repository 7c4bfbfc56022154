//! The demo's cluster: created if it is not there, gone on with if it is half-made.

use std::time::Duration;

use cooperage_domain::cluster::{ClusterRequest, ClusterStatus};

use crate::cli::client::Client;
use crate::cli::cluster::shapes::{Details, Plan, Summary};
use crate::cli::cluster::{create_and_watch, delete_and_wait};
use crate::cli::failure::Failure;
use crate::cli::progress::{Watched, watch};
use crate::cli::screen::Screen;

/// Name of the cluster, and of the template it is made from.
const NAME: &str = "demo";
const TEMPLATE: &str = "web";
/// How long one job may take.
const LIMIT: Duration = Duration::from_secs(900);

/// The id of an active cluster with that name.
pub(super) async fn ensure(client: &Client, nodes: u32, screen: &Screen) -> Result<String, Failure> {
    // A job of a former demo is waited for once; what it leaves is used or deleted.
    for _ in 0..3 {
        let Some(found) = find(client).await? else { return create(client, nodes, screen).await };
        match found.status {
            ClusterStatus::Active => {
                screen.note(&format!(
                    "  cluster {} is there already, with {} nodes",
                    found.id, found.num_nodes
                ));
                return Ok(found.id);
            }
            ClusterStatus::Pending => {
                screen.note(&format!(
                    "  cluster {} of a former demo is still at work: waiting for it",
                    found.id
                ));
                if matches!(watch(client, &found.id, screen, Some(LIMIT)).await?, Watched::Interrupted) {
                    return Err(Failure::Interrupted);
                }
            }
            ClusterStatus::Incomplete | ClusterStatus::Inconsistent => {
                screen.note(&format!("  cluster {} of a former demo is half-made: deleting it", found.id));
                delete_and_wait(client, &found.id, screen, LIMIT).await?;
            }
            ClusterStatus::Terminated => {}
        }
    }
    Err(Failure::refused(
        format!("cluster {NAME} comes neither up nor down"),
        "see what it does: cooperage cluster plan demo",
    ))
}

/// The newest cluster with that name that is not terminated.
async fn find(client: &Client) -> Result<Option<Summary>, Failure> {
    let all: Vec<Summary> = client.get("/v2/clusters").await?;
    Ok(all.into_iter().find(|cluster| cluster.name == NAME && cluster.status != ClusterStatus::Terminated))
}

async fn create(client: &Client, nodes: u32, screen: &Screen) -> Result<String, Failure> {
    let request = ClusterRequest {
        name: NAME.to_owned(),
        description: "Made by `cooperage demo`".to_owned(),
        cluster_template: TEMPLATE.to_owned(),
        num_machines: Some(nodes.into()),
        ..ClusterRequest::default()
    };
    create_and_watch(&request, client, &screen.without_results()).await
}

/// The cluster and its latest job.
pub(super) async fn look(client: &Client, id: &str) -> Result<(Details, Option<Plan>), Failure> {
    let details: Details = client.get(&format!("/v2/clusters/{id}")).await?;
    let plan = match &details.latest_job_id {
        Some(job) => Some(client.get(&format!("/v2/clusters/{id}/plans/{job}")).await?),
        None => None,
    };
    Ok((details, plan))
}
