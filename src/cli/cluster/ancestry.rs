//! `cooperage cluster foundation`, and what is shown of clusters on clusters.

use serde::Deserialize;
use serde_json::{Value, json};

use super::find;
use super::shapes::Summary;
use crate::cli::args::FoundationArgs;
use crate::cli::client::{Client, understood};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Where the foundation is found.
const FOUNDATION: &str = "/v2/foundation";

#[derive(Debug, Deserialize)]
struct Foundation {
    cluster: Option<String>,
    name: Option<String>,
}

/// Shows the cluster that all new ones of the tenant are built upon, or names another one.
///
/// # Errors
/// When there is no such cluster, or it cannot be built upon.
pub async fn run(args: &FoundationArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let named = match (&args.cluster, args.none) {
        (Some(text), _) => Some(json!({ "cluster": find::id_of(client, text).await? })),
        (None, true) => Some(json!({ "cluster": null })),
        (None, false) => None,
    };
    let is_shown = named.is_none();
    let raw: Value = match named {
        Some(body) => client.put(FOUNDATION, &body).await?,
        None => client.get(FOUNDATION).await?,
    };
    let text = sentence(&understood(FOUNDATION, &raw)?);
    if is_shown {
        screen.result(&raw, || text);
    } else {
        screen.done(&raw, text.trim_end());
    }
    Ok(())
}

fn sentence(foundation: &Foundation) -> String {
    match (&foundation.cluster, &foundation.name) {
        (Some(id), Some(name)) => format!("new clusters are built upon {name} ({id})\n"),
        _ => "new clusters are built upon no foundation\n".to_owned(),
    }
}

/// The clusters that are built upon one, as `shop (00000042)`. A server that knows nothing of that has none.
///
/// # Errors
/// When the server cannot be asked.
pub async fn children(id: &str, client: &Client) -> Result<Vec<String>, Failure> {
    match client.get::<Vec<Summary>>(&format!("/v2/clusters/{id}/children")).await {
        Ok(children) => Ok(children.iter().map(|child| format!("{} ({})", child.name, child.id)).collect()),
        Err(fault) if fault.status() == Some(404) => Ok(Vec::new()),
        Err(fault) => Err(fault.into()),
    }
}

/// What is taken of an ancestor.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taken {
    service: String,
    cluster_id: String,
    cluster: String,
    by: Vec<String>,
}

impl Taken {
    /// In one line.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { service, cluster_id, cluster, by } = self;
        format!("{service} of {cluster} ({cluster_id}), for {}", by.join(", "))
    }
}
