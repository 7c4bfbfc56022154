//! What to say about a job that failed: which tasks, why, and what to do next.

use std::fmt::Write;

use console::style;
use cooperage_domain::cluster::TaskState;

use super::shapes::{Details, Plan, Task};
use crate::cli::duration::short;

/// Lines of a failed task's output that are shown.
const LINES: usize = 12;
/// Failed tasks that are shown with their output.
const TASKS: usize = 5;

/// The report: each failed task with its node, attempts and last words; then what can be done.
#[must_use]
pub fn report(details: &Details, plan: Option<&Plan>) -> String {
    let why = plan.and_then(|plan| plan.message.as_deref()).or(details.message.as_deref());
    let why = why.map(|message| format!(": {message}")).unwrap_or_default();
    let heading = format!("cluster {} ({}) failed and is {}{why}", details.name, details.id, details.status);
    let mut text = format!("{}\n", style(heading).red().bold());
    let failed: Vec<&Task> = plan
        .into_iter()
        .flat_map(|plan| &plan.tasks)
        .filter(|task| task.status == TaskState::Failed)
        .collect();
    for task in failed.iter().take(TASKS) {
        text.push_str(&one(details, task));
    }
    if failed.len() > TASKS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n  … and {} more failed tasks", failed.len() - TASKS);
    }
    text.push_str(&next(details, &failed));
    text
}

fn one(details: &Details, task: &Task) -> String {
    let node = details.nodes.iter().find(|node| node.id == task.node_id);
    let name = node.map_or_else(|| task.node_id.clone(), super::shapes::Node::name);
    let code =
        task.attempts.last().and_then(|attempt| attempt.code).map(|code| format!(", exit code {code}"));
    let took = task.took(0).map(|ms| format!(" after {}", short(ms))).unwrap_or_default();
    let mut text = format!(
        "\n  {} on {name}: attempt {}{took}{}\n",
        style(task.title()).bold(),
        task.attempts.len(),
        code.unwrap_or_default()
    );
    let action =
        node.and_then(|node| node.actions.iter().rfind(|action| action.task_id.to_string() == task.id));
    let output = action.map(|action| [action.stderr.as_deref(), action.stdout.as_deref()]);
    // What it printed as errors; only when it printed none, what else it printed.
    let said =
        output.into_iter().flatten().flatten().find(|said| !said.trim().is_empty()).unwrap_or_default();
    let lines: Vec<&str> = said.trim_end().lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(LINES)) {
        let _ = writeln!(text, "    {} {line}", style("│").dim());
    }
    text
}

fn next(details: &Details, failed: &[&Task]) -> String {
    let id = &details.id;
    let task = failed.first().map(|task| format!(" --task {}", task.id)).unwrap_or_default();
    format!(
        "\n  all output:  cooperage cluster logs {id}{task}\n  \
         try again:   cooperage cluster retry {id}\n  \
         give it up:  cooperage cluster delete {id}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::golden::assert_golden;
    use crate::cli::progress::samples::half_way;

    #[test]
    fn failed_tasks_are_told_with_their_last_words_and_what_to_do() {
        let (details, plan) = half_way();
        assert_golden("src/cli/cluster/golden/failed.txt", &(report(&details, Some(&plan)) + "\n"));
    }
}
