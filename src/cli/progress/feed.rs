//! Where news of a job come from. Asks again and again; a stream from the server can take its place without anybody noticing.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior};

use crate::cli::client::{Client, ClientFault};
use crate::cli::cluster::shapes::{Details, Plan};

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(250);
/// How long a server may be away, for a restart, before we give up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster and its latest job at one moment.
#[derive(Debug, Clone)]
pub struct Look {
    /// The cluster.
    pub details: Details,
    /// Its latest job.
    pub plan: Option<Plan>,
    /// The cluster as the server wrote it.
    pub raw: Value,
}

/// News of one cluster's latest job.
pub struct Feed {
    client: Client,
    cluster: String,
    ticks: tokio::time::Interval,
}

impl Feed {
    /// The first look comes at once.
    #[must_use]
    pub fn new(client: Client, cluster: &str) -> Self {
        let mut ticks = tokio::time::interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { client, cluster: cluster.to_owned(), ticks }
    }

    /// Waits for the next look. A server that restarts meanwhile is waited for.
    ///
    /// # Errors
    /// When it is away for too long, or refuses.
    pub async fn next(&mut self) -> Result<Look, ClientFault> {
        let patience = Instant::now() + PATIENCE;
        loop {
            self.ticks.tick().await;
            match look(&self.client, &self.cluster).await {
                Err(fault) if fault.is_passing() && Instant::now() < patience => {}
                result => return result,
            }
        }
    }
}

/// One look at a cluster and its latest job.
async fn look(client: &Client, cluster: &str) -> Result<Look, ClientFault> {
    let raw: Value = client.get(&format!("/v2/clusters/{cluster}")).await?;
    let details: Details = serde_json::from_value(raw.clone()).map_err(|fault| {
        ClientFault::NotUnderstood { path: format!("/v2/clusters/{cluster}"), reason: fault.to_string() }
    })?;
    let plan = match &details.latest_job_id {
        Some(job) => Some(client.get(&format!("/v2/clusters/{cluster}/plans/{job}")).await?),
        None => None,
    };
    Ok(Look { details, plan, raw })
}
