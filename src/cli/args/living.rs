//! Operations on clusters that live.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::cluster::Which;
use super::{FieldArgs, PreviewArgs, WaitArgs};
use crate::cli::complete;
use crate::cli::duration;
use crate::cli::failure::Failure;

/// What all operations have: the cluster, and how they are asked for.
#[derive(Debug, Clone, Args)]
pub struct Operation {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Values for the provider.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// For how long to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Whether it is only shown.
    #[command(flatten)]
    pub preview: PreviewArgs,
}

/// How a change goes through the nodes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Rollout")]
pub struct RolloutArgs {
    /// So many nodes first, alone
    #[arg(long, value_name = "N")]
    pub canary: Option<u32>,
    /// At most so many nodes at a time
    #[arg(long, value_name = "N")]
    pub max_in_flight: Option<u32>,
    /// Pause between two batches: 30s, 5m
    #[arg(long, value_name = "TIME")]
    pub pause: Option<String>,
    /// How long a service's probe must hold before the next batch: 30s, 5m
    #[arg(long, value_name = "TIME")]
    pub hold: Option<String>,
    /// What becomes of it when a task fails for good
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_failure: Option<OnFailure>,
}

/// What becomes of a rollout when a task fails for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnFailure {
    /// It ends there; `retry` goes on
    Stop,
    /// It pauses; `resume` tries again
    Pause,
    /// What was wanted before is wanted again
    RollBack,
}

impl RolloutArgs {
    /// Puts it into a request, if there is any.
    ///
    /// # Errors
    /// When a time is no length of time.
    pub fn put_into(&self, body: &mut Value) -> Result<(), Failure> {
        let ms = |flag: &'static str, text: &Option<String>| {
            let parsed = text.as_deref().map(|text| duration::parse(flag, text)).transpose()?;
            Ok::<_, Failure>(parsed.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
        };
        let mut rollout = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                rollout.insert(key.to_owned(), value);
            }
        };
        put("canary", self.canary.map(Value::from));
        put("maxInFlight", self.max_in_flight.map(Value::from));
        put("pause", ms("--pause", &self.pause)?.map(Value::from));
        put("hold", ms("--hold", &self.hold)?.map(Value::from));
        let word = |on_failure| match on_failure {
            OnFailure::Stop => "stop",
            OnFailure::Pause => "pause",
            OnFailure::RollBack => "roll_back",
        };
        put("onFailure", self.on_failure.map(|it| word(it).into()));
        if !rollout.is_empty() {
            body["rollout"] = json!(rollout);
        }
        Ok(())
    }
}

/// To what a cluster is resized.
#[derive(Debug, Clone, Args)]
pub struct ResizeArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// Number of machines in all
    #[arg(value_name = "MACHINES", required_unless_present_any = ["service", "remove"])]
    pub machines: Option<u32>,
    /// So many more nodes that carry a service, or so many fewer; may be repeated
    #[arg(long, value_name = "SERVICE=+N|-N", conflicts_with_all = ["machines", "remove"], allow_hyphen_values = true)]
    pub service: Vec<String>,
    /// A node that goes: number, host name or id; may be repeated
    #[arg(long, value_name = "NODE", conflicts_with = "machines")]
    pub remove: Vec<String>,
    /// Hardware type of new nodes
    #[arg(long, add = complete::hardware())]
    pub hardware: Option<String>,
    /// Image type of new nodes
    #[arg(long, add = complete::images())]
    pub image: Option<String>,
}

/// Services that go.
#[derive(Debug, Clone, Args)]
pub struct RemoveServiceArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// Their names
    #[arg(required = true, value_name = "SERVICE", add = complete::services())]
    pub services: Vec<String>,
}

/// Machines that are made anew.
#[derive(Debug, Clone, Args)]
pub struct MachinesArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// Numbers, host names or ids
    #[arg(required = true, value_name = "NODE")]
    pub nodes: Vec<String>,
    /// How it goes through them.
    #[command(flatten)]
    pub rollout: RolloutArgs,
}

/// Values that change.
#[derive(Debug, Clone, Args)]
pub struct SetArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// A value of the configuration; JSON where it is JSON, else text
    #[arg(value_name = "PATH=VALUE", required_unless_present = "unset")]
    pub values: Vec<String>,
    /// A value that goes; may be repeated
    #[arg(long, value_name = "PATH")]
    pub unset: Vec<String>,
    /// For this node alone, by its id, number or host name; may be repeated
    #[arg(long = "node", value_name = "NODE")]
    pub nodes: Vec<String>,
    /// How it goes through the nodes.
    #[command(flatten)]
    pub rollout: RolloutArgs,
}

/// Whose values are shown.
#[derive(Debug, Clone, Args)]
pub struct ValuesArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// What the services of this node see: its id, number or host name
    #[arg(long)]
    pub node: Option<String>,
}

/// What is brought to newer versions.
#[derive(Debug, Clone, Args)]
pub struct UpgradeArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// Only this service, to its newest version or the one named; may be repeated
    #[arg(long = "service", value_name = "SERVICE[=VERSION]", add = complete::services())]
    pub services: Vec<String>,
    /// Leave the template as it is
    #[arg(long)]
    pub no_template: bool,
    /// How it goes through the nodes.
    #[command(flatten)]
    pub rollout: RolloutArgs,
}

/// What is gone back to.
#[derive(Debug, Clone, Args)]
pub struct RollBackArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// A revision, as `cooperage cluster history` lists them; without it, before the last change
    pub revision: Option<u64>,
    /// How it goes through the nodes.
    #[command(flatten)]
    pub rollout: RolloutArgs,
}

/// What is looked at, and mended.
#[derive(Debug, Clone, Args)]
pub struct ConvergeArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// Only look at every service; mend nothing
    #[arg(long)]
    pub only_look: bool,
}

/// An errand of a service.
#[derive(Debug, Clone, Args)]
pub struct ErrandArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// The service
    #[arg(add = complete::services())]
    pub service: String,
    /// The errand's name
    pub errand: String,
    /// On this node: number, host name or id; may be repeated. Without it, where the errand says
    #[arg(long = "node", value_name = "NODE")]
    pub nodes: Vec<String>,
}

/// How what is under way is stopped.
#[derive(Debug, Clone, Args)]
pub struct CancelArgs {
    /// The cluster.
    #[command(flatten)]
    pub on: Operation,
    /// Go back to what was wanted before; a create that is undone is deleted
    #[arg(long)]
    pub undo: bool,
}

/// Which services.
#[derive(Debug, Clone, Args)]
pub struct ServicesArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Which service; without it, all
    #[arg(add = complete::services_of_cluster())]
    pub service: Option<String>,
    /// What the provider asks for.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// For how long to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Whether it is only shown.
    #[command(flatten)]
    pub preview: PreviewArgs,
}

/// What to add.
#[derive(Debug, Clone, Args)]
pub struct AddServiceArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Which services
    #[arg(required = true, value_name = "SERVICE", add = complete::services())]
    pub services: Vec<String>,
    /// What the provider asks for.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// For how long to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Whether it is only shown.
    #[command(flatten)]
    pub preview: PreviewArgs,
}
