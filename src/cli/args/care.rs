//! Health and maintenance.

use clap::Args;

use super::cluster::{Seen, Which};
use crate::cli::complete;

/// Whose health.
#[derive(Debug, Clone, Args)]
pub struct HealthArgs {
    /// Which cluster.
    #[command(flatten)]
    pub seen: Seen,
    /// From now on do this with machines that are down: auto, alarm, off, or as the template says
    #[arg(long, value_name = "MODE", value_parser = ["auto", "alarm", "off", "template"])]
    pub heal: Option<String>,
}

/// What to leave alone.
#[derive(Debug, Clone, Args)]
pub struct MaintenanceArgs {
    /// Which cluster.
    #[command(flatten)]
    pub which: Which,
    /// Whether it begins or ends
    #[arg(value_parser = ["on", "off"])]
    pub switch: String,
    /// Only this node: number, host name or id
    #[arg(long, add = complete::nodes())]
    pub node: Option<String>,
    /// Why, for people
    #[arg(long, default_value = "")]
    pub reason: String,
}
