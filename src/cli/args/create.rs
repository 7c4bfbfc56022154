//! What can be said of a new cluster.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use cooperage_domain::layout::Objective;

use super::{FieldArgs, WaitArgs};
use crate::cli::complete;

/// What to create.
#[derive(Debug, Clone, Args)]
pub struct CreateArgs {
    /// Name of the cluster
    pub name: String,
    /// What it is made from
    #[arg(short, long, add = complete::templates())]
    pub template: String,
    /// Number of machines
    #[arg(short = 'n', long)]
    pub size: u32,
    /// Free text
    #[arg(long, default_value = "")]
    pub description: String,
    /// Where the machines come from; without it, the template's
    #[arg(long, add = complete::providers())]
    pub provider: Option<String>,
    /// A service; may be repeated, replaces the template's list
    #[arg(long = "service", value_name = "SERVICE", value_delimiter = ',', add = complete::services())]
    pub services: Vec<String>,
    /// Hardware type of all nodes; without it, the template's
    #[arg(long, add = complete::hardware())]
    pub hardware: Option<String>,
    /// Image type of all nodes; without it, the template's
    #[arg(long, add = complete::images())]
    pub image: Option<String>,
    /// What the layout is to be best at
    #[arg(long, value_enum, default_value_t)]
    pub objective: ObjectiveArg,
    /// A value of the configuration, over the template's; JSON where it is JSON, else text
    #[arg(long = "config", value_name = "PATH=VALUE")]
    pub config: Vec<String>,
    /// File (YAML, JSON or TOML) with values of the configuration, over the template's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config_file: Option<PathBuf>,
    /// How long it may live: 45m, 12h, 7d, forever
    #[arg(long, value_name = "TIME")]
    pub lease: Option<String>,
    /// How long before its end the lease is warned of: 30m, 1d, never
    #[arg(long = "lease-warning", value_name = "TIME")]
    pub warning: Option<String>,
    /// The cluster it is built upon, whose services it may take: id or name
    #[arg(long, value_name = "ID|NAME", add = complete::clusters())]
    pub parent: Option<String>,
    /// Domain of the host names
    #[arg(long, value_name = "DOMAIN")]
    pub dns_suffix: Option<String>,
    /// What the provider asks for.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// Show nodes, tasks and predicted time, and create nothing
    #[arg(long = "dry-run", visible_alias = "plan")]
    pub dry_run: bool,
    /// Show layouts to choose from, each the best at something, and create nothing
    #[arg(long, conflicts_with_all = ["dry_run", "draft", "objective"])]
    pub layouts: bool,
    /// Keep it as a draft that somebody commits later
    #[arg(long, conflicts_with = "dry_run")]
    pub draft: bool,
    /// What the draft is for
    #[arg(long, requires = "draft")]
    pub title: Option<String>,
    /// For how long to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// What a layout is to be best at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ObjectiveArg {
    /// Nodes that carry as many services as they may
    #[default]
    Services,
    /// The least price per hour of all machines together
    Cheapest,
    /// As few nodes as hold everything; the size is the most
    FewestNodes,
    /// Services that share nodes as little as possible
    Spread,
}

impl From<ObjectiveArg> for Objective {
    fn from(arg: ObjectiveArg) -> Self {
        match arg {
            ObjectiveArg::Services => Self::Services,
            ObjectiveArg::Cheapest => Self::Cheapest,
            ObjectiveArg::FewestNodes => Self::FewestNodes,
            ObjectiveArg::Spread => Self::Spread,
        }
    }
}
