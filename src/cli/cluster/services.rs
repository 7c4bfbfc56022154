//! `cooperage cluster services`, `start`, `stop`, `restart` and `add-service`

use serde_json::{Value, json};

use super::find;
use super::outcome::begun;
use super::planned::{self, Verb};
use super::shapes::Details;
use crate::cli::args::{AddServiceArgs, Seen, ServicesArgs};
use crate::cli::client::{Client, segment};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::Table;
use crate::cli::watching::{View, show};

/// Lists services with the nodes they are on.
///
/// # Errors
/// When there is no such cluster.
pub async fn list(seen: &Seen, client: &Client, screen: &Screen) -> Result<(), Failure> {
    show(screen, &seen.watch, async || {
        let (raw, details) = find::details(client, &seen.which.cluster).await?;
        let names: Vec<&str> =
            raw["services"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let services: Vec<Value> = names
            .into_iter()
            .map(|name| json!({ "name": name, "nodes": nodes_with(&details, name) }))
            .collect();
        Ok(View { text: table(&services), value: services.into() })
    })
    .await
}

/// Names of the nodes with a service.
fn nodes_with(details: &Details, service: &str) -> Vec<String> {
    let with = details.nodes.iter().filter(|node| node.properties.services.contains(service));
    with.map(super::shapes::Node::name).collect()
}

fn table(services: &[Value]) -> String {
    let mut table = Table::new(["SERVICE", "NODES", "ON"]);
    for service in services {
        let on: Vec<&str> =
            service["nodes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let name = service["name"].as_str().unwrap_or_default().to_owned();
        table.row([name, on.len().to_string(), on.join(", ")]);
    }
    table.render("no services")
}

/// Starts, stops or restarts all services or one: `verb` is the last part of the path.
///
/// # Errors
/// When the server refuses, or a task fails.
pub async fn change(
    verb: &str,
    args: &ServicesArgs,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    args.wait.limit()?;
    let body = args.fields.body()?;
    let id = find::id_of(client, &args.which.cluster).await?;
    let service = args.service.as_deref().map(|name| format!("{}/", segment(name))).unwrap_or_default();
    let path = format!("/v2/clusters/{id}/services/{service}{verb}");
    if !planned::change(Verb::Post, &path, &body, &args.preview, client, screen).await? {
        return Ok(());
    }
    begun(client, &id, screen, &args.wait).await
}

/// Adds services.
///
/// # Errors
/// When the server refuses, or a task fails.
pub async fn add(args: &AddServiceArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    args.wait.limit()?;
    let mut body = args.fields.body()?;
    body["services"] = json!(args.services);
    let id = find::id_of(client, &args.which.cluster).await?;
    let path = format!("/v2/clusters/{id}/services");
    if !planned::change(Verb::Post, &path, &body, &args.preview, client, screen).await? {
        return Ok(());
    }
    begun(client, &id, screen, &args.wait).await
}
