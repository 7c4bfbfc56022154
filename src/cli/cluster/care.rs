//! `cooperage cluster health` and `cooperage cluster maintenance`

use std::collections::BTreeMap;
use std::fmt::Write;

use cooperage_domain::health::{HealMode, Health};
use serde::Deserialize;
use serde_json::{Value, json};

use super::find;
use super::logs::unknown_node;
use crate::cli::args::{HealthArgs, MaintenanceArgs};
use crate::cli::client::{Client, segment, understood};
use crate::cli::duration::local_time;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::{Table, status};
use crate::cli::watching::{View, show};

#[derive(Debug, Deserialize)]
struct Report {
    heal: HealMode,
    #[serde(rename = "intervalSeconds")]
    interval: i64,
    maintenance: Option<Maintenance>,
    alarm: Option<String>,
    nodes: Vec<Node>,
}

/// Why something is left alone.
#[derive(Debug, Clone, Deserialize)]
pub struct Maintenance {
    since: i64,
    by: String,
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Node {
    hostname: Option<String>,
    nodenum: u32,
    maintenance: Option<Maintenance>,
    machine: Unit,
    services: BTreeMap<String, Unit>,
}

#[derive(Debug, Deserialize)]
struct Unit {
    health: Health,
    since: Option<i64>,
    reason: String,
    probed: Option<i64>,
    unknown: String,
}

impl Maintenance {
    /// In one line.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { since, by, reason } = self;
        let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        format!("since {} by {by}{why}", local_time(*since))
    }
}

/// Shows how a cluster is, or says what happens when its machines are down.
///
/// # Errors
/// When there is no such cluster, or the server refuses.
pub async fn health(args: &HealthArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = find::id_of(client, &args.seen.which.cluster).await?;
    let path = format!("/v2/clusters/{id}/health");
    if let Some(heal) = &args.heal {
        let heal = match heal.as_str() {
            "template" => Value::Null,
            mode => mode.into(),
        };
        let _: Value = client.put(&path, &json!({ "heal": heal })).await?;
    }
    show(screen, &args.seen.watch, async || {
        let value: Value = client.get(&path).await?;
        let report: Report = understood(&path, &value)?;
        Ok(View { text: text(&report), value })
    })
    .await
}

fn text(report: &Report) -> String {
    let mut text = match report.heal {
        HealMode::Auto => {
            format!("machines that are down are replaced; probed every {} s\n", report.interval)
        }
        HealMode::Alarm => {
            format!("machines that are down are told, not replaced; probed every {} s\n", report.interval)
        }
        HealMode::Off => "not probed\n".to_owned(),
    };
    if let Some(maintenance) = &report.maintenance {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "in maintenance {}", maintenance.text());
    }
    if let Some(alarm) = &report.alarm {
        let _ = writeln!(text, "ALARM: {alarm}");
    }
    let mut table = Table::new(["NODE", "HOST", "WHAT", "HEALTH", "SINCE", "PROBED", "WHY"]);
    for node in &report.nodes {
        let services = node.services.iter().map(|(name, unit)| (name.as_str(), unit));
        for (what, unit) in std::iter::once(("machine", &node.machine)).chain(services) {
            let time = |at: Option<i64>| at.map(local_time).unwrap_or_default();
            table.row([
                node.nodenum.to_string(),
                node.hostname.clone().unwrap_or_default(),
                what.to_owned(),
                status(unit.health.as_str()),
                time(unit.since),
                time(unit.probed),
                why(node, unit),
            ]);
        }
    }
    text + &table.render("no nodes")
}

fn why(node: &Node, unit: &Unit) -> String {
    match &node.maintenance {
        Some(maintenance) => format!("in maintenance {}", maintenance.text()),
        None if unit.reason.is_empty() => unit.unknown.clone(),
        None => unit.reason.clone(),
    }
}

/// Begins or ends maintenance.
///
/// # Errors
/// When there is no such cluster or node, or the server refuses.
pub async fn maintenance(args: &MaintenanceArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (_, details) = find::details(client, &args.which.cluster).await?;
    let node = match &args.node {
        None => None,
        Some(text) => Some(details.node(text).ok_or_else(|| unknown_node(&details, text))?),
    };
    let path = match node {
        None => format!("/v2/clusters/{}/maintenance", details.id),
        Some(node) => format!("/v2/clusters/{}/nodes/{}/maintenance", details.id, segment(&node.id)),
    };
    let begins = args.switch == "on";
    if begins {
        let _: Value = client.put(&path, &json!({ "reason": args.reason })).await?;
    } else {
        client.delete(&path).await?;
    }
    let what = node.map_or_else(|| format!("cluster {}", details.id), |node| format!("node {}", node.name()));
    let note = if begins {
        format!(
            "{what} is in maintenance: what runs ends, nothing new starts there, it is not probed and not healed"
        )
    } else {
        format!("the maintenance of {what} has ended: what waited goes on")
    };
    screen
        .done(&json!({ "id": details.id, "node": node.map(|node| &node.id), "maintenance": begins }), &note);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_reason() {
        let unit = |health: &str, reason: &str| json!({"health": health, "since": 1, "reason": reason, "probed": 2, "unknown": ""});
        let report: Report = serde_json::from_value(json!({
            "heal": "alarm", "intervalSeconds": 30, "maintenance": null, "alarm": "the machine of node b is down",
            "nodes": [
                {"hostname": "a.local", "nodenum": 1000, "machine": unit("healthy", ""), "services": {"web": unit("down", "answers 500")}},
                {"hostname": "b.local", "nodenum": 1001, "machine": unit("down", "off"), "services": {},
                 "maintenance": {"since": 1, "by": "ann", "reason": "new disks"}},
            ],
        }))
        .unwrap();
        let text = console::strip_ansi_codes(&text(&report)).into_owned();
        let line = |words: &[&str]| text.lines().any(|line| words.iter().all(|word| line.contains(word)));
        assert!(line(&["not replaced", "30 s"]) && line(&["ALARM: the machine of node b is down"]), "{text}");
        assert!(line(&["1000", "web", "down", "answers 500"]), "{text}");
        assert!(line(&["1001", "machine", "in maintenance", "by ann: new disks"]), "{text}");
    }
}
