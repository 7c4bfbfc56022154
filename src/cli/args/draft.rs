//! What can be done with drafts, and with plans that were saved.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::cluster::Which;
use super::{WaitArgs, YesArgs};
use crate::cli::complete;

/// What to do with drafts.
#[derive(Debug, Subcommand)]
pub enum DraftCommand {
    /// Draft a change: keep it, and show what it would do
    #[command(after_help = "Examples:
  cooperage cluster draft create shop configure --set nginx.port=8080 --title \"new port\"
  cooperage cluster draft create shop add_services --service redis
  cooperage cluster draft create shop restart_services --service nginx
  cooperage cluster draft create shop -f change.yaml

A file holds the operation and what it needs:
  operation: configure
  config: {nginx: {port: 8080}}")]
    Create {
        /// Which cluster.
        #[command(flatten)]
        which: Which,
        /// What is to be done: configure, add_services, start_services, stop_services, restart_services, sync_template,
        /// prolong, delete, retry
        #[arg(required_unless_present = "file")]
        operation: Option<String>,
        /// What it needs.
        #[command(flatten)]
        drafted: DraftedArgs,
    },
    /// List the drafts of a cluster, newest first
    #[command(visible_alias = "ls", after_help = "Example: cooperage cluster draft list shop")]
    List(Which),
    /// Show a draft, and what it would do now
    #[command(after_help = "Example: cooperage cluster draft show shop 3")]
    Show(Drafted),
    /// Change a draft, which is then based on the cluster as it is
    #[command(after_help = "Examples:
  cooperage cluster draft edit shop 3                          in VISUAL, EDITOR or vi
  cooperage cluster draft edit shop 3 --set nginx.port=8081
  cooperage cluster draft edit shop 3 -f change.yaml")]
    Edit {
        /// Which one.
        #[command(flatten)]
        which: Drafted,
        /// What is put in its place.
        #[command(flatten)]
        drafted: DraftedArgs,
    },
    /// Make a draft's change
    #[command(after_help = "Example: cooperage cluster draft commit shop 3 --yes")]
    Commit {
        /// Which one.
        #[command(flatten)]
        which: Drafted,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
        /// For how long to wait.
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Forget a draft
    #[command(visible_alias = "rm", after_help = "Example: cooperage cluster draft delete shop 3")]
    Delete(Drafted),
}

/// Which draft.
#[derive(Debug, Clone, Args)]
pub struct Drafted {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Its number
    pub draft: u64,
}

/// What a draft is to do.
#[derive(Debug, Clone, Default, Args)]
pub struct DraftedArgs {
    /// What it is for
    #[arg(long)]
    pub title: Option<String>,
    /// For configure: another value of the configuration; else a field of the operation, such as expireTime
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Which services
    #[arg(long = "service", value_name = "SERVICE", value_delimiter = ',', add = complete::services())]
    pub services: Vec<String>,
    /// File (YAML, JSON or TOML) with the whole operation
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
}

impl DraftedArgs {
    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.title.is_none() && self.set.is_empty() && self.services.is_empty() && self.file.is_none()
    }
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
