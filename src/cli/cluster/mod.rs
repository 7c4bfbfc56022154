//! `cooperage cluster …`

mod ancestry;
mod care;
mod config;
pub mod config_values;
mod create;
mod delete;
mod diff;
mod draft;
mod export;
mod failed;
mod find;
mod history;
mod jobs;
mod layouts;
mod lease;
mod list;
mod living;
mod logs;
mod outcome;
mod placement;
mod plan;
mod planned;
mod preview;
mod services;
pub mod shapes;
mod show;
mod ssh;
mod values;
mod wait;
mod why;

pub use config::edited;
pub use create::create_and_watch;
pub use delete::delete_and_wait;
pub use find::{id_of, node_of};
pub use outcome::begun;
pub use plan::graph;
pub use planned::text as planned_text;
pub use show::nodes_table;

use serde_json::{Value, json};

use super::args::cluster::Job;
use super::args::{ClusterCommand, LeaseArgs, Told};
use super::client::Client;
use super::duration;
use super::failure::Failure;
use super::screen::Screen;
use outcome::outcome;
use planned::Verb;

/// Carries out one of the commands.
///
/// # Errors
/// What the command cannot do.
pub async fn run(command: ClusterCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ClusterCommand::Create(args) => create::run(&args, client, screen).await,
        ClusterCommand::List(args) => list::run(&args, client, screen).await,
        ClusterCommand::Show(args) => show::run(&args, client, screen).await,
        ClusterCommand::Status(seen) => show::job_status(&seen, client, screen).await,
        ClusterCommand::Nodes(seen) => show::nodes(&seen, client, screen).await,
        ClusterCommand::Services(seen) => services::list(&seen, client, screen).await,
        ClusterCommand::Config(args) => config::run(&args, client, screen).await,
        ClusterCommand::Plan(args) => plan::run(&args, client, screen).await,
        ClusterCommand::Values(args) => values::run(&args, client, screen).await,
        ClusterCommand::Placement(args) => placement::run(&args, client, screen).await,
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
        ClusterCommand::Foundation(args) => ancestry::run(&args, client, screen).await,
        ClusterCommand::Export(args) => export::run(&args, client, screen).await,
        ClusterCommand::Lease(args) => lease::run(&args, client, screen).await,
        ClusterCommand::Health(args) => care::health(&args, client, screen).await,
        ClusterCommand::Maintenance(args) => care::maintenance(&args, client, screen).await,
        ClusterCommand::Extend { which, by, preview } => {
            let args = LeaseArgs { which, by: Some(by), from_now: None, until: None, preview };
            lease::run(&args, client, screen).await
        }
        ClusterCommand::Delete(args) => delete::run(&args, client, screen).await,
        ClusterCommand::ApplyPlan(args) => planned::apply(&args, client, screen).await,
        ClusterCommand::Draft(command) => draft::run(command, client, screen).await,
        ClusterCommand::History(args) => history::run(&args, client, screen).await,
        ClusterCommand::Diff(args) => diff::run(&args, client, screen).await,
        operation => operate(operation, client, screen).await,
    }
}

/// Carries out one of the commands that change what a cluster does.
async fn operate(command: ClusterCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ClusterCommand::Start(args) => services::change("start", &args, client, screen).await,
        ClusterCommand::Stop(args) => services::change("stop", &args, client, screen).await,
        ClusterCommand::Restart(args) => services::change("restart", &args, client, screen).await,
        ClusterCommand::AddService(args) => services::add(&args, client, screen).await,
        ClusterCommand::Resize(args) => living::resize(&args, client, screen).await,
        ClusterCommand::RemoveService(args) => living::remove_service(&args, client, screen).await,
        ClusterCommand::Replace(args) => living::make_anew("replace", &args, client, screen).await,
        ClusterCommand::Heal(args) => living::make_anew("heal", &args, client, screen).await,
        ClusterCommand::Set(args) => living::set(&args, client, screen).await,
        ClusterCommand::Upgrade(args) => living::upgrade(&args, client, screen).await,
        ClusterCommand::Rollback(args) => living::roll_back(&args, client, screen).await,
        ClusterCommand::Converge(args) => living::converge(&args, client, screen).await,
        ClusterCommand::Errand(args) => living::errand(&args, client, screen).await,
        ClusterCommand::Cancel(args) => living::cancel(&args, client, screen).await,
        ClusterCommand::Pause(told) => {
            let Some(id) = tell(&told, "pause", client, screen).await? else { return Ok(()) };
            let note = "nothing new starts, what is running ends; go on with: cooperage cluster resume";
            screen.done(&json!({ "id": id }), &format!("cluster {id}: {note} {id}"));
            Ok(())
        }
        ClusterCommand::Abort(told) => {
            let Some(id) = tell(&told, "abort", client, screen).await? else { return Ok(()) };
            let note = format!("cluster {id}: nothing new starts; what is running ends");
            screen.done(&json!({ "id": id }), &note);
            Ok(())
        }
        ClusterCommand::Sync(told) => {
            let Some(id) = tell(&told, "clustertemplate/sync", client, screen).await? else { return Ok(()) };
            let note = format!("cluster {id} has the newest version of its template");
            screen.done(&json!({ "id": id }), &note);
            Ok(())
        }
        ClusterCommand::Resume(job) => go_on(job, "resume", client, screen).await,
        ClusterCommand::Retry(job) => go_on(job, "retry", client, screen).await,
        // All others are carried out by `run`.
        _ => Ok(()),
    }
}

async fn go_on(job: Job, what: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    job.wait.limit()?;
    let told = Told { which: job.which, preview: job.preview };
    match tell(&told, what, client, screen).await? {
        Some(id) => begun(client, &id, screen, &job.wait).await,
        None => Ok(()),
    }
}

/// Tells a cluster something that needs no words; its id. Nothing: it was only shown.
async fn tell(told: &Told, what: &str, client: &Client, screen: &Screen) -> Result<Option<String>, Failure> {
    let id = id_of(client, &told.which.cluster).await?;
    let path = format!("/v2/clusters/{id}/{what}");
    let is_made = planned::change(Verb::Post, &path, &Value::Null, &told.preview, client, screen).await?;
    Ok(is_made.then_some(id))
}
