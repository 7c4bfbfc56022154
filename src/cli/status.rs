//! `cooperage status`

use clap::Args;
use console::style;
use serde_json::json;

use super::args::WatchArgs;
use super::client::Client;
use super::duration::now;
use super::failure::Failure;
use super::screen::Screen;
use super::watching::{View, show};

/// Whether once or again and again.
#[derive(Debug, Clone, Args)]
pub struct StatusArgs {
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// Tells whether the server answers, and whether it lets us in.
///
/// # Errors
/// When it does not.
pub async fn run(args: StatusArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    show(screen, &args.watch, async || look(client).await).await
}

async fn look(client: &Client) -> Result<View, Failure> {
    let begun = now();
    client.get_text("/status").await?;
    let ms = now() - begun;
    let clusters: Vec<serde_json::Value> = client.get("/v2/clusters").await?;
    let pending = clusters.iter().filter(|cluster| cluster["status"] == "pending").count();
    let live = clusters.iter().filter(|cluster| cluster["status"] != "terminated").count();
    let version = env!("CARGO_PKG_VERSION");
    let result = json!({
        "server": client.server(), "reachable": true, "answeredInMs": ms,
        "clusters": live, "busy": pending, "client": version,
    });
    let text = format!(
        "{} {} answers in {ms} ms\n  clusters  {live}, {pending} of them busy\n  client    version {version}",
        style("✓").green(),
        client.server()
    );
    Ok(View { value: result, text })
}
