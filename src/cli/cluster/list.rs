//! `cooperage cluster list`

use cooperage_domain::cluster::{ClusterStatus, JobStatus};
use serde_json::Value;

use super::find;
use super::shapes::{Progress, Summary};
use crate::cli::args::ListArgs;
use crate::cli::client::{Client, understood};
use crate::cli::duration::local_time;
use crate::cli::failure::Failure;
use crate::cli::progress::doing;
use crate::cli::screen::Screen;
use crate::cli::table::{Table, status};
use crate::cli::watching::{View, show};

/// Shows clusters; terminated ones only when all or their status is asked for.
///
/// # Errors
/// When a status is unknown, or the server cannot be asked.
pub async fn run(args: &ListArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let wanted = args.status.iter().map(|word| known("--status", word)).collect::<Result<Vec<_>, _>>()?;
    show(screen, &args.watch, async || look(args, &wanted, client, screen).await).await
}

async fn look(
    args: &ListArgs,
    wanted: &[ClusterStatus],
    client: &Client,
    screen: &Screen,
) -> Result<View, Failure> {
    let path = match &args.parent {
        Some(parent) => format!("/v2/clusters?parent={}", find::id_of(client, parent).await?),
        None => "/v2/clusters".to_owned(),
    };
    let mut raw: Vec<Value> = client.get(&path).await?;
    let is_wanted = |summary: &Summary| {
        let status = match wanted {
            [] => args.all || summary.status != ClusterStatus::Terminated,
            wanted => wanted.contains(&summary.status),
        };
        let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|it| it == found);
        status && is(&args.template, &summary.cluster_template.name) && is(&args.owner, &summary.owner_id)
    };
    let mut summaries = Vec::new();
    let mut kept = Vec::new();
    for value in raw.drain(..) {
        let summary: Summary = understood(&path, &value)?;
        if is_wanted(&summary) {
            summaries.push(summary);
            kept.push(value);
        }
    }
    Ok(View { text: table(&summaries, screen.is_wide()), value: kept.into() })
}

/// A status as people write it.
///
/// # Errors
/// When it is none, naming `option`.
pub(super) fn known(option: &str, word: &str) -> Result<ClusterStatus, Failure> {
    serde_json::from_value(Value::String(word.trim().to_lowercase())).map_err(|_| {
        let remedy = "use pending, active, incomplete, inconsistent or terminated";
        cooperage_domain::invalid::Invalid::new(option, word, "is not a status of clusters", remedy).into()
    })
}

fn table(summaries: &[Summary], is_wide: bool) -> String {
    let mut table = Table::wide(
        is_wide,
        ["ID", "NAME", "TEMPLATE", "NODES", "STATUS", "PROGRESS", "OWNER", "CREATED", "EXPIRES"],
        ["PRICE/H", "PROVIDER", "SERVICES", "DESCRIPTION"],
    );
    for cluster in summaries {
        let expires = expires(cluster.expire_time, cluster.expiring);
        let cells = [
            cluster.id.clone(),
            cluster.name.clone(),
            cluster.cluster_template.name.clone(),
            cluster.num_nodes.to_string(),
            status(cluster.status.as_str()),
            cluster.progress.as_ref().map(progress).unwrap_or_default(),
            cluster.owner_id.clone(),
            local_time(cluster.create_time),
            expires,
        ];
        let services = cluster.services.join(", ");
        let price = cluster.price_per_hour.map(price).unwrap_or_default();
        table.wide_row(cells, [price, cluster.provider.name.clone(), services, cluster.description.clone()]);
    }
    table.render("no clusters; create one with `cooperage cluster create NAME --template T --size N`")
}

/// What it costs per hour, in whatever money the operator counts.
pub(super) fn price(per_hour: f64) -> String {
    format!("{per_hour:.4}")
}

/// When a lease ends, and whether that is soon.
pub(super) fn expires(at: i64, is_soon: bool) -> String {
    match (at, is_soon) {
        (0, _) => "never".to_owned(),
        (at, false) => local_time(at),
        (at, true) => format!("{} (soon)", local_time(at)),
    }
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
