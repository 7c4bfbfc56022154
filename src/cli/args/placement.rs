//! What can be said of where services are.

use clap::Args;

use super::cluster::Which;
use crate::cli::complete;

/// What is where.
#[derive(Debug, Clone, Args)]
pub struct PlacementArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// A service; without it, all
    #[arg(add = complete::services())]
    pub service: Option<String>,
}
