//! `cooperage replay`: whether journals give what is stored beside them, and would be decided the same again.

use clap::Args;
use serde_json::Value;

use super::client::Client;
use super::cluster::id_of;
use super::complete;
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;

/// Which journals.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A cluster's id, or its name if no other cluster has it
    #[arg(value_name = "ID|NAME", add = complete::clusters(), required_unless_present = "all")]
    pub cluster: Option<String>,
    /// All clusters that you may see, terminated ones too
    #[arg(long, conflicts_with = "cluster")]
    pub all: bool,
}

/// Replays journals on the server, and tells the first difference of each.
///
/// # Errors
/// When one is not the same.
pub async fn run(args: ReplayArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let ids = match &args.cluster {
        Some(cluster) => vec![id_of(client, cluster).await?],
        None => {
            let all: Vec<Value> = client.get("/v2/clusters").await?;
            all.iter().filter_map(|cluster| cluster["id"].as_str().map(str::to_owned)).collect()
        }
    };
    let mut reports: Vec<Value> = Vec::with_capacity(ids.len());
    for id in ids {
        let report: Value = client.get(&format!("/v2/clusters/{id}/replay")).await?;
        if report["same"] != true {
            screen.note(&fault(&report));
        }
        reports.push(report);
    }
    screen.result(&reports, || table(&reports));
    match reports.iter().all(|report| report["same"] == true) {
        true => Ok(()),
        false => Err(Failure::Told),
    }
}

fn fault(report: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = &report["difference"];
    format!(
        "cluster {}: the first difference is at revision {} ({}): {}",
        word(&report["clusterId"]),
        found["revision"],
        word(&found["what"]),
        word(&found["detail"])
    )
}

fn table(reports: &[Value]) -> String {
    let mut table = Table::new(["CLUSTER", "EVENTS", "DECIDED AGAIN", "TAKEN", "SNAPSHOTS", "RESULT"]);
    for report in reports {
        let same = report["same"] == true;
        let result = match same {
            true => "the same".to_owned(),
            false => format!("different at {}", report["difference"]["revision"]),
        };
        let number = |field: &str| report[field].to_string();
        table.row([
            report["clusterId"].as_str().unwrap_or_default().to_owned(),
            number("events"),
            number("redecided"),
            number("takenAsTheyAre"),
            number("snapshots"),
            result,
        ]);
    }
    table.render("no clusters")
}
