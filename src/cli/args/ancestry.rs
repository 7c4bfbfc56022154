//! Clusters on clusters.

use clap::Args;

use crate::cli::complete;

/// Which cluster is the foundation.
#[derive(Debug, Clone, Args)]
pub struct FoundationArgs {
    /// From now on this one: its id, or its name if no other cluster has it; without it, the foundation is shown
    #[arg(value_name = "ID|NAME", add = complete::clusters(), conflicts_with = "none")]
    pub cluster: Option<String>,
    /// From now on none
    #[arg(long)]
    pub none: bool,
}
