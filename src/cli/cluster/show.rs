//! `cooperage cluster show`, `cluster nodes` and `cluster status`

use std::fmt::Write;

use console::style;
use cooperage_domain::id::JobId;
use serde_json::Value;

use super::ancestry;
use super::care::Maintenance;
use super::find;
use super::lease;
use super::list::{expires, price, progress};
use super::shapes::{Details, Node};
use crate::cli::args::{Seen, ShowArgs};
use crate::cli::client::{Client, segment, understood};
use crate::cli::duration::local_time;
use crate::cli::failure::Failure;
use crate::cli::progress::doing;
use crate::cli::screen::Screen;
use crate::cli::table::{Table, status};
use crate::cli::watching::{View, show};

/// Shows a cluster with its nodes and links.
///
/// # Errors
/// When there is no such cluster.
pub async fn run(args: &ShowArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let at = args.at.as_deref().map(|text| moment("--at", text)).transpose()?;
    show(screen, &args.seen.watch, async || {
        let (value, details, children) = match &at {
            None => {
                let (value, details) = find::details(client, &args.seen.which.cluster).await?;
                let children = ancestry::children(&details.id, client).await?;
                (value, details, children)
            }
            Some(at) => {
                let id = find::id_of(client, &args.seen.which.cluster).await?;
                let path = format!("/v2/clusters/{id}?at={at}");
                let value: Value = client.get(&path).await?;
                let details = understood(&path, &value)?;
                (value, details, Vec::new())
            }
        };
        Ok(View { value, text: text(&details, &children, screen.is_wide()) })
    })
    .await
}

/// A moment as the server takes it, for a query: times without a zone are meant here.
pub(super) fn moment(option: &str, text: &str) -> Result<String, Failure> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number || text.parse::<JobId>().is_ok() {
        return Ok(segment(text));
    }
    Ok(lease::at(option, text)?.to_string())
}

/// Shows how far a cluster's latest job is.
///
/// # Errors
/// When there is no such cluster.
pub async fn job_status(seen: &Seen, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = find::id_of(client, &seen.which.cluster).await?;
    show(screen, &seen.watch, async || {
        let value: Value = client.get(&format!("/v2/clusters/{id}/status")).await?;
        let word = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let mut table = Table::new(["ID", "STATUS", "JOB", "STATE", "DONE", "OF"]);
        let count = |key: &str| value[key].as_u64().unwrap_or_default().to_string();
        let action = Some(word("action")).filter(|action| !action.is_empty()).map(|action| doing(&action));
        table.row([
            id.clone(),
            status(&word("status")),
            action.unwrap_or_default(),
            status(&word("actionstatus")),
            count("stepscompleted"),
            count("stepstotal"),
        ]);
        Ok(View { text: table.render(""), value })
    })
    .await
}

/// Shows a cluster's nodes only.
///
/// # Errors
/// When there is no such cluster.
pub async fn nodes(seen: &Seen, client: &Client, screen: &Screen) -> Result<(), Failure> {
    show(screen, &seen.watch, async || {
        let (raw, details) = find::details(client, &seen.which.cluster).await?;
        let value = raw.get("nodes").cloned().unwrap_or(Value::Null);
        Ok(View { value, text: nodes_table(&details.nodes, screen.is_wide()) })
    })
    .await
}

fn text(details: &Details, children: &[String], is_wide: bool) -> String {
    let expires = expires(details.expire_time, details.expiring);
    let mut text = format!(
        "{} ({})  {}\n",
        style(details.name.as_str()).bold(),
        details.id,
        status(details.status.as_str())
    );
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  {name:<9} {value}");
        }
    };
    field("about", &details.description);
    field("template", &details.cluster_template.name);
    field("provider", &details.provider.name);
    field("created", &local_time(details.create_time));
    field("expires", &expires);
    field("price", &details.price_per_hour.map(per_hour).unwrap_or_default());
    field("progress", &details.progress.as_ref().map(progress).unwrap_or_default());
    field("message", details.message.as_deref().unwrap_or_default());
    field("left alone", &details.maintenance.as_ref().map(Maintenance::text).unwrap_or_default());
    field("parent", details.parent.as_deref().unwrap_or_default());
    field("foundation", details.foundation.as_deref().unwrap_or_default());
    for taken in &details.from_ancestors {
        field("takes", &taken.text());
    }
    field("children", &children.join(", "));
    for link in details.ready_links() {
        field("link", &format!("{}  {}", link.url, style(link.label.as_str()).dim()));
    }
    text.push('\n');
    text.push_str(&nodes_table(&details.nodes, is_wide));
    text
}

/// `0.5000 per hour`
fn per_hour(of_all: f64) -> String {
    format!("{} per hour", price(of_all))
}

/// Nodes as a table.
#[must_use]
pub fn nodes_table(nodes: &[Node], is_wide: bool) -> String {
    let mut table = Table::wide(
        is_wide,
        ["NODE", "HOST", "ADDRESS", "STATUS", "SERVICES", "HARDWARE", "IMAGE"],
        ["ID", "ADDRESSES", "USER"],
    );
    for node in nodes {
        let addresses = node.properties.ipaddresses.iter().map(|(kind, address)| format!("{kind}={address}"));
        let more =
            [node.id.clone(), addresses.collect::<Vec<_>>().join(" "), node.properties.sshuser.clone()];
        let cells = [
            node.properties.nodenum.to_string(),
            node.properties.hostname.clone().unwrap_or_default(),
            node.address().unwrap_or_default().to_owned(),
            status(&node.standing()),
            node.services(),
            node.properties.hardwaretype.clone(),
            node.properties.imagetype.clone(),
        ];
        table.wide_row(cells, more);
    }
    table.render("no nodes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::golden::assert_golden;
    use crate::cli::progress::samples::half_way;

    #[test]
    fn a_cluster_is_shown_with_nodes_and_links() {
        let (mut details, _) = half_way();
        details.expire_time = 0;
        let shown = text(&details, &[], false).replace(&local_time(details.create_time), "CREATED");
        assert_golden("src/cli/cluster/golden/show.txt", &shown);
    }
}
