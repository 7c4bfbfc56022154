//! What can be typed about plugin resources.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::place::{At, Side};
use crate::cli::args::{WatchArgs, YesArgs};
use crate::cli::complete;

/// What to do with plugin resources.
#[derive(Debug, Subcommand)]
pub enum ResourceCommand {
    /// List them with their versions
    #[command(
        visible_alias = "ls",
        after_help = "Examples:
  cooperage resource list
  cooperage resource list shell/scripts --status active"
    )]
    List(ListArgs),
    /// Show the versions of one
    #[command(visible_alias = "get", after_help = "Example: cooperage resource show shell/scripts/nginx.sh")]
    Show {
        /// Which one
        #[arg(value_name = "PLUGIN/KIND/NAME", add = complete::resources())]
        at: At,
        /// Whose, when a provider and an automator have it
        #[arg(long, value_enum)]
        side: Option<Side>,
    },
    /// Store a file as a new version
    #[command(after_help = "Examples:
  cooperage resource upload nginx.sh shell/scripts/nginx.sh --sync
  cooperage resource upload key.pem cloud/ssh_keys/default --side provider

At most 64 MiB.")]
    Upload(UploadArgs),
    /// Write the bytes of a version to standard output or a file
    #[command(after_help = "Examples:
  cooperage resource download shell/scripts/nginx.sh
  cooperage resource download shell/scripts/nginx.sh --version 2 --to old.sh")]
    Download {
        /// Which version.
        #[command(flatten)]
        which: VersionArgs,
        /// File to write, instead of standard output
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        to: Option<PathBuf>,
    },
    /// Let a version be used from the next sync on
    #[command(after_help = "Example: cooperage resource stage shell/scripts/nginx.sh --version 2 --sync")]
    Stage {
        /// Which version.
        #[command(flatten)]
        which: VersionArgs,
        /// And sync at once
        #[arg(long)]
        sync: bool,
    },
    /// Let a version not be used from the next sync on
    #[command(after_help = "Example: cooperage resource recall shell/scripts/nginx.sh")]
    Recall {
        /// Which version.
        #[command(flatten)]
        which: VersionArgs,
        /// And sync at once
        #[arg(long)]
        sync: bool,
    },
    /// Put what is staged to use, and what is recalled out of it
    #[command(after_help = "Example: cooperage resource sync")]
    Sync,
    /// Delete one with all its versions, or a version that nobody uses
    #[command(
        visible_alias = "rm",
        after_help = "Example: cooperage resource delete shell/scripts/nginx.sh --version 1"
    )]
    Delete {
        /// Which version.
        #[command(flatten)]
        which: VersionArgs,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
    },
}

/// Which resources.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Only those of a plugin, or of one of its kinds
    #[arg(value_name = "PLUGIN[/KIND]", add = complete::plugins())]
    pub below: Option<String>,
    /// Only those of one side
    #[arg(long, value_enum)]
    pub side: Option<Side>,
    /// Only versions that are: active, inactive, staged, recalled
    #[arg(long)]
    pub status: Option<String>,
    /// Whether once or again and again.
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// What to store.
#[derive(Debug, Clone, Args)]
pub struct UploadArgs {
    /// The file
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// What it is to be
    #[arg(value_name = "PLUGIN/KIND/NAME", add = complete::resources())]
    pub at: At,
    /// Whose, when a provider and an automator take such files
    #[arg(long, value_enum)]
    pub side: Option<Side>,
    /// Stage it
    #[arg(long)]
    pub stage: bool,
    /// Stage it, and sync at once
    #[arg(long)]
    pub sync: bool,
}

/// Which version of which resource.
#[derive(Debug, Clone, Args)]
pub struct VersionArgs {
    /// Which one
    #[arg(value_name = "PLUGIN/KIND/NAME", add = complete::resources())]
    pub at: At,
    /// Which version; without it, the newest, or all to be deleted
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
    /// Whose, when a provider and an automator have it
    #[arg(long, value_enum)]
    pub side: Option<Side>,
}
