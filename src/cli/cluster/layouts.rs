//! `cooperage cluster create --layouts`

use std::fmt::Write;

use cooperage_domain::cluster::ClusterRequest;
use cooperage_domain::layout::Alternative;
use serde_json::Value;

use super::preview::as_json;
use crate::cli::client::{Client, understood};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::Table;

/// Shows layouts to choose from, each with what it is best at.
///
/// # Errors
/// When the server refuses the request, or there is no layout.
pub async fn run(request: &ClusterRequest, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let path = "/v2/layouts";
    let raw: Value = client.post(path, &as_json(request)).await?;
    let found: Vec<Alternative> = understood(path, &raw)?;
    screen.result(&raw, || text(&found));
    Ok(())
}

fn text(found: &[Alternative]) -> String {
    let mut text = String::new();
    for alternative in found {
        let objectives: Vec<&str> = alternative.objectives.iter().map(|one| one.as_str()).collect();
        let price =
            alternative.price_per_hour.map_or_else(String::new, |price| format!(", {price} per hour"));
        let Alternative { nodes, most_services_on_a_node: most, .. } = alternative;
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "{}: {nodes} nodes{price}, at most {most} services on a node",
            objectives.join(", ")
        );
        let mut table = Table::new(["NODES", "SERVICES", "HARDWARE", "IMAGE"]);
        for group in &alternative.groups {
            table.row([
                group.count.to_string(),
                group.node.services.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
                group.node.hardwaretype.clone(),
                group.node.imagetype.clone(),
            ]);
        }
        let _ = writeln!(text, "{}", table.render("no nodes"));
    }
    text.push_str("Create one of them with --objective.\n");
    text
}
