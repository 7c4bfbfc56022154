//! What a create would do, before anything is done.

use std::fmt::Write;

use console::style;
use cooperage_domain::cluster::ClusterRequest;
use cooperage_domain::task::NodeProperties;
use serde::Deserialize;
use serde_json::Value;

use super::ancestry::Taken;
use crate::cli::client::{Client, ClientFault};
use crate::cli::duration::short;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::Table;

/// What the server would do.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preview {
    nodes: Vec<NodeProperties>,
    tasks: usize,
    predicted_ms: i64,
    #[serde(default)]
    lower_bound_ms: i64,
    #[serde(default)]
    critical_path: Vec<String>,
    #[serde(default)]
    from_ancestors: Vec<Taken>,
}

/// Shows the nodes a request would get, how many tasks that takes, and how long.
///
/// # Errors
/// When the server refuses the request.
pub async fn run(request: &ClusterRequest, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let path = "/v2/clusters?dryRun=true";
    let raw: Value = client.post(path, &as_json(request)).await?;
    let preview: Preview = serde_json::from_value(raw.clone())
        .map_err(|fault| ClientFault::NotUnderstood { path: path.to_owned(), reason: fault.to_string() })?;
    screen.result(&raw, || text(&preview));
    Ok(())
}

/// A request as the server takes it.
pub(super) fn as_json(request: &ClusterRequest) -> Value {
    // Plain data with text keys always becomes JSON.
    serde_json::to_value(request).unwrap_or_default()
}

fn text(preview: &Preview) -> String {
    let mut table = Table::new(["NODE", "HOST", "SERVICES", "HARDWARE", "IMAGE"]);
    for node in &preview.nodes {
        table.row([
            node.nodenum.to_string(),
            node.hostname.clone().unwrap_or_default(),
            node.services.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
            node.hardwaretype.clone(),
            node.imagetype.clone(),
        ]);
    }
    let mut text = table.render("no nodes");
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "\n{} tasks on {} nodes, about {} (no faster than {})",
        preview.tasks,
        preview.nodes.len(),
        style(short(preview.predicted_ms)).bold(),
        short(preview.lower_bound_ms)
    );
    if !preview.from_ancestors.is_empty() {
        let _ = writeln!(text, "\nTaken of clusters that it is built upon:");
    }
    for taken in &preview.from_ancestors {
        let _ = writeln!(text, "  {}", taken.text());
    }
    let _ = writeln!(text, "\nWhat decides how long it takes (critical path):");
    for (index, step) in preview.critical_path.iter().enumerate() {
        let _ = writeln!(text, "  {:>2}  {step}", index + 1);
    }
    text.push_str("\nNothing was created. The same without --plan creates it.\n");
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::golden::assert_golden;

    #[test]
    fn a_preview_shows_nodes_tasks_time_and_what_decides_it() {
        let node = |number: u32, services: &[&str]| {
            json!({"nodenum": number, "hostname": format!("shop1-{number}.local"), "services": services,
                   "hardwaretype": "small", "imagetype": "debian-12"})
        };
        let preview = json!({
            "nodes": [node(1000, &["haproxy", "redis"]), node(1001, &["counter", "nginx"])],
            "tasks": 26, "predictedMs": 31_200, "lowerBoundMs": 29_000,
            "fromAncestors": [{"service": "ntp", "clusterId": "00000001", "cluster": "site", "by": ["nginx"]}],
            "criticalPath": ["CREATE on shop1-1000.local", "INSTALL redis on shop1-1000.local"],
        });
        let text = text(&serde_json::from_value(preview).unwrap());
        assert_golden("src/cli/cluster/golden/preview.txt", &text);
    }
}
