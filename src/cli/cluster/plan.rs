//! `cooperage cluster plan`

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use console::style;
use cooperage_domain::cluster::{JobStatus, TaskState};
use serde_json::Value;

use super::find;
use super::shapes::{Details, Plan, Task};
use crate::cli::args::PlanArgs;
use crate::cli::client::{Client, understood};
use crate::cli::duration::{now, short};
use crate::cli::failure::Failure;
use crate::cli::progress::{doing, expected_end};
use crate::cli::screen::Screen;
use crate::cli::watching::{View, show};

/// Names of tasks elsewhere that are told for one that waits for them.
const NAMED: usize = 2;

/// Shows a job's tasks, by node or by stage.
///
/// # Errors
/// When there is no such cluster or job.
pub async fn run(args: &PlanArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    show(screen, &args.watch, async || look(args, client).await).await
}

async fn look(args: &PlanArgs, client: &Client) -> Result<View, Failure> {
    let (_, details) = find::details(client, &args.which.cluster).await?;
    let job = match (&args.job, &details.latest_job_id) {
        (Some(job), _) => job_id(&details.id, job),
        (None, Some(latest)) => latest.clone(),
        (None, None) => {
            return Err(Failure::unknown(
                format!("cluster {} has no job", details.id),
                "wait a moment, then ask again",
            ));
        }
    };
    let path = format!("/v2/clusters/{}/plans/{job}", details.id);
    let value: Value = client.get(&path).await?;
    let plan: Plan = understood(&path, &value)?;
    let text = if args.stages { stages(&details, &plan) } else { graph(&details, &plan, now()) };
    Ok(View { value, text })
}

/// A job may be named by its number alone.
fn job_id(cluster: &str, text: &str) -> String {
    match text.parse::<u32>() {
        Ok(number) => format!("{cluster}-{number:03}"),
        Err(_) => text.to_owned(),
    }
}

/// The tasks of a job, node by node, each with how long it took and was expected to take.
#[must_use]
pub fn graph(details: &Details, plan: &Plan, now: i64) -> String {
    let critical: HashSet<&str> = plan.critical_path.iter().map(String::as_str).collect();
    let by_id: HashMap<&str, &Task> = plan.tasks.iter().map(|task| (task.id.as_str(), task)).collect();
    let names = details.node_names();
    let width = plan.tasks.iter().map(|task| task.title().chars().count()).max().unwrap_or(0);
    let mut text = heading(plan, now);
    for node in &details.nodes {
        let tasks: Vec<&Task> = plan.tasks.iter().filter(|task| task.node_id == node.id).collect();
        if tasks.is_empty() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{}  {}", style(node.name()).bold(), style(node.services()).dim());
        for task in tasks {
            let mark = if critical.contains(task.id.as_str()) {
                style("●").cyan().to_string()
            } else {
                " ".to_owned()
            };
            let after = elsewhere(task, &by_id, &names);
            let line =
                format!("  {} {mark} {:<width$}  {}{after}", sign(task), task.title(), times(task, now));
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    let _ = writeln!(
        text,
        "\n{} critical path: {} tasks decide how long it takes, {} when nothing else holds them up",
        style("●").cyan(),
        plan.critical_path.len(),
        short(plan.predicted_ms)
    );
    text
}

fn heading(plan: &Plan, now: i64) -> String {
    let elapsed = short(plan.end_time.unwrap_or(now) - plan.start_time);
    let state = match plan.status {
        JobStatus::NotSubmitted => "not begun".to_owned(),
        JobStatus::Running => {
            format!("running for {elapsed} of about {}", short(expected_end(plan, now) - plan.start_time))
        }
        JobStatus::Paused => format!("paused after {elapsed}"),
        JobStatus::Complete => format!("complete after {elapsed}"),
        JobStatus::Failed => format!("failed after {elapsed}"),
    };
    let message = plan.message.as_deref().map(|message| format!("\n{message}")).unwrap_or_default();
    format!("{}{message}\n", style(format!("job {}: {}, {state}", plan.id, doing(&plan.action))).bold())
}

fn sign(task: &Task) -> String {
    match task.status {
        TaskState::Waiting => style("·").dim().to_string(),
        TaskState::Running => style("▶").yellow().to_string(),
        TaskState::Done => style("✓").green().to_string(),
        TaskState::Failed => style("✗").red().to_string(),
    }
}

/// `3.1 s of ~8.0 s`: what it took or takes, and what was expected; which attempt from the second on.
fn times(task: &Task, now: i64) -> String {
    let expected = format!("~{}", short(task.estimate_ms));
    let took = task.took(now).map(short).unwrap_or_default();
    let again =
        if task.attempts.len() > 1 { format!("  attempt {}", task.attempts.len()) } else { String::new() };
    format!("{took:>9} {}{again}", style(format!("{expected:<10}")).dim())
}

/// What it waits for on other nodes.
fn elsewhere(task: &Task, by_id: &HashMap<&str, &Task>, names: &BTreeMap<&str, String>) -> String {
    let others: Vec<String> = task
        .after
        .iter()
        .filter_map(|id| by_id.get(id.as_str()))
        .filter(|other| other.node_id != task.node_id)
        .map(|other| {
            let name = names.get(other.node_id.as_str()).map_or("", String::as_str);
            format!("{} on {name}", other.title())
        })
        .collect();
    match others.as_slice() {
        [] => String::new(),
        few if few.len() <= NAMED => format!("  after {}", few.join(", ")),
        many => {
            let first = many.get(..NAMED).unwrap_or_default().join(", ");
            format!("  after {first} and {} more", many.len() - NAMED)
        }
    }
}

/// The stages of a job: what could run side by side.
fn stages(details: &Details, plan: &Plan) -> String {
    let by_id: HashMap<&str, &Task> = plan.tasks.iter().map(|task| (task.id.as_str(), task)).collect();
    let names = details.node_names();
    let mut text = String::new();
    for (index, stage) in plan.stages.iter().enumerate() {
        let mut nodes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for task in stage.iter().filter_map(|task| by_id.get(task.id.as_str())) {
            let name = names.get(task.node_id.as_str()).map_or("", String::as_str);
            nodes.entry(task.title()).or_default().push(name);
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", style(format!("stage {}", index + 1)).bold());
        for (title, nodes) in nodes {
            let _ = writeln!(text, "  {title}  on {}", nodes.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::golden::assert_golden;
    use crate::cli::progress::samples::half_way;

    #[test]
    fn a_plan_shows_times_dependencies_and_the_critical_path() {
        let (details, plan) = half_way();
        assert_golden("src/cli/cluster/golden/plan.txt", &graph(&details, &plan, 20_000));
        assert_golden("src/cli/cluster/golden/stages.txt", &stages(&details, &plan));
    }

    #[test]
    fn a_job_is_named_by_id_or_number() {
        assert_eq!(job_id("00000042", "7"), "00000042-007");
        assert_eq!(job_id("00000042", "00000042-001"), "00000042-001");
    }
}
