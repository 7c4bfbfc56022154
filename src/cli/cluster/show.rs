//! `cooperage cluster show` and `cluster nodes`

use std::fmt::Write;

use console::style;
use serde_json::Value;

use super::find;
use super::list::progress;
use super::shapes::{Details, Node};
use crate::cli::client::Client;
use crate::cli::duration::local_time;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::{Table, status};

/// Shows a cluster with its nodes and links.
///
/// # Errors
/// When there is no such cluster.
pub async fn run(which: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (raw, details) = find::details(client, which).await?;
    screen.result(&raw, || text(&details));
    Ok(())
}

/// Shows a cluster's nodes only.
///
/// # Errors
/// When there is no such cluster.
pub async fn nodes(which: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (raw, details) = find::details(client, which).await?;
    let nodes = raw.get("nodes").cloned().unwrap_or(Value::Null);
    screen.result(&nodes, || nodes_table(&details.nodes));
    Ok(())
}

fn text(details: &Details) -> String {
    let expires = if details.expire_time == 0 { "never".to_owned() } else { local_time(details.expire_time) };
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
    field("progress", &details.progress.as_ref().map(progress).unwrap_or_default());
    field("message", details.message.as_deref().unwrap_or_default());
    for link in details.ready_links() {
        field("link", &format!("{}  {}", link.url, style(link.label.as_str()).dim()));
    }
    text.push('\n');
    text.push_str(&nodes_table(&details.nodes));
    text
}

/// Nodes as a table.
#[must_use]
pub fn nodes_table(nodes: &[Node]) -> String {
    let mut table = Table::new(["NODE", "HOST", "ADDRESS", "STATUS", "SERVICES", "HARDWARE", "IMAGE"]);
    for node in nodes {
        table.row([
            node.properties.nodenum.to_string(),
            node.properties.hostname.clone().unwrap_or_default(),
            node.address().unwrap_or_default().to_owned(),
            status(&node.status),
            node.services(),
            node.properties.hardwaretype.clone(),
            node.properties.imagetype.clone(),
        ]);
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
        let shown = text(&details).replace(&local_time(details.create_time), "CREATED");
        assert_golden("src/cli/cluster/golden/show.txt", &shown);
    }
}
