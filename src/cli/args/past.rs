//! What can be asked of the past of clusters.

use clap::Args;

use super::cluster::{Seen, Which};
use crate::cli::complete;

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
