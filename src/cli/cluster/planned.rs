//! Changes that are shown before they are made, plans that are kept, and what all of it looks like.

use std::fmt::Write;
use std::path::Path;

use console::{StyledObject, style};
use cooperage_domain::cluster::{
    Became, Difference, NodeDifference, PlanPreview, Price, UnitDifference, ValueDifference,
};
use serde_json::{Value, json};

use super::find;
use super::outcome::begun;
use crate::cli::args::{ApplyPlanArgs, PreviewArgs};
use crate::cli::client::{Client, segment, understood};
use crate::cli::duration::{local_time, short};
use crate::cli::failure::Failure;
use crate::cli::progress::doing;
use crate::cli::screen::Screen;

/// How a change is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Verb {
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `DELETE`
    Delete,
}

/// Makes a change, or shows what it would do. Whether it was made.
///
/// # Errors
/// When the server refuses, or a plan cannot be written.
pub async fn change(
    verb: Verb,
    path: &str,
    body: &Value,
    args: &PreviewArgs,
    client: &Client,
    screen: &Screen,
) -> Result<bool, Failure> {
    if !args.plan {
        match verb {
            Verb::Post => drop(client.post::<Value>(path, body).await?),
            Verb::Put => drop(client.put::<Value>(path, body).await?),
            Verb::Delete => client.delete_with(path, body).await?,
        }
        return Ok(true);
    }
    let save = if args.save.is_some() { "&save=true" } else { "" };
    let joined = if path.contains('?') { '&' } else { '?' };
    let path = format!("{path}{joined}dryRun=true{save}");
    let shown: Value = match verb {
        Verb::Post => client.post(&path, body).await?,
        Verb::Put => client.put(&path, body).await?,
        Verb::Delete => client.show_delete(&path, body).await?,
    };
    let preview: PlanPreview = understood(&path, &shown)?;
    screen.result(&shown, || text(&preview));
    match &args.save {
        Some(file) => keep(file, &shown, screen)?,
        None => screen.note("Nothing was changed. The same without --plan does it."),
    }
    Ok(false)
}

fn keep(file: &Path, shown: &Value, screen: &Screen) -> Result<(), Failure> {
    // Plain data with text keys always becomes JSON.
    let text = serde_json::to_string_pretty(shown).unwrap_or_default();
    std::fs::write(file, text + "\n").map_err(|fault| Failure::file("write", file, fault))?;
    let (cluster, plan) = (shown["clusterId"].as_str().unwrap_or_default(), &shown["plan"]);
    screen.note(&format!(
        "Nothing was changed. Plan {plan} is kept, and written to {0}; carry it out with: cooperage cluster apply-plan {cluster} {0}",
        file.display()
    ));
    Ok(())
}

/// Carries out a plan that was saved.
///
/// # Errors
/// When the cluster has moved on, the file is no plan of the cluster, or a task fails.
pub async fn apply(args: &ApplyPlanArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    args.wait.limit()?;
    let id = find::id_of(client, &args.which.cluster).await?;
    let plan = match args.plan.parse::<u64>() {
        Ok(number) => number,
        Err(_) => read(Path::new(&args.plan), &id)?,
    };
    let path = format!("/v2/clusters/{id}/saved-plans/{plan}/apply");
    let _: Value = client.post(&path, &Value::Null).await?;
    begun(client, &id, screen, &args.wait).await
}

/// Number of the plan in a file, if it is one of this cluster.
fn read(file: &Path, id: &str) -> Result<u64, Failure> {
    let text = std::fs::read_to_string(file).map_err(|fault| Failure::file("read", file, fault))?;
    let shown: Value = serde_json::from_str(&text).unwrap_or_default();
    let plan = shown["plan"].as_u64().ok_or_else(|| {
        Failure::refused(
            format!("{} holds no plan that was saved", file.display()),
            "write one with --plan --save FILE",
        )
    })?;
    match shown["clusterId"].as_str() {
        Some(of) if of == id => Ok(plan),
        of => Err(Failure::refused(
            format!("{} holds a plan of cluster {}, not of {id}", file.display(), of.unwrap_or_default()),
            "name the cluster it was made for",
        )),
    }
}

/// What a change would do, for people.
#[must_use]
pub fn text(preview: &PlanPreview) -> String {
    let mut text = String::new();
    let id = preview.cluster_id.as_deref().unwrap_or("a new cluster");
    let what = preview.action.as_deref().map(doing).unwrap_or_else(|| "no job".to_owned());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} as of revision {}: {what}", style(id).bold(), preview.sequence);
    if preview.decisions.is_empty() {
        text.push_str("\nNothing needs to be done.\n");
        return text;
    }
    let changes = difference(&preview.changes);
    if !changes.is_empty() {
        let _ = write!(text, "\n{changes}");
    }
    if preview.tasks > 0 {
        let _ = write!(text, "\n{}", run(preview));
    }
    if let Some(price) = &preview.price {
        let _ = writeln!(text, "\n{}", costs(price));
    }
    if !preview.irreversible.is_empty() {
        let _ = writeln!(text, "\n{}", style("Cannot be undone:").bold());
        for said in &preview.irreversible {
            let _ = writeln!(text, "  {} {said}", style("!").red().bold());
        }
    }
    text
}

fn run(preview: &PlanPreview) -> String {
    let ms = |ms: u64| short(i64::try_from(ms).unwrap_or(i64::MAX));
    let mut text = format!(
        "{} tasks in {} stages: half of all runs take no longer than {}, nine of ten no longer than {}\n",
        preview.tasks,
        preview.stages,
        style(ms(preview.p50_ms)).bold(),
        style(ms(preview.p90_ms)).bold()
    );
    if preview.unknown_durations > 0 {
        let _ = writeln!(text, "(for {} of the tasks there is no history yet)", preview.unknown_durations);
    }
    text.push_str("\nWhat decides how long it takes (critical path):\n");
    for (index, step) in preview.critical_path.iter().enumerate() {
        let _ = writeln!(text, "  {:>2}  {step}", index + 1);
    }
    text
}

fn costs(price: &Price) -> String {
    let change = price.after_per_hour - price.before_per_hour;
    let mut text =
        format!("Price per hour: {:.4} -> {:.4} ({change:+.4})", price.before_per_hour, price.after_per_hour);
    if !price.unpriced.is_empty() {
        let names: Vec<&str> = price.unpriced.iter().map(String::as_str).collect();
        let _ = write!(text, "; without {}, which have no price", names.join(", "));
    }
    text
}

fn added() -> StyledObject<&'static str> {
    style("+").green().bold()
}

fn removed() -> StyledObject<&'static str> {
    style("-").red().bold()
}

fn changed() -> StyledObject<&'static str> {
    style("~").yellow().bold()
}

fn mark(what: Became) -> StyledObject<&'static str> {
    match what {
        Became::Added => added(),
        Became::Removed => removed(),
        Became::Changed => changed(),
    }
}

/// What is different, a line each.
#[must_use]
pub fn difference(changes: &Difference) -> String {
    let mut text = String::new();
    let services = changes.services.iter().map(|service| {
        let version = |version: Option<u64>| version.map(|version| format!(" {version}")).unwrap_or_default();
        let versions = match service.what {
            Became::Changed => {
                format!("{} ->{}", version(service.version_before), version(service.version_after))
            }
            Became::Added => version(service.version_after),
            Became::Removed => version(service.version_before),
        };
        format!("{} service {}{versions}", mark(service.what), service.name)
    });
    let values = |of: &'static str, all: &'_ [ValueDifference]| {
        all.iter().map(move |value| self::value(of, value)).collect::<Vec<_>>()
    };
    let lines = changes
        .nodes
        .iter()
        .map(node)
        .chain(services)
        .chain(changes.units.iter().map(unit))
        .chain(values("config ", &changes.config))
        .chain(values("config of node ", &changes.node_config))
        .chain(values("template ", &changes.template))
        .chain(values("provider ", &changes.provider))
        .chain(values("", &changes.cluster));
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn node(node: &NodeDifference) -> String {
    let names = |mark: StyledObject<&str>, names: &std::collections::BTreeSet<String>| {
        names.iter().map(|name| format!(" {mark} {name}")).collect::<String>()
    };
    let why = if node.why.is_empty() { String::new() } else { format!(": {}", node.why) };
    let services = match node.what {
        Became::Added => joined(&node.services_added),
        Became::Removed => joined(&node.services_removed),
        Became::Changed => {
            format!("{}{}", names(added(), &node.services_added), names(removed(), &node.services_removed))
        }
    };
    let kinds = format!("{}, {}", node.hardwaretype, node.imagetype);
    format!("{} node {} ({kinds}){services}{why}", mark(node.what), node.host)
}

fn joined(names: &std::collections::BTreeSet<String>) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(" with {}", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
}

fn unit(unit: &UnitDifference) -> String {
    let said = |what: &str, before: &Option<String>, after: &Option<String>| {
        if before == after {
            return String::new();
        }
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "unknown".to_owned());
        format!(" {what} {} -> {}", word(before), word(after))
    };
    format!(
        "{} {} on {}:{}{}",
        changed(),
        unit.service.as_deref().unwrap_or("machine"),
        unit.host,
        said("wanted", &unit.wanted_before, &unit.wanted_after),
        said("is", &unit.observed_before, &unit.observed_after)
    )
}

fn value(of: &str, value: &ValueDifference) -> String {
    let path = &value.path;
    let said = |said: &Value| match said.as_i64().filter(|_| of.is_empty()) {
        Some(0) => "never".to_owned(),
        Some(at) => local_time(at),
        None => said.to_string(),
    };
    match (&value.before, &value.after) {
        (None, Some(after)) => format!("{} {of}{path}: {}", added(), said(after)),
        (Some(before), None) => format!("{} {of}{path}: {}", removed(), said(before)),
        (before, after) => {
            let null = json!(null);
            let (before, after) = (before.as_ref().unwrap_or(&null), after.as_ref().unwrap_or(&null));
            format!("{} {of}{path}: {} -> {}", changed(), said(before), said(after))
        }
    }
}

/// A part of a query.
#[must_use]
pub fn parameter(name: &str, value: &str) -> String {
    format!("&{name}={}", segment(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::golden::assert_golden;

    #[test]
    fn a_plan_is_told_with_marks_times_price_and_what_cannot_be_undone() {
        let node = |host: &str, what: &str, more: &[&str], less: &[&str], why: &str| {
            json!({"id": host, "number": 1000, "host": host, "what": what, "why": why, "hardwaretype": "small",
                "imagetype": "debian-12", "servicesAdded": more, "servicesRemoved": less})
        };
        let shown = json!({
            "clusterId": "00000042", "sequence": 17, "action": "CLUSTER_CONFIGURE_WITH_RESTART",
            "decisions": ["the configuration was replaced"],
            "changes": {
                "nodes": [
                    node("shop42-1000", "changed", &["redis"], &["haproxy"], ""),
                    node("shop42-1001", "removed", &[], &["nginx"], "the newest of its kind"),
                    node("shop42-1002", "added", &["nginx"], &[], ""),
                ],
                "services": [{"name": "nginx", "what": "changed", "versionBefore": 1, "versionAfter": 2}],
                "units": [{"node": "n", "host": "shop42-1000", "service": "redis",
                    "wantedBefore": "running", "wantedAfter": "stopped"}],
                "config": [
                    {"path": "nginx.port", "before": 80, "after": 8080},
                    {"path": "nginx.tls", "after": true},
                    {"path": "old", "before": "x"},
                ],
                "cluster": [{"path": "expireTime", "before": 0, "after": 0}],
            },
            "nodes": [], "services": [], "tasks": 9, "planned": [], "graph": "", "stages": 4, "predictedMs": 31_000,
            "p50Ms": 30_500, "p90Ms": 41_200, "lowerBoundMs": 29_000, "unknownDurations": 2,
            "criticalPath": ["STOP nginx on shop42-1000", "START nginx on shop42-1000"],
            "price": {"beforePerHour": 0.5, "afterPerHour": 0.75, "unpriced": ["large"]},
            "irreversible": ["the machine of shop42-1001 is deleted, with everything on its disks"],
        });
        let told = text(&serde_json::from_value(shown).unwrap());
        assert_golden("src/cli/cluster/golden/planned.txt", &console::strip_ansi_codes(&told));
    }

    #[test]
    fn a_file_with_the_plan_of_another_cluster_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plan.json");
        std::fs::write(&file, r#"{"clusterId": "00000042", "plan": 3}"#).unwrap();
        assert_eq!(read(&file, "00000042").unwrap(), 3);
        assert!(read(&file, "00000043").unwrap_err().to_string().contains("00000042"));
        std::fs::write(&file, "{}").unwrap();
        assert!(read(&file, "00000042").unwrap_err().remedy().unwrap().contains("--save"));
    }
}
