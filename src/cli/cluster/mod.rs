//! `cooperage cluster …`

mod config;
pub mod config_values;
mod create;
mod delete;
mod export;
mod failed;
mod find;
mod jobs;
mod lease;
mod list;
mod logs;
mod outcome;
mod plan;
mod preview;
mod services;
pub mod shapes;
mod show;
mod ssh;
mod wait;
mod why;

pub use create::create_and_watch;
pub use delete::delete_and_wait;
pub use find::id_of;
pub use plan::graph;
pub use show::nodes_table;

use serde_json::{Value, json};

use super::args::ClusterCommand;
use super::client::Client;
use super::duration;
use super::failure::Failure;
use super::screen::Screen;
use outcome::{begun, outcome};

/// Carries out one of the commands.
///
/// # Errors
/// What the command cannot do.
pub async fn run(command: ClusterCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ClusterCommand::Create(args) => create::run(&args, client, screen).await,
        ClusterCommand::List(args) => list::run(&args, client, screen).await,
        ClusterCommand::Show(seen) => show::run(&seen, client, screen).await,
        ClusterCommand::Status(seen) => show::job_status(&seen, client, screen).await,
        ClusterCommand::Nodes(seen) => show::nodes(&seen, client, screen).await,
        ClusterCommand::Services(seen) => services::list(&seen, client, screen).await,
        ClusterCommand::Config(args) => config::run(&args, client, screen).await,
        ClusterCommand::Plan(args) => plan::run(&args, client, screen).await,
        ClusterCommand::Why(args) => why::run(&args, client, screen).await,
        ClusterCommand::Jobs(seen) => jobs::run(&seen, client, screen).await,
        ClusterCommand::Watch { which, timeout } => {
            let limit = timeout.map(|text| duration::parse("--timeout", &text)).transpose()?;
            let id = id_of(client, &which.cluster).await?;
            outcome(client, &id, screen, limit).await
        }
        ClusterCommand::Wait(args) => wait::run(&args, client, screen).await,
        ClusterCommand::Logs(args) => logs::run(&args, client, screen).await,
        ClusterCommand::Ssh(args) => ssh::run(&args, client, screen).await,
        ClusterCommand::Export(args) => export::run(&args, client, screen).await,
        ClusterCommand::Start(args) => services::change("start", &args, client, screen).await,
        ClusterCommand::Stop(args) => services::change("stop", &args, client, screen).await,
        ClusterCommand::Restart(args) => services::change("restart", &args, client, screen).await,
        ClusterCommand::AddService(args) => services::add(&args, client, screen).await,
        ClusterCommand::Lease(args) => lease::run(&args, client, screen).await,
        ClusterCommand::Delete(args) => delete::run(&args, client, screen).await,
        ClusterCommand::Pause(which) => {
            let id = tell(&which.cluster, "pause", client).await?;
            let note = "nothing new starts, what is running ends; go on with: cooperage cluster resume";
            screen.done(&json!({ "id": id }), &format!("cluster {id}: {note} {id}"));
            Ok(())
        }
        ClusterCommand::Abort(which) => {
            let id = tell(&which.cluster, "abort", client).await?;
            let note = format!("cluster {id}: nothing new starts; what is running ends");
            screen.done(&json!({ "id": id }), &note);
            Ok(())
        }
        ClusterCommand::Sync(which) => {
            let id = tell(&which.cluster, "clustertemplate/sync", client).await?;
            let note = format!("cluster {id} has the newest version of its template");
            screen.done(&json!({ "id": id }), &note);
            Ok(())
        }
        ClusterCommand::Resume(job) => {
            job.wait.limit()?;
            let id = tell(&job.which.cluster, "resume", client).await?;
            begun(client, &id, screen, &job.wait).await
        }
        ClusterCommand::Retry(job) => {
            job.wait.limit()?;
            let id = tell(&job.which.cluster, "retry", client).await?;
            begun(client, &id, screen, &job.wait).await
        }
    }
}

/// Tells a cluster something that needs no words; its id.
async fn tell(which: &str, what: &str, client: &Client) -> Result<String, Failure> {
    let id = id_of(client, which).await?;
    let _: Value = client.post(&format!("/v2/clusters/{id}/{what}"), &Value::Null).await?;
    Ok(id)
}
