//! `cooperage cluster logs`: what tasks printed, from the beginning or as it comes.

use std::collections::HashMap;
use std::time::Duration;

use console::{Color, style};
use serde::Deserialize;
use serde_json::Value;

use super::find;
use super::shapes::{Details, Plan, Task};
use crate::cli::args::LogsArgs;
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Lines the server gives at once.
const PAGE: usize = 1000;
/// Lines of a whole cluster that are shown unless others are asked for.
const LATEST: usize = 200;
/// Time between two looks when following.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Deserialize)]
struct Line {
    task: String,
    #[serde(default)]
    number: u64,
    #[serde(default)]
    stream: String,
    #[serde(default)]
    text: String,
}

#[derive(Debug, Deserialize)]
struct Page {
    lines: Vec<Value>,
}

/// Shows output of a cluster's tasks.
///
/// # Errors
/// When there is no such cluster, node or task.
pub async fn run(args: &LogsArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (_, details) = find::details(client, &args.which.cluster).await?;
    let mut logs = Logs { client, screen, details, seen: HashMap::new() };
    let chosen = logs.choose(args).await?;
    match &chosen {
        None => logs.latest(args.tail.unwrap_or(LATEST)).await?,
        Some(tasks) => logs.whole(tasks, args.tail).await?,
    }
    if args.follow { logs.follow(args).await } else { Ok(()) }
}

struct Logs<'a> {
    client: &'a Client,
    screen: &'a Screen,
    details: Details,
    /// Number of the last line that was shown, by task.
    seen: HashMap<String, u64>,
}

impl Logs<'_> {
    /// The tasks that are meant; `None` when all are.
    async fn choose(&self, args: &LogsArgs) -> Result<Option<Vec<Task>>, Failure> {
        if args.node.is_none() && args.task.is_none() {
            return Ok(None);
        }
        let mut plans: Vec<Plan> =
            self.client.get(&format!("/v2/clusters/{}/plans", self.details.id)).await?;
        plans.reverse();
        let tasks = plans.into_iter().flat_map(|plan| plan.tasks);
        let chosen = matching(tasks, &self.details, args)?;
        if chosen.is_empty() {
            return Err(Failure::refused(
                format!("no task of cluster {} is meant by that", self.details.id),
                format!("see its tasks: cooperage cluster plan {}", self.details.id),
            ));
        }
        Ok(Some(chosen))
    }

    /// The last lines of all tasks.
    async fn latest(&mut self, tail: usize) -> Result<(), Failure> {
        let limit = tail.min(PAGE);
        let page: Page =
            self.client.get(&format!("/v2/clusters/{}/logs?limit={limit}", self.details.id)).await?;
        self.show(page.lines);
        Ok(())
    }

    /// Everything some tasks printed, or the end of it.
    async fn whole(&mut self, tasks: &[Task], tail: Option<usize>) -> Result<(), Failure> {
        let mut lines = Vec::new();
        for task in tasks.iter().filter(|task| !task.attempts.is_empty()) {
            lines.extend(self.news(task).await?);
        }
        // Stable: lines of one task keep their order.
        lines.sort_by_key(|line| line["time"].as_i64());
        let skipped = tail.map_or(0, |tail| lines.len().saturating_sub(tail));
        self.show(lines.split_off(skipped));
        Ok(())
    }

    /// New lines as they come, until the latest job is over.
    async fn follow(&mut self, args: &LogsArgs) -> Result<(), Failure> {
        let Some(job) = self.details.latest_job_id.clone() else { return Ok(()) };
        let path = format!("/v2/clusters/{}/plans/{job}", self.details.id);
        loop {
            let plan: Plan = self.client.get(&path).await?;
            let over = plan.is_over();
            let mut lines = Vec::new();
            for task in matching(plan.tasks.into_iter(), &self.details, args)? {
                // What ended before the last look may have printed after it.
                if !task.attempts.is_empty() {
                    lines.extend(self.news(&task).await?);
                }
            }
            lines.sort_by_key(|line| line["time"].as_i64());
            self.show(lines);
            if over {
                return Ok(());
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = tokio::signal::ctrl_c() => return Err(Failure::Interrupted),
            }
        }
    }

    /// What a task printed since it was last looked at.
    async fn news(&mut self, task: &Task) -> Result<Vec<Value>, Failure> {
        let mut all = Vec::new();
        loop {
            let after = self.seen.get(&task.id).copied().unwrap_or(0);
            let path =
                format!("/v2/clusters/{}/logs?task={}&after={after}&limit={PAGE}", self.details.id, task.id);
            let page: Page = self.client.get(&path).await?;
            let full = page.lines.len() >= PAGE;
            let last = page.lines.iter().filter_map(|line| line["number"].as_u64()).max();
            self.seen.insert(task.id.clone(), last.unwrap_or(after));
            all.extend(page.lines);
            if !full || last.is_none_or(|last| last <= after) {
                return Ok(all);
            }
        }
    }

    fn show(&mut self, lines: Vec<Value>) {
        let names = self.details.node_names();
        let titles: HashMap<String, String> = self
            .details
            .nodes
            .iter()
            .flat_map(|node| node.actions.iter().map(move |action| (node, action)))
            .map(|(node, action)| {
                let service =
                    if action.service.is_empty() { String::new() } else { format!(" {}", action.service) };
                let name = names.get(node.id.as_str()).map_or("", String::as_str);
                (action.task_id.to_string(), format!("{name} {}{service}", action.action))
            })
            .collect();
        for raw in lines {
            let Ok(line) = serde_json::from_value::<Line>(raw.clone()) else { continue };
            let seen = self.seen.entry(line.task.clone()).or_default();
            *seen = line.number.max(*seen);
            let title = titles.get(&line.task).unwrap_or(&line.task);
            self.screen.event(&raw, || shown(&line, title));
        }
    }
}

fn shown(line: &Line, title: &str) -> String {
    let text = line.text.trim_end_matches(['\n', '\r']);
    let text = match line.stream.as_str() {
        "stderr" => style(text).red().to_string(),
        "progress" => style(text).cyan().to_string(),
        _ => text.to_owned(),
    };
    format!("{} {} {text}", style(title).fg(colour(title)), style("│").dim())
}

/// Each node and task keeps its colour.
fn colour(title: &str) -> Color {
    const COLOURS: [Color; 4] = [Color::Blue, Color::Green, Color::Magenta, Color::Yellow];
    let sum = title.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    COLOURS[sum % COLOURS.len()]
}

/// The tasks that `--node` and `--task` mean.
fn matching(
    tasks: impl Iterator<Item = Task>,
    details: &Details,
    args: &LogsArgs,
) -> Result<Vec<Task>, Failure> {
    let node = match &args.node {
        None => None,
        Some(text) => Some(details.node(text).ok_or_else(|| unknown_node(details, text))?.id.as_str()),
    };
    let is = |task: &Task| {
        node.is_none_or(|node| task.node_id == node)
            && args.task.as_deref().is_none_or(|text| is_task(task, text))
    };
    Ok(tasks.filter(is).collect())
}

/// A node that a cluster does not have, with those it has.
pub(super) fn unknown_node(details: &Details, text: &str) -> Failure {
    let nodes = details.nodes.iter().map(|node| format!("{} ({})", node.properties.nodenum, node.name()));
    Failure::refused(
        format!("cluster {} has no node {text:?}", details.id),
        format!("use one of: {}", nodes.collect::<Vec<_>>().join(", ")),
    )
}

/// Whether a task is meant by an id, its number, a name, or a name and a service.
fn is_task(task: &Task, text: &str) -> bool {
    let number = task.id.rsplit('-').next().and_then(|number| number.parse::<u32>().ok());
    task.id == text
        || text.parse().is_ok_and(|text: u32| Some(text) == number)
        || task.task_name.as_str().eq_ignore_ascii_case(text)
        || task.title().eq_ignore_ascii_case(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::progress::samples::half_way;

    #[test]
    fn tasks_are_meant_by_id_number_name_or_name_and_service() {
        let (_, plan) = half_way();
        let count = |text: &str| plan.tasks.iter().filter(|task| is_task(task, text)).count();
        let all = plan.tasks.iter().filter(|task| task.task_name.as_str() == "CREATE").count();
        assert!(all > 1);
        assert_eq!(count("create"), all);
        assert_eq!(
            count("START nginx"),
            plan.tasks.iter().filter(|task| task.title() == "START nginx").count()
        );
        assert_eq!((count(&plan.tasks[0].id), count("1"), count("999")), (1, 1, 0));
    }

    #[test]
    fn a_line_names_its_node_and_task() {
        let line = Line { task: "t".into(), number: 1, stream: "stdout".into(), text: "hello\n".into() };
        let shown = shown(&line, "shop1-1000 INSTALL nginx");
        assert_eq!(console::strip_ansi_codes(&shown), "shop1-1000 INSTALL nginx │ hello");
    }
}
