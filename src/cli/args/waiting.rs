//! Options that many commands have: waiting for a job, watching, and values for the provider.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use cooperage_domain::invalid::Invalid;
use serde_json::{Map, Value};

use crate::cli::cluster::config_values::parse_fields;
use crate::cli::duration;
use crate::cli::failure::Failure;
use crate::documents;

/// Waiting for a job.
#[derive(Debug, Clone, Default, Args)]
pub struct WaitArgs {
    /// Wait until it is done, as without it
    #[arg(long, overrides_with = "no_wait")]
    pub wait: bool,
    /// Do not wait until it is done
    #[arg(long)]
    pub no_wait: bool,
    /// Stop waiting after this time (30s, 10m, 1h); the cluster goes on
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
}

impl WaitArgs {
    /// The most there is to wait; for ever without it.
    ///
    /// # Errors
    /// When it is no length of time.
    pub fn limit(&self) -> Result<Option<Duration>, Invalid> {
        self.timeout.as_deref().map(|text| duration::parse("--timeout", text)).transpose()
    }
}

/// Looking at what would be done before it is done.
#[derive(Debug, Clone, Default, Args)]
pub struct PreviewArgs {
    /// Show what would be done, how long it takes and what cannot be undone, and do nothing
    #[arg(long, visible_alias = "dry-run")]
    pub plan: bool,
    /// With --plan: keep the plan, to be carried out exactly so with `cooperage cluster apply-plan`, and write it to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "plan")]
    pub save: Option<PathBuf>,
}

/// Watching.
#[derive(Debug, Clone, Default, Args)]
pub struct WatchArgs {
    /// Show it again whenever it changes, until Ctrl-C; looks every 2 s, or as often as is said
    #[arg(
        short,
        long,
        value_name = "EVERY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2s"
    )]
    pub watch: Option<String>,
}

impl WatchArgs {
    /// The time between two looks, if there is to be more than one.
    ///
    /// # Errors
    /// When it is no length of time.
    pub fn every(&self) -> Result<Option<Duration>, Invalid> {
        self.watch.as_deref().map(|text| duration::parse("--watch", text)).transpose()
    }
}

/// Values the provider asks for.
#[derive(Debug, Clone, Default, Args)]
pub struct FieldArgs {
    /// A field the provider asks for
    #[arg(long = "provider-field", value_name = "NAME=VALUE")]
    pub provider_fields: Vec<String>,
    /// File (YAML, JSON or TOML) with fields the provider asks for: the place for secrets, which others on this host can
    /// read in a command
    #[arg(long, value_name = "FILE")]
    pub provider_fields_file: Option<PathBuf>,
}

impl FieldArgs {
    /// All of them; those of the command over those of the file.
    ///
    /// # Errors
    /// When one has no `=`, or the file cannot be read.
    pub fn read(&self) -> Result<Map<String, Value>, Failure> {
        let file = self.provider_fields_file.as_deref().map(documents::read_values).transpose()?;
        let mut fields = file.unwrap_or_default();
        fields.extend(parse_fields(&self.provider_fields)?);
        Ok(fields)
    }

    /// As the body of a change.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn body(&self) -> Result<Value, Failure> {
        Ok(serde_json::json!({ "providerFields": self.read()? }))
    }
}

/// Agreeing beforehand.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct YesArgs {
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}
