//! `cooperage queue` and `cooperage usage`: work that waits, and machine time used.

use clap::{Args, Subcommand, ValueEnum};
use cooperage_domain::invalid::Invalid;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::args::WatchArgs;
use super::client::{Client, segment};
use super::complete;
use super::duration::{self, local_time, now};
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::watching::{View, show};

/// What to do with queues.
#[derive(Debug, Subcommand)]
pub enum QueueCommand {
    /// List them: tasks that wait for a worker, and tasks in the hands of one
    #[command(visible_alias = "ls", after_help = "Example: cooperage queue list --watch")]
    List(WatchArgs),
}

/// Which machine time.
#[derive(Debug, Clone, Args)]
pub struct UsageArgs {
    /// Only that of one cluster
    #[arg(long, value_name = "ID", add = complete::clusters())]
    pub cluster: Option<String>,
    /// Only that of clusters made from a template
    #[arg(long, add = complete::templates())]
    pub template: Option<String>,
    /// Only that of one user's clusters
    #[arg(long, value_name = "USER")]
    pub owner: Option<String>,
    /// That of another tenant (superadmin)
    #[arg(long, value_name = "TENANT", add = complete::tenants())]
    pub of_tenant: Option<String>,
    /// From then on: 30d (ago), or a time such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Up to then
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// In intervals of so long
    #[arg(long, value_enum)]
    pub by: Option<Interval>,
    /// Counted in
    #[arg(long, value_enum, default_value_t = Unit::Hours)]
    pub unit: Unit,
}

/// Lengths of intervals.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs, reason = "their names say it")]
pub enum Interval {
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// Units of time.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs, reason = "their names say it")]
pub enum Unit {
    Seconds,
    Minutes,
    Hours,
    Days,
}

/// Shows queues.
///
/// # Errors
/// When the server refuses: only admins may ask.
pub async fn queues(command: QueueCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let QueueCommand::List(watch) = command;
    show(screen, &watch, async || {
        let all: Map<String, Value> = client.get("/v2/metrics/queues").await?;
        let mut table = Table::new(["TENANT", "QUEUED", "IN PROGRESS", "TOTAL"]);
        for (tenant, queue) in &all {
            let count = |key: &str| queue[key].as_u64().unwrap_or_default().to_string();
            table.row([tenant.clone(), count("queued"), count("inProgress"), count("total")]);
        }
        Ok(View { text: table.render("no queues"), value: all.into() })
    })
    .await
}

/// Shows machine time.
///
/// # Errors
/// When a time is none, or the server refuses.
pub async fn usage(args: UsageArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let unit = word(&args.unit);
    let mut query = vec![("timeunit", unit.clone())];
    let cluster = match &args.cluster {
        Some(text) => Some(super::cluster::id_of(client, text).await?),
        None => None,
    };
    let mut say = |name, value: Option<String>| query.extend(value.map(|value| (name, value)));
    say("cluster", cluster);
    say("clustertemplate", args.template);
    say("user", args.owner);
    say("tenant", args.of_tenant);
    say("groupby", args.by.as_ref().map(word));
    say("start", args.from.map(|text| seconds("--from", &text, now())).transpose()?);
    say("end", args.until.map(|text| seconds("--until", &text, now())).transpose()?);
    let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", segment(value))).collect();
    let used: Value = client.get(&format!("/v2/metrics/nodes/usage?{}", query.join("&"))).await?;
    screen.result(&used, || {
        let mut table = Table::new(["FROM", &unit.to_uppercase()]);
        for interval in used["data"].as_array().into_iter().flatten() {
            let at = interval["time"].as_i64().unwrap_or_default();
            table.row([local_time(at.saturating_mul(1000)), interval["value"].to_string()]);
        }
        table.render("no machine time")
    });
    Ok(())
}

/// As the server writes it.
fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// A time, or a length of time before `now` (ms since 1970), in seconds since 1970.
fn seconds(option: &str, text: &str, now: i64) -> Result<String, Invalid> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_second().to_string());
    }
    let ago = duration::parse(option, text).map_err(|fault| Invalid {
        remedy: "write it like 30d (ago) or 2027-01-31T00:00:00Z".into(),
        ..fault
    })?;
    Ok((now / 1000 - i64::try_from(ago.as_secs()).unwrap_or(i64::MAX)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_points_or_lengths_before_now() {
        assert_eq!(seconds("--from", "1970-01-01T01:00:00Z", 0).unwrap(), "3600");
        assert_eq!(seconds("--from", "1h", 7_200_000).unwrap(), "3600");
        assert_eq!(seconds("--from", "soon", 0).unwrap_err().field, "--from");
        assert_eq!((word(&Interval::Week), word(&Unit::Days)), ("week".to_owned(), "days".to_owned()));
    }
}
