//! What can be done with clusters.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::draft::DraftCommand;
use super::{FieldArgs, PreviewArgs, WaitArgs, WatchArgs, YesArgs};
use crate::cli::complete;
use crate::exports::Format;

/// What to do with clusters.
#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Create a cluster and watch it come up
    #[command(after_help = "Examples:
  cooperage cluster create shop --template web --size 5
  cooperage cluster create shop --template web --size 5 --config counter.title=Shop --lease 7d
  cooperage cluster create shop --template web --size 5 --dry-run

Ctrl-C stops watching; the cluster goes on.")]
    Create(Box<CreateArgs>),
    /// List clusters
    #[command(
        visible_alias = "ls",
        after_help = "Examples:
  cooperage cluster list --status active,pending --watch
  cooperage cluster list --template web -o name"
    )]
    List(ListArgs),
    /// Show a cluster and its nodes
    #[command(
        visible_alias = "get",
        after_help = "Examples:
  cooperage cluster show shop
  cooperage cluster show shop --at 2027-01-31T18:00   as it was at that time here
  cooperage cluster show shop --at 120                as it was at revision 120
  cooperage cluster show shop --at 00000042-003       as it was when that job ended"
    )]
    Show(ShowArgs),
    /// Show how far the latest job is
    #[command(after_help = "Example: cooperage cluster status shop --watch")]
    Status(Seen),
    /// List the nodes of a cluster
    #[command(after_help = "Example: cooperage cluster nodes shop -o json")]
    Nodes(Seen),
    /// List the services of a cluster, with the nodes they are on
    #[command(after_help = "Example: cooperage cluster services shop")]
    Services(Seen),
    /// Show the configuration, or change it
    #[command(after_help = "Examples:
  cooperage cluster config shop
  cooperage cluster config shop --set nginx.port=8080 --dry-run
  cooperage cluster config shop --set nginx.port=8080 --unset redis.password --no-restart
  cooperage cluster config shop --edit
  cooperage cluster config shop --replace shop.yaml --timeout 10m

Services are configured anew and, unless told otherwise, restarted.")]
    Config(Box<ConfigArgs>),
    /// Show what was done, is done and will be done, node by node
    #[command(after_help = "Examples:
  cooperage cluster plan shop                  the latest job
  cooperage cluster plan shop 00000042-001     an earlier one")]
    Plan(PlanArgs),
    /// List the jobs of a cluster, newest first
    #[command(after_help = "Example: cooperage cluster jobs shop")]
    Jobs(Seen),
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
    /// Wait until no job is under way, or until the cluster has a status
    #[command(after_help = "Examples:
  cooperage cluster wait shop --timeout 15m
  cooperage cluster wait shop --for terminated --timeout 1h

For scripts: there is no result, the exit code says how it went.")]
    Wait(WaitForArgs),
    /// Show what tasks printed
    #[command(
        visible_alias = "log",
        after_help = "Examples:
  cooperage cluster logs shop --follow
  cooperage cluster logs shop --node 1001 --task INSTALL --tail 50"
    )]
    Logs(LogsArgs),
    /// Log in to a node, with its pinned host key
    #[command(after_help = "Examples:
  cooperage cluster ssh shop 1000
  cooperage cluster ssh shop 1000 -- uptime
  cooperage cluster ssh shop 1000 --print")]
    Ssh(SshArgs),
    /// Write a cluster's nodes down for other programs
    #[command(after_help = "Examples:
  cooperage cluster export shop --format ansible --to inventory.yaml
  cooperage cluster export shop --format ssh-config >> ~/.ssh/config
  cooperage cluster export shop --format hosts
  cooperage cluster export shop --format prometheus --port 9100 --to targets/shop.json")]
    Export(ExportArgs),
    /// Start all services, or one with those it needs
    #[command(after_help = "Examples:
  cooperage cluster start shop
  cooperage cluster start shop nginx --no-wait")]
    Start(ServicesArgs),
    /// Stop all services, or one with those that need it
    #[command(after_help = "Example: cooperage cluster stop shop nginx")]
    Stop(ServicesArgs),
    /// Restart all services, or one with those that need it
    #[command(after_help = "Example: cooperage cluster restart shop nginx --timeout 5m")]
    Restart(ServicesArgs),
    /// Add services on the nodes that are there
    #[command(
        visible_alias = "add-services",
        after_help = "Example: cooperage cluster add-service shop redis"
    )]
    AddService(AddServiceArgs),
    /// Start nothing new; what is running ends
    #[command(after_help = "Example: cooperage cluster pause shop")]
    Pause(Told),
    /// Go on with a job that was paused
    #[command(after_help = "Example: cooperage cluster resume shop")]
    Resume(Job),
    /// Stop creating a cluster; what is running ends, nothing new starts
    #[command(after_help = "Example: cooperage cluster abort shop")]
    Abort(Told),
    /// Go on with a job that failed: only what is not done is done
    #[command(after_help = "Example: cooperage cluster retry shop")]
    Retry(Job),
    /// Show when the lease ends, or let it end at another time
    #[command(
        visible_alias = "prolong",
        after_help = "Examples:
  cooperage cluster lease shop
  cooperage cluster lease shop --by 2h                    2 hours later than now agreed
  cooperage cluster lease shop --in 7d                    7 days from now
  cooperage cluster lease shop --until 2027-01-31T18:00   at that time here"
    )]
    Lease(LeaseArgs),
    /// Take over the newest version of the cluster's template
    #[command(after_help = "Example: cooperage cluster sync shop")]
    Sync(Told),
    /// Delete a cluster with all its machines
    #[command(visible_alias = "rm", after_help = "Example: cooperage cluster delete shop")]
    Delete(DeleteArgs),
    /// Carry out exactly what a saved plan showed; refused when the cluster has moved on
    #[command(after_help = "Examples:
  cooperage cluster restart shop --plan --save restart.json
  cooperage cluster apply-plan shop restart.json
  cooperage cluster apply-plan shop 3")]
    ApplyPlan(ApplyPlanArgs),
    /// Changes that are thought up now and made later
    #[command(subcommand, visible_alias = "drafts")]
    Draft(DraftCommand),
    /// Show everything that happened to a cluster, newest first
    #[command(after_help = "Examples:
  cooperage cluster history shop
  cooperage cluster history shop --job 3 --limit 1000
  cooperage cluster history shop --kind config_replaced,job_planned")]
    History(HistoryArgs),
    /// Show what is different between two moments of a cluster
    #[command(after_help = "Examples:
  cooperage cluster diff shop 120                     since revision 120
  cooperage cluster diff shop 00000042-003 00000042-005
  cooperage cluster diff shop 2027-01-31T18:00 2027-02-01T18:00")]
    Diff(ClusterDiffArgs),
}

/// What is told a cluster without any more words.
#[derive(Debug, Clone, Args)]
pub struct Told {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Whether it is only shown.
    #[command(flatten)]
    pub preview: PreviewArgs,
}

/// A cluster that is looked at, now or as it was.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Which cluster, and whether again and again.
    #[command(flatten)]
    pub seen: Seen,
    /// As it was then: a time, a revision, or the id of a job
    #[arg(long, value_name = "TIME|REVISION|JOB", conflicts_with = "watch")]
    pub at: Option<String>,
}

/// Which plan to carry out.
#[derive(Debug, Clone, Args)]
pub struct ApplyPlanArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Number of the plan, or the file it was written to
    #[arg(value_name = "PLAN|FILE", value_hint = ValueHint::FilePath)]
    pub plan: String,
    /// For how long to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Which part of the past.
#[derive(Debug, Clone, Args)]
pub struct HistoryArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Only of this job: id or number
    #[arg(long, add = complete::jobs())]
    pub job: Option<String>,
    /// Only events of these kinds, as the last column of -o wide shows them
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub kind: Vec<String>,
    /// Only before this revision
    #[arg(long, value_name = "REVISION")]
    pub before: Option<u64>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
}

/// Which two moments.
#[derive(Debug, Clone, Args)]
pub struct ClusterDiffArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// The earlier one: a time, a revision, or the id of a job
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The later one; without it, now
    #[arg(value_name = "TO")]
    pub to: Option<String>,
}

/// Which cluster.
#[derive(Debug, Clone, Args)]
pub struct Which {
    /// Its id, or its name if no other cluster has it
    #[arg(value_name = "ID|NAME", add = complete::clusters())]
    pub cluster: String,
}

/// A cluster that is looked at.
#[derive(Debug, Clone, Args)]
pub struct Seen {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// A cluster whose job is waited for.
#[derive(Debug, Clone, Args)]
pub struct Job {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// For how long.
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Whether it is only shown.
    #[command(flatten)]
    pub preview: PreviewArgs,
}

/// Which clusters.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Only these: pending, active, incomplete, inconsistent, terminated
    #[arg(long, value_delimiter = ',')]
    pub status: Vec<String>,
    /// Only those made from this template
    #[arg(short, long, add = complete::templates())]
    pub template: Option<String>,
    /// Only those of this user
    #[arg(long, value_name = "USER")]
    pub owner: Option<String>,
    /// Terminated ones too
    #[arg(short, long)]
    pub all: bool,
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
}

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
    /// A value of the configuration, over the template's; JSON where it is JSON, else text
    #[arg(long = "config", value_name = "PATH=VALUE")]
    pub config: Vec<String>,
    /// File (YAML, JSON or TOML) with values of the configuration, over the template's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config_file: Option<PathBuf>,
    /// How long it may live: 45m, 12h, 7d, forever
    #[arg(long, value_name = "TIME")]
    pub lease: Option<String>,
    /// Domain of the host names
    #[arg(long, value_name = "DOMAIN")]
    pub dns_suffix: Option<String>,
    /// What the provider asks for.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// Show nodes, tasks and predicted time, and create nothing
    #[arg(long = "dry-run", visible_alias = "plan")]
    pub dry_run: bool,
    /// For how long to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Which configuration.
#[derive(Debug, Clone, Args)]
pub struct ConfigArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Another value; JSON where it is JSON, else text
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// A value to take away
    #[arg(long = "unset", value_name = "PATH")]
    pub unset: Vec<String>,
    /// File (YAML, JSON or TOML) with values laid over those there are
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub merge: Option<PathBuf>,
    /// File (YAML, JSON or TOML) with the whole configuration
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "merge")]
    pub replace: Option<PathBuf>,
    /// Open the whole configuration in VISUAL, EDITOR or vi
    #[arg(long, conflicts_with_all = ["set", "unset", "merge", "replace"])]
    pub edit: bool,
    /// Do not restart services
    #[arg(long)]
    pub no_restart: bool,
    /// Whether it is only shown.
    #[command(flatten)]
    pub preview: PreviewArgs,
    /// What the provider asks for.
    #[command(flatten)]
    pub fields: FieldArgs,
    /// For how long to wait.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Which plan.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Id or number of the job; without it, the latest
    #[arg(add = complete::jobs())]
    pub job: Option<String>,
    /// Show stages: what could run side by side
    #[arg(long)]
    pub stages: bool,
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// What to wait for.
#[derive(Debug, Clone, Args)]
pub struct WaitForArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Until it is so: active, incomplete, inconsistent, terminated; without it, until no job is under way
    #[arg(long = "for", value_name = "STATUS")]
    pub status: Option<String>,
    /// Stop waiting after this time (30s, 10m, 1h)
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
}

/// Which output.
#[derive(Debug, Clone, Args)]
pub struct LogsArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Only this node: number, host name or id
    #[arg(long, add = complete::nodes())]
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
    #[arg(add = complete::nodes())]
    pub node: String,
    /// Print the command instead of running it
    #[arg(long)]
    pub print: bool,
    /// What to run there; without it, a shell
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What to write down.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// For which program
    #[arg(short, long, value_enum)]
    pub format: Format,
    /// Port of the targets (prometheus)
    #[arg(long, default_value_t = crate::exports::NODE_EXPORTER_PORT)]
    pub port: u16,
    /// Only nodes with this service; may be repeated
    #[arg(long = "service", value_name = "SERVICE", add = complete::services_of_cluster())]
    pub services: Vec<String>,
    /// File to write, instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub to: Option<PathBuf>,
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

/// When a lease ends.
#[derive(Debug, Clone, Args)]
pub struct LeaseArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// So much later than it ends now
    #[arg(long, value_name = "TIME", group = "end")]
    pub by: Option<String>,
    /// So long from now
    #[arg(long = "in", value_name = "TIME", group = "end")]
    pub from_now: Option<String>,
    /// At this time: 2027-01-31T18:00 here, or with a time zone
    #[arg(long, value_name = "TIME", group = "end")]
    pub until: Option<String>,
    /// Whether it is only shown.
    #[command(flatten)]
    pub preview: PreviewArgs,
}

/// What to delete.
#[derive(Debug, Clone, Args)]
pub struct DeleteArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Whether to ask.
    #[command(flatten)]
    pub yes: YesArgs,
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
