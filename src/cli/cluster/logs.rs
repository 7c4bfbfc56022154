//! `cooperage cluster logs`: what tasks printed, from the beginning or as it comes.

use std::collections::HashMap;
use std::time::Duration;

use console::{Color, style};
use cooperage_domain::cluster::TaskState;
use serde::Deserialize;
use serde_json::Value;

use super::find;
use super::shapes::{Details, Plan, Task};
use crate::cli::args::LogsArgs;
use crate::cli::client::{Client, segment};
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
    /// Path of the next part.
    next: Option<String>,
    /// Number of the newest line of a task that was looked at.
    newest: Option<u64>,
}

/// Shows output of a cluster's tasks.
///
/// # Errors
/// When there is no such cluster, node or task.
pub async fn run(args: &LogsArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (_, details) = find::details(client, &args.which.cluster).await?;
    let mut plans: Vec<Plan> = client.get(&format!("/v2/clusters/{}/plans", details.id)).await?;
    plans.reverse();
    let tasks: Vec<Task> = plans.into_iter().flat_map(|plan| plan.tasks).collect();
    let wanted = wanted(args);
    let mut logs = Logs { client, screen, details, wanted, titles: HashMap::new(), read: HashMap::new() };
    logs.learn_titles(&tasks);
    if args.node.is_none() && args.task.is_none() {
        logs.latest(args.tail.unwrap_or(LATEST)).await?;
        logs.leave_out(&tasks);
    } else {
        let chosen = chosen(&tasks, &logs.details, args)?;
        match args.tail {
            Some(tail) => logs.ends(&chosen, tail).await?,
            None => logs.whole(&chosen).await?,
        }
    }
    if args.follow { logs.follow(args).await } else { Ok(()) }
}

struct Logs<'a> {
    client: &'a Client,
    screen: &'a Screen,
    details: Details,
    /// What else is asked of the lines, as the end of a query.
    wanted: String,
    /// Node and task, for people, by task.
    titles: HashMap<String, String>,
    /// How far each task was read.
    read: HashMap<String, Read>,
}

/// How far the output of a task was read.
#[derive(Debug, Default, Clone, Copy)]
struct Read {
    /// Number of the last line.
    line: u64,
    /// How often it was read since the task ended.
    since_end: u8,
}

impl Read {
    /// Whether nothing more will come. What a task printed last may be stored just after its end, so that it is read once
    /// more.
    const fn is_whole(self) -> bool {
        self.since_end > 1
    }
}

impl Logs<'_> {
    fn learn_titles(&mut self, tasks: &[Task]) {
        let names = self.details.node_names();
        for task in tasks {
            let name = names.get(task.node_id.as_str()).map_or("", String::as_str);
            self.titles.entry(task.id.clone()).or_insert_with(|| format!("{name} {}", task.title()));
        }
    }

    /// The last lines of all tasks.
    async fn latest(&mut self, tail: usize) -> Result<(), Failure> {
        let path = format!("/v2/clusters/{}/logs?limit={}{}", self.details.id, tail.min(PAGE), self.wanted);
        let lines = self.back_from_end(path, tail).await?;
        self.show(lines);
        Ok(())
    }

    /// The last lines of some tasks, in order of time.
    async fn ends(&mut self, tasks: &[Task], tail: usize) -> Result<(), Failure> {
        let mut lines = Vec::new();
        for task in tasks.iter().filter(|task| !task.attempts.is_empty()) {
            let (id, limit) = (&self.details.id, tail.clamp(1, PAGE));
            let path = format!("/v2/clusters/{id}/logs?task={}&tail={limit}{}", task.id, self.wanted);
            lines.extend(self.back_from_end(path, tail).await?);
        }
        lines.sort_by_key(|line| line["time"].as_i64());
        let skipped = lines.len().saturating_sub(tail);
        self.show(lines.split_off(skipped));
        Ok(())
    }

    /// So many lines from the end, in order, from as many parts as it takes.
    async fn back_from_end(&mut self, path: String, tail: usize) -> Result<Vec<Value>, Failure> {
        let (mut parts, mut count, mut next) = (Vec::new(), 0, Some(path));
        while let Some(path) = next.filter(|_| count < tail) {
            let page: Page = self.client.get(&path).await?;
            if let (Some(newest), Some(task)) = (page.newest, task_in(&path)) {
                let read = self.read.entry(task).or_default();
                read.line = read.line.max(newest);
            }
            count += page.lines.len();
            parts.push(page.lines);
            next = page.next;
        }
        let mut lines: Vec<Value> = parts.into_iter().rev().flatten().collect();
        let skipped = lines.len().saturating_sub(tail);
        Ok(lines.split_off(skipped))
    }

    /// What ended before is not shown once more when following.
    fn leave_out(&mut self, tasks: &[Task]) {
        for task in tasks.iter().filter(|task| has_ended(task)) {
            self.read.entry(task.id.clone()).or_default().since_end = u8::MAX;
        }
    }

    /// Everything some tasks printed.
    async fn whole(&mut self, tasks: &[Task]) -> Result<(), Failure> {
        let lines = self.news(tasks).await?;
        self.show(lines);
        Ok(())
    }

    /// New lines as they come, until the latest job is over.
    async fn follow(&mut self, args: &LogsArgs) -> Result<(), Failure> {
        tokio::select! {
            ended = self.until_the_end(args) => ended,
            _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
        }
    }

    async fn until_the_end(&mut self, args: &LogsArgs) -> Result<(), Failure> {
        let Some(job) = self.details.latest_job_id.clone() else { return Ok(()) };
        let path = format!("/v2/clusters/{}/plans/{job}", self.details.id);
        loop {
            let plan: Plan = self.client.get(&path).await?;
            self.learn_titles(&plan.tasks);
            let tasks: Vec<Task> =
                plan.tasks.iter().filter(|task| is_meant(task, &self.details, args)).cloned().collect();
            let lines = self.news(&tasks).await?;
            self.show(lines);
            if plan.is_over() && tasks.iter().all(|task| self.is_whole(task)) {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn is_whole(&self, task: &Task) -> bool {
        task.attempts.is_empty() || self.read.get(&task.id).is_some_and(|read| read.is_whole())
    }

    /// What some tasks printed since they were last looked at, in order of time.
    async fn news(&mut self, tasks: &[Task]) -> Result<Vec<Value>, Failure> {
        let mut lines = Vec::new();
        for task in tasks {
            if !self.is_whole(task) {
                self.read_on(task, &mut lines).await?;
            }
        }
        // Stable: lines of one task keep their order.
        lines.sort_by_key(|line| line["time"].as_i64());
        Ok(lines)
    }

    async fn read_on(&mut self, task: &Task, lines: &mut Vec<Value>) -> Result<(), Failure> {
        let mut read = self.read.get(&task.id).copied().unwrap_or_default();
        let id = &self.details.id;
        let wanted = &self.wanted;
        let mut next =
            Some(format!("/v2/clusters/{id}/logs?task={}&after={}&limit={PAGE}{wanted}", task.id, read.line));
        while let Some(path) = next {
            let page: Page = self.client.get(&path).await?;
            read.line = read.line.max(page.newest.unwrap_or_default());
            lines.extend(page.lines);
            next = page.next;
        }
        if has_ended(task) {
            read.since_end = read.since_end.saturating_add(1);
        }
        self.read.insert(task.id.clone(), read);
        Ok(())
    }

    fn show(&mut self, lines: Vec<Value>) {
        for raw in lines {
            let Ok(line) = serde_json::from_value::<Line>(raw.clone()) else { continue };
            let read = self.read.entry(line.task.clone()).or_default();
            read.line = read.line.max(line.number);
            let title = self.titles.get(&line.task).unwrap_or(&line.task);
            self.screen.event(&raw, || shown(&line, title));
        }
    }
}

/// What else is asked of the lines, as the end of a query.
fn wanted(args: &LogsArgs) -> String {
    let mut query = String::new();
    for (name, value) in [("search", &args.search), ("since", &args.since)] {
        query.extend(value.iter().map(|value| format!("&{name}={}", segment(value))));
    }
    for (name, is_set) in [("ignoreCase", args.ignore_case), ("regex", args.regex)] {
        query.extend(is_set.then(|| format!("&{name}=true")));
    }
    query
}

/// The task that a path asks for.
fn task_in(path: &str) -> Option<String> {
    let (_, query) = path.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix("task=")).map(str::to_owned)
}

fn has_ended(task: &Task) -> bool {
    matches!(task.status, TaskState::Done | TaskState::Failed)
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
fn chosen(tasks: &[Task], details: &Details, args: &LogsArgs) -> Result<Vec<Task>, Failure> {
    if let Some(text) = args.node.as_deref().filter(|text| details.node(text).is_none()) {
        return Err(unknown_node(details, text));
    }
    let chosen: Vec<Task> = tasks.iter().filter(|task| is_meant(task, details, args)).cloned().collect();
    if chosen.is_empty() {
        return Err(Failure::unknown(
            format!("no task of cluster {} is meant by that", details.id),
            format!("see its tasks: cooperage cluster plan {}", details.id),
        ));
    }
    Ok(chosen)
}

fn is_meant(task: &Task, details: &Details, args: &LogsArgs) -> bool {
    let on = |text: &str| details.node(text).is_some_and(|node| node.id == task.node_id);
    args.node.as_deref().is_none_or(on) && args.task.as_deref().is_none_or(|text| is_task(task, text))
}

/// A node that a cluster does not have, with those it has.
pub(super) fn unknown_node(details: &Details, text: &str) -> Failure {
    let nodes = details.nodes.iter().map(|node| format!("{} ({})", node.properties.nodenum, node.name()));
    Failure::unknown(
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
