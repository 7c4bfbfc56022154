//! What can be done with clusters.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::ancestry::FoundationArgs;
use super::care::{HealthArgs, MaintenanceArgs};
use super::create::CreateArgs;
use super::draft::{ApplyPlanArgs, DraftCommand};
use super::export::ExportArgs;
use super::living::{
    AddServiceArgs, CancelArgs, ConvergeArgs, ErrandArgs, MachinesArgs, RemoveServiceArgs, ResizeArgs,
    RollBackArgs, ServicesArgs, SetArgs, UpgradeArgs, ValuesArgs,
};
use super::logs::LogsArgs;
use super::past::{ClusterDiffArgs, HistoryArgs, PlanArgs, ShowArgs};
use super::placement::PlacementArgs;
use super::{FieldArgs, PreviewArgs, WaitArgs, WatchArgs, YesArgs};
use crate::cli::complete;

/// What to do with clusters.
#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Create a cluster and watch it come up
    #[command(after_help = "Examples:
  cooperage cluster create shop --template web --size 5
  cooperage cluster create shop --template web --size 5 --config counter.title=Shop --lease 7d
  cooperage cluster create shop --template web --size 5 --parent base
  cooperage cluster create shop --template web --size 5 --dry-run
  cooperage cluster create shop --template web --size 5 --layouts    to choose from
  cooperage cluster create shop --template web --size 5 --objective cheapest

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
    /// Show the values that services see, and which layer each comes from
    #[command(after_help = "Examples:
  cooperage cluster values shop                what all nodes have in common
  cooperage cluster values shop --node 1003    what the services of one node see
  cooperage cluster values shop --node 1003 -o json")]
    Values(ValuesArgs),
    /// Say why services are on the nodes they are on, and why not on the others
    #[command(after_help = "Examples:
  cooperage cluster placement shop
  cooperage cluster placement shop haproxy    of one service")]
    Placement(PlacementArgs),
    /// Say of each task that waits why it does
    #[command(after_help = "Examples:
  cooperage cluster why shop
  cooperage cluster why shop 12             one task, by its number
  cooperage cluster why shop --watch")]
    Why(WhyArgs),
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
  cooperage cluster logs shop --node 1001 --task INSTALL --tail 50
  cooperage cluster logs shop --search error --ignore-case --follow
  cooperage cluster logs shop --search 'timed out after [0-9]+ s' --regex --tail 20"
    )]
    Logs(LogsArgs),
    /// Log in to a node, with its pinned host key
    #[command(after_help = "Examples:
  cooperage cluster ssh shop 1000
  cooperage cluster ssh shop 1000 -- uptime
  cooperage cluster ssh shop 1000 --print")]
    Ssh(SshArgs),
    /// Show the cluster that all new ones are built upon, or name another one
    #[command(after_help = "Examples:
  cooperage cluster foundation
  cooperage cluster foundation site
  cooperage cluster foundation --none")]
    Foundation(FoundationArgs),
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
    /// Take services off a cluster: they are stopped and removed
    #[command(
        visible_alias = "remove-services",
        after_help = "Example: cooperage cluster remove-service shop redis --plan"
    )]
    RemoveService(Box<RemoveServiceArgs>),
    /// Make more machines, or give some back
    #[command(
        visible_alias = "scale",
        after_help = "Examples:
  cooperage cluster resize shop 6                      to 6 machines in all
  cooperage cluster resize shop --service nginx=+2     two more with nginx
  cooperage cluster resize shop 4 --plan               which ones would go, and why
  cooperage cluster resize shop --remove 1004"
    )]
    Resize(Box<ResizeArgs>),
    /// Make machines anew that work, with all that is on them
    #[command(after_help = "Example: cooperage cluster replace shop 1003 1004 --max-in-flight 1")]
    Replace(Box<MachinesArgs>),
    /// Make machines anew that are lost
    #[command(after_help = "Example: cooperage cluster heal shop 1003")]
    Heal(Box<MachinesArgs>),
    /// Change values; only services that take them are brought up again
    #[command(after_help = "Examples:
  cooperage cluster set shop counter.title=Sale --plan
  cooperage cluster set shop nginx.port=8080 --canary 1 --hold 30s --on-failure roll-back")]
    Set(Box<SetArgs>),
    /// Bring a cluster to newer versions of its template and services
    #[command(after_help = "Examples:
  cooperage cluster upgrade shop --plan
  cooperage cluster upgrade shop --service counter --canary 1 --max-in-flight 2 --hold 1m --on-failure roll-back")]
    Upgrade(Box<UpgradeArgs>),
    /// Go back to what was wanted before the last change, or at a revision
    #[command(
        visible_alias = "roll-back",
        after_help = "Examples:
  cooperage cluster rollback shop --plan
  cooperage cluster rollback shop 120"
    )]
    Rollback(Box<RollBackArgs>),
    /// Look at every service, and mend what is not as wanted
    #[command(
        visible_alias = "anneal",
        after_help = "Examples:
  cooperage cluster converge shop
  cooperage cluster converge shop --only-look"
    )]
    Converge(Box<ConvergeArgs>),
    /// Run an errand of a service, such as a backup
    #[command(after_help = "Example: cooperage cluster errand shop redis backup")]
    Errand(Box<ErrandArgs>),
    /// Stop whatever is under way, and undo it if so asked
    #[command(after_help = "Example: cooperage cluster cancel shop --undo")]
    Cancel(Box<CancelArgs>),
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
    /// Show how machines and services are, or say what happens when machines are down
    #[command(after_help = "Examples:
  cooperage cluster health shop --watch
  cooperage cluster health shop --heal auto       replace machines that are down
  cooperage cluster health shop --heal template   do as the template says")]
    Health(HealthArgs),
    /// Leave a cluster or a node alone, or no longer
    #[command(after_help = "Examples:
  cooperage cluster maintenance shop on --node 1001 --reason 'new disks'
  cooperage cluster maintenance shop off --node 1001

What runs ends; nothing new starts there, it is not probed and not healed. What waits goes on when it ends.")]
    Maintenance(MaintenanceArgs),
    /// Let the lease end so much later
    #[command(after_help = "Example: cooperage cluster extend shop 2d")]
    Extend {
        /// Which cluster.
        #[command(flatten)]
        which: Which,
        /// How much later than it ends now
        #[arg(value_name = "TIME")]
        by: String,
        /// Whether it is only shown.
        #[command(flatten)]
        preview: PreviewArgs,
    },
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

/// What waits.
#[derive(Debug, Clone, Args)]
pub struct WhyArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Id or number of a task, or what it is called; without it, all that wait
    pub task: Option<String>,
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
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
    /// Only those that are built upon this one: its id, or its name if no other cluster has it
    #[arg(long, value_name = "ID|NAME", add = complete::clusters())]
    pub parent: Option<String>,
    /// Terminated ones too
    #[arg(short, long)]
    pub all: bool,
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
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
    /// Stop a job under way for it
    #[arg(long)]
    pub now: bool,
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
