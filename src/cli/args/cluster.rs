//! What can be done with clusters.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with clusters.
#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Create a cluster and watch it come up
    #[command(after_help = "Examples:
  cooperage cluster create shop --template web --size 5
  cooperage cluster create shop --template web --size 5 --config counter.title=Shop --lease 7d
  cooperage cluster create shop --template web --size 5 --plan

Ctrl-C stops watching; the cluster goes on.")]
    Create(Box<CreateArgs>),
    /// List clusters
    #[command(visible_alias = "ls", after_help = "Example: cooperage cluster list --status active,pending")]
    List {
        /// Only these: pending, active, incomplete, inconsistent, terminated
        #[arg(long, value_delimiter = ',')]
        status: Vec<String>,
        /// Terminated ones too
        #[arg(short, long)]
        all: bool,
    },
    /// Show a cluster and its nodes
    #[command(after_help = "Example: cooperage cluster show shop")]
    Show(Which),
    /// Show what was done, is done and will be done, node by node
    #[command(after_help = "Examples:
  cooperage cluster plan shop                  the latest job
  cooperage cluster plan shop 00000042-001     an earlier one")]
    Plan(PlanArgs),
    /// Watch the running job until it ends
    #[command(after_help = "Example: cooperage cluster watch shop")]
    Watch {
        /// Which cluster.
        #[command(flatten)]
        which: Which,
        /// Stop watching after this time
        #[arg(long, value_name = "TIME")]
        timeout: Option<String>,
    },
    /// Show what tasks printed
    #[command(after_help = "Examples:
  cooperage cluster logs shop --follow
  cooperage cluster logs shop --node 1001 --task INSTALL --tail 50")]
    Logs(LogsArgs),
    /// Delete a cluster with all its machines
    #[command(after_help = "Example: cooperage cluster delete shop")]
    Delete {
        /// Which cluster.
        #[command(flatten)]
        which: Which,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
        /// Do not wait until it is gone
        #[arg(long)]
        no_wait: bool,
    },
    /// Stop creating a cluster; what is running ends, nothing new starts
    #[command(after_help = "Example: cooperage cluster abort shop")]
    Abort(Which),
    /// Go on with a job that failed: only what is not done is done
    #[command(after_help = "Example: cooperage cluster retry shop")]
    Retry {
        /// Which cluster.
        #[command(flatten)]
        which: Which,
        /// Do not wait until it is done
        #[arg(long)]
        no_wait: bool,
    },
    /// List the nodes of a cluster
    #[command(after_help = "Example: cooperage cluster nodes shop -o json")]
    Nodes(Which),
    /// Log in to a node, with its pinned host key
    #[command(after_help = "Examples:
  cooperage cluster ssh shop 1000
  cooperage cluster ssh shop 1000 -- uptime
  cooperage cluster ssh shop 1000 --print")]
    Ssh(SshArgs),
}

/// Which cluster.
#[derive(Debug, Clone, Args)]
pub struct Which {
    /// Its id, or its name if no other cluster has it
    #[arg(value_name = "ID|NAME")]
    pub cluster: String,
}

/// What to create.
#[derive(Debug, Clone, Args)]
pub struct CreateArgs {
    /// Name of the cluster
    pub name: String,
    /// What it is made from
    #[arg(short, long)]
    pub template: String,
    /// Number of machines
    #[arg(short = 'n', long)]
    pub size: u32,
    /// Free text
    #[arg(long, default_value = "")]
    pub description: String,
    /// Where the machines come from; without it, the template's
    #[arg(long)]
    pub provider: Option<String>,
    /// A service; may be repeated, replaces the template's list
    #[arg(long = "service", value_name = "SERVICE", value_delimiter = ',')]
    pub services: Vec<String>,
    /// Hardware type of all nodes; without it, the template's
    #[arg(long)]
    pub hardware: Option<String>,
    /// Image type of all nodes; without it, the template's
    #[arg(long)]
    pub image: Option<String>,
    /// A value of the configuration, over the template's; JSON where it is JSON, else text
    #[arg(long = "config", value_name = "PATH=VALUE")]
    pub config: Vec<String>,
    /// File (YAML, JSON or TOML) with values of the configuration, over the template's
    #[arg(long, value_name = "FILE")]
    pub config_file: Option<PathBuf>,
    /// How long it may live: 45m, 12h, 7d, forever
    #[arg(long, value_name = "TIME")]
    pub lease: Option<String>,
    /// Domain of the host names
    #[arg(long, value_name = "DOMAIN")]
    pub dns_suffix: Option<String>,
    /// A field the provider asks for
    #[arg(long = "provider-field", value_name = "NAME=VALUE")]
    pub provider_fields: Vec<String>,
    /// Show nodes, tasks and predicted time, and create nothing
    #[arg(long, visible_alias = "dry-run")]
    pub plan: bool,
    /// Do not wait until it is up
    #[arg(long)]
    pub no_wait: bool,
    /// Stop waiting after this time (30s, 10m, 1h); the cluster goes on
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
}

/// Which plan.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Id or number of the job; without it, the latest
    pub job: Option<String>,
    /// Show stages: what could run side by side
    #[arg(long)]
    pub stages: bool,
}

/// Which output.
#[derive(Debug, Clone, Args)]
pub struct LogsArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Only this node: number, host name or id
    #[arg(long)]
    pub node: Option<String>,
    /// Only these tasks: id, number, or words such as INSTALL or "START nginx"
    #[arg(long)]
    pub task: Option<String>,
    /// Go on until the job ends
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last lines
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
}

/// Which node.
#[derive(Debug, Clone, Args)]
pub struct SshArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Which node: number, host name or id
    pub node: String,
    /// Print the command instead of running it
    #[arg(long)]
    pub print: bool,
    /// What to run there; without it, a shell
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
