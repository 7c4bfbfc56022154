//! `cooperage provisioner`

use std::net::SocketAddr;

use clap::Args;

use super::SettingsArgs;
use crate::cli::provisioner::ProvisionerCommand;

/// What stands below the options.
pub const HELP: &str = "Examples:
  cooperage provisioner --server http://10.0.0.5:55055 --capacity 1000
  cooperage provisioner --config /etc/cooperage/cooperage.toml

--server is the address at which the server listens for provisioners (its setting listen.tasks), not the one for people;
COOPERAGE_SERVER, which is for clients, is not looked at.
SIGTERM or Ctrl-C: takes no more, finishes what runs, leaves. A second one: stops at once. SIGHUP: reads the capacity again.
`list` and `show` ask a server for its provisioners, at its address for people.
Exit codes: 0 everything was finished, 1 tasks were left behind or it could not start.";

/// Running one, or looking at those that a server has.
#[derive(Debug, Args)]
pub struct ProvisionerNoun {
    /// What to do with those of a server.
    #[command(subcommand)]
    pub verb: Option<ProvisionerCommand>,
    /// How to run one.
    #[command(flatten)]
    pub run: ProvisionerArgs,
}

/// A provisioner. What is given here is stronger than the settings.
#[derive(Debug, Clone, Args)]
pub struct ProvisionerArgs {
    /// Name the server knows it by
    #[arg(long)]
    pub id: Option<String>,
    /// Most workers it brings
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub capacity: Option<u32>,
    /// Where it listens for its server
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// How long running tasks may take when it is told to stop
    #[arg(long, value_name = "SECONDS")]
    pub drain_timeout: Option<u64>,
    /// The settings.
    #[command(flatten)]
    pub settings: SettingsArgs,
}
