//! `cooperage node …`: nodes of all clusters, and those that users made known by hand.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use cooperage_domain::task::NodeProperties;
use serde::Deserialize;
use serde_json::Value;

use super::args::{WatchArgs, YesArgs};
use super::client::{Client, segment, understood};
use super::complete;
use super::failure::Failure;
use super::node_shell::{self, ShellArgs};
use super::screen::Screen;
use super::table::{Table, status};
use super::watching::{View, show};
use crate::documents;

/// Nodes.
#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// List the nodes of all clusters
    #[command(
        visible_alias = "ls",
        after_help = "Examples:
  cooperage node list --service nginx -o wide
  cooperage node list --cluster 00000042 -o name"
    )]
    List(ListArgs),
    /// Show one, with what was done to it
    #[command(visible_alias = "get", after_help = "Example: cooperage node show 5b2c…")]
    Show {
        /// Its id
        #[arg(value_name = "ID", add = complete::all_nodes())]
        id: String,
    },
    /// A shell on a node, through the server
    #[command(after_help = "Examples:
  cooperage node shell shop 1000
  cooperage node shell 00000042 web-1000

The server logs in, so that this host needs neither a key nor a way to the node. That it was opened, and for how long,
is recorded; what is typed and shown is not. Ctrl-] leaves; so does the end of the shell.")]
    Shell(ShellArgs),
    /// Make a node known that belongs to no cluster, or change it
    #[command(after_help = "Example: cooperage node register -f node.yaml

The file holds an object with at least `id` and `services`.")]
    Register {
        /// File (YAML, JSON or TOML) with what is to be known of it
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Forget a node that was made known
    #[command(visible_alias = "rm", after_help = "Example: cooperage node delete rack7-3")]
    Delete {
        /// Its id
        #[arg(value_name = "ID", add = complete::all_nodes())]
        id: String,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
    },
}

/// Which nodes.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Only those of a cluster, by its id
    #[arg(long, value_name = "ID", add = complete::clusters())]
    pub cluster: Option<String>,
    /// Only those with a service
    #[arg(long, add = complete::services())]
    pub service: Option<String>,
    /// Only those of a status
    #[arg(long)]
    pub status: Option<String>,
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    #[serde(default)]
    id: String,
    /// Empty for one that was made known by hand.
    #[serde(default)]
    cluster_id: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    properties: NodeProperties,
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such node, or the server refuses.
pub async fn run(command: NodeCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        NodeCommand::List(args) => list(&args, client, screen).await,
        NodeCommand::Show { id } => {
            let one: Value = client.get(&path(&id)).await?;
            screen.result(&one, || super::yaml::render(&one));
            Ok(())
        }
        NodeCommand::Shell(args) => node_shell::run(&args, client, screen).await,
        NodeCommand::Register { file } => {
            let document = Value::Object(documents::read_values(&file)?);
            let id = document["id"].as_str().unwrap_or_default().to_owned();
            let _: Value = client.put(&path(&id), &document).await?;
            screen.done(&document, &format!("node {id} is known"));
            Ok(())
        }
        NodeCommand::Delete { id, yes } => {
            let one: Value = client.get(&path(&id)).await?;
            if let Some(cluster) = one["clusterId"].as_str() {
                let detail = format!("node {id} belongs to cluster {cluster}");
                return Err(Failure::refused(detail, format!("cooperage cluster delete {cluster}")));
            }
            screen.confirm(&format!("Forget node {id}?"), yes.yes)?;
            client.delete(&path(&id)).await?;
            screen.done(&serde_json::json!({ "id": id }), &format!("node {id} is forgotten"));
            Ok(())
        }
    }
}

fn path(id: &str) -> String {
    format!("/v2/nodes/{}", segment(id))
}

async fn list(args: &ListArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let cluster = match &args.cluster {
        Some(text) => Some(super::cluster::id_of(client, text).await?),
        None => None,
    };
    show(screen, &args.watch, async || {
        let path = "/v2/nodes";
        let all: Vec<Value> = client.get(path).await?;
        let (mut nodes, mut kept) = (Vec::new(), Vec::new());
        for raw in all {
            let node: Node = understood(path, &raw)?;
            let is_wanted = cluster.as_ref().is_none_or(|id| node.cluster_id == *id)
                && args.service.as_ref().is_none_or(|name| node.properties.services.contains(name))
                && args.status.as_ref().is_none_or(|word| node.status == *word);
            if is_wanted {
                nodes.push(node);
                kept.push(raw);
            }
        }
        Ok(View { text: table(&nodes, screen.is_wide()), value: kept.into() })
    })
    .await
}

fn table(nodes: &[Node], is_wide: bool) -> String {
    let headings = ["CLUSTER", "NODE", "HOST", "ADDRESS", "STATUS", "SERVICES"];
    let mut table = Table::wide(is_wide, headings, ["ID", "HARDWARE", "IMAGE", "USER"]);
    for Node { id, cluster_id, status: word, properties } in nodes {
        let number = if properties.nodenum == 0 { String::new() } else { properties.nodenum.to_string() };
        let cells = [
            cluster_id.clone(),
            number,
            properties.hostname.clone().unwrap_or_default(),
            properties.ipaddresses.get("access_v4").cloned().unwrap_or_default(),
            status(word),
            properties.services.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
        ];
        let more = [
            id.clone(),
            properties.hardwaretype.clone(),
            properties.imagetype.clone(),
            properties.sshuser.clone(),
        ];
        table.wide_row(cells, more);
    }
    table.render("no nodes")
}
