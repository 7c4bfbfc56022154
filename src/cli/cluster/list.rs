//! `cooperage cluster list`

use cooperage_domain::cluster::{ClusterStatus, JobStatus};
use serde_json::Value;

use super::shapes::{Progress, Summary};
use crate::cli::client::{Client, ClientFault};
use crate::cli::duration::local_time;
use crate::cli::failure::Failure;
use crate::cli::progress::doing;
use crate::cli::screen::Screen;
use crate::cli::table::{Table, status};

/// Shows clusters; terminated ones only when `all` or their status is asked for.
///
/// # Errors
/// When a status is unknown, or the server cannot be asked.
pub async fn run(statuses: &[String], all: bool, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let wanted = statuses.iter().map(|word| known(word)).collect::<Result<Vec<_>, _>>()?;
    let path = "/v2/clusters";
    let mut raw: Vec<Value> = client.get(path).await?;
    let is_wanted = |summary: &Summary| match wanted.as_slice() {
        [] => all || summary.status != ClusterStatus::Terminated,
        wanted => wanted.contains(&summary.status),
    };
    let mut summaries = Vec::new();
    let mut kept = Vec::new();
    for value in raw.drain(..) {
        let summary: Summary = serde_json::from_value(value.clone()).map_err(|fault| {
            ClientFault::NotUnderstood { path: path.to_owned(), reason: fault.to_string() }
        })?;
        if is_wanted(&summary) {
            summaries.push(summary);
            kept.push(value);
        }
    }
    screen.result(&kept, || table(&summaries));
    Ok(())
}

fn known(word: &str) -> Result<ClusterStatus, Failure> {
    serde_json::from_value(Value::String(word.trim().to_lowercase())).map_err(|_| {
        let remedy = "use pending, active, incomplete, inconsistent or terminated";
        cooperage_domain::invalid::Invalid::new("--status", word, "is not a status of clusters", remedy)
            .into()
    })
}

fn table(summaries: &[Summary]) -> String {
    let mut table =
        Table::new(["ID", "NAME", "TEMPLATE", "NODES", "STATUS", "PROGRESS", "OWNER", "CREATED", "EXPIRES"]);
    for cluster in summaries {
        let expires =
            if cluster.expire_time == 0 { "never".to_owned() } else { local_time(cluster.expire_time) };
        table.row([
            cluster.id.clone(),
            cluster.name.clone(),
            cluster.cluster_template.name.clone(),
            cluster.num_nodes.to_string(),
            status(cluster.status.as_str()),
            cluster.progress.as_ref().map(progress).unwrap_or_default(),
            cluster.owner_id.clone(),
            local_time(cluster.create_time),
            expires,
        ]);
    }
    table.render("no clusters; create one with `cooperage cluster create NAME --template T --size N`")
}

/// `creating 12/43`; nothing once it is complete.
pub(super) fn progress(progress: &Progress) -> String {
    let state = match progress.status {
        JobStatus::Complete => return String::new(),
        JobStatus::Failed => " failed",
        JobStatus::Paused => " paused",
        JobStatus::NotSubmitted | JobStatus::Running => "",
    };
    format!("{}{state} {}/{}", doing(&progress.action), progress.done, progress.total)
}
