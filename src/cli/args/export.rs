//! Nodes written down for other programs.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::cluster::Which;
use crate::cli::complete;
use crate::exports::Format;

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
