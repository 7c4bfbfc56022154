//! `cooperage cluster …`

mod config_values;
mod create;
mod delete;
mod failed;
mod find;
mod list;
mod logs;
mod outcome;
mod plan;
mod preview;
pub mod shapes;
mod show;
mod ssh;

pub use create::create_and_watch;
pub use delete::delete_and_wait;
pub use plan::graph;
pub use show::nodes_table;

use serde_json::Value;

use super::args::ClusterCommand;
use super::client::Client;
use super::duration;
use super::failure::Failure;
use super::screen::Screen;
use outcome::outcome;

/// Carries out one of the commands.
///
/// # Errors
/// What the command cannot do.
pub async fn run(command: ClusterCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ClusterCommand::Create(args) => create::run(&args, client, screen).await,
        ClusterCommand::List { status, all } => list::run(&status, all, client, screen).await,
        ClusterCommand::Show(which) => show::run(&which.cluster, client, screen).await,
        ClusterCommand::Nodes(which) => show::nodes(&which.cluster, client, screen).await,
        ClusterCommand::Plan(args) => plan::run(&args, client, screen).await,
        ClusterCommand::Watch { which, timeout } => {
            let limit = timeout.map(|text| duration::parse("--timeout", &text)).transpose()?;
            let id = find::id_of(client, &which.cluster).await?;
            outcome(client, &id, screen, limit).await
        }
        ClusterCommand::Logs(args) => logs::run(&args, client, screen).await,
        ClusterCommand::Delete { which, yes, no_wait } => {
            delete::run(&which.cluster, yes, no_wait, client, screen).await
        }
        ClusterCommand::Abort(which) => {
            let id = find::id_of(client, &which.cluster).await?;
            let _: Value = client.post(&format!("/v2/clusters/{id}/abort"), &Value::Null).await?;
            screen.note(&format!("cluster {id}: nothing new starts; what is running ends"));
            Ok(())
        }
        ClusterCommand::Retry { which, no_wait } => {
            let id = find::id_of(client, &which.cluster).await?;
            let _: Value = client.post(&format!("/v2/clusters/{id}/retry"), &Value::Null).await?;
            if no_wait { Ok(()) } else { outcome(client, &id, screen, None).await }
        }
        ClusterCommand::Ssh(args) => ssh::run(&args, client, screen).await,
    }
}
