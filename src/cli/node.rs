//! `cooperage node list`

use cooperage_domain::task::NodeProperties;
use serde::Deserialize;
use serde_json::Value;

use super::client::{Client, ClientFault};
use super::failure::Failure;
use super::screen::Screen;
use super::table::{Table, status};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    cluster_id: String,
    #[serde(default)]
    status: String,
    properties: NodeProperties,
}

/// Lists the nodes of all clusters.
///
/// # Errors
/// When the server refuses: only an administrator may see all.
pub async fn list(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let path = "/v2/nodes";
    let raw: Value = client.get(path).await?;
    let nodes: Vec<Node> = serde_json::from_value(raw.clone())
        .map_err(|fault| ClientFault::NotUnderstood { path: path.to_owned(), reason: fault.to_string() })?;
    screen.result(&raw, || table(&nodes));
    Ok(())
}

fn table(nodes: &[Node]) -> String {
    let mut table = Table::new(["CLUSTER", "NODE", "HOST", "ADDRESS", "STATUS", "SERVICES"]);
    for Node { cluster_id, status: word, properties } in nodes {
        table.row([
            cluster_id.clone(),
            properties.nodenum.to_string(),
            properties.hostname.clone().unwrap_or_default(),
            properties.ipaddresses.get("access_v4").cloned().unwrap_or_default(),
            status(word),
            properties.services.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
        ]);
    }
    table.render("no nodes")
}
