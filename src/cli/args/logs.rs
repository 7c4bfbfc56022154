//! `cooperage cluster logs`.

use clap::Args;

use super::cluster::Which;
use crate::cli::complete;

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
    /// Only lines with this text
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// In any case
    #[arg(short, long, requires = "search")]
    pub ignore_case: bool,
    /// The text is a regular expression
    #[arg(long, requires = "search")]
    pub regex: bool,
    /// Only lines of this time or later: 2027-01-31T18:00:00Z, or ms since 1970
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
}
