//! Options of `cooperage audit` and `cooperage secrets`.

use clap::{Args, Subcommand, ValueEnum};

use super::SettingsArgs;

/// Who did what.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AuditArgs {
    /// Check it instead.
    #[command(subcommand)]
    pub command: Option<AuditCommand>,
    /// Which entries.
    #[command(flatten)]
    pub filter: AuditFilterArgs,
}

/// What else can be done with the audit log.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum AuditCommand {
    /// Check that no entry was altered, removed, put in or moved
    #[command(after_help = "Example: cooperage audit verify -o json

Exit code 1 when the log is broken. Keep the number and hash it prints elsewhere: they show later that nothing up to there
was changed.")]
    Verify,
}

/// Which entries of the audit log.
#[derive(Debug, Clone, Default, Args)]
pub struct AuditFilterArgs {
    /// Only what was done within this time, such as 1h or 7d
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what was done before this time ago
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only what this user did (--user says who you are)
    #[arg(long, value_name = "USER")]
    pub by: Option<String>,
    /// Only actions with this text in them, such as DELETE or providers
    #[arg(long, value_name = "TEXT")]
    pub action: Option<String>,
    /// Only what was done to objects with this text in them
    #[arg(long, value_name = "TEXT")]
    pub object: Option<String>,
    /// Only what ended so
    #[arg(long, value_enum)]
    pub outcome: Option<OutcomeArg>,
    /// At most so many entries, the newest
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub limit: u32,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutcomeArg {
    /// It was done.
    Done,
    /// It was not allowed, or made no sense.
    Refused,
    /// Something broke.
    Failed,
}

impl OutcomeArg {
    /// As the server writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// Secrets at rest.
#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Show what is sealed and under which keys
    #[command(after_help = "Example: cooperage secrets status")]
    Status(SecretsAt),
    /// Put a new master key in place of the old one
    #[command(after_help = "Examples:
  cooperage secrets rotate               while the server runs
  cooperage secrets rotate --offline     on the data of a server that does not run

Back the key file up afterwards: backups of the database from now on need the new key, older ones the old one.")]
    Rotate(SecretsAt),
}

/// Whose secrets.
#[derive(Debug, Clone, Args)]
pub struct SecretsAt {
    /// Work on the data directory of a server that does not run, instead of asking one that does
    #[arg(long)]
    pub offline: bool,
    /// Settings that name the data directory.
    #[command(flatten)]
    pub settings: SettingsArgs,
}
