//! How a running job looks: pure text from what the server said, so that it can be tested and drawn anywhere.

use console::{measure_text_width, style, truncate_str};
use cooperage_domain::cluster::{JobStatus, TaskState};

use super::estimate::expected_end;
use crate::cli::cluster::shapes::{Details, Node, Plan, Task};
use crate::cli::duration::short;

/// The space there is to draw in.
#[derive(Debug, Clone, Copy)]
pub struct Space {
    /// Columns.
    pub width: usize,
    /// Lines.
    pub height: usize,
}

/// Width of a node's bar, in characters.
const BAR: usize = 16;

/// The job as lines: a heading, a line for each node, and a last one for the nodes there is no room for.
#[must_use]
pub fn picture(details: &Details, plan: &Plan, now: i64, space: Space) -> Vec<String> {
    let mut rows: Vec<Row> = details.nodes.iter().map(|node| Row::of(node, details, plan, now)).collect();
    let name_width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let room = space.height.saturating_sub(3 + usize::from(why_nothing_moves(plan).is_some())).max(1);
    let hidden = if rows.len() > room { rest(&mut rows, room) } else { None };
    let heading = heading(details, plan, now);
    let rows = rows.iter().map(|row| row.line(name_width));
    let lines = std::iter::once(heading).chain(why_nothing_moves(plan)).chain(rows).chain(hidden);
    lines.map(|line| truncate_str(&line, space.width, "…").into_owned()).collect()
}

/// `cluster demo (00000001): creating  12/43 tasks  18.2 s of about 31 s`.
fn heading(details: &Details, plan: &Plan, now: i64) -> String {
    let done = plan.tasks.iter().filter(|task| task.status == TaskState::Done).count();
    let elapsed = plan.end_time.unwrap_or(now) - plan.start_time;
    let expected = match plan.status {
        JobStatus::NotSubmitted | JobStatus::Running => {
            format!(" of about {}", short(expected_end(plan, now) - plan.start_time))
        }
        JobStatus::Paused | JobStatus::Complete | JobStatus::Failed => String::new(),
    };
    let what = format!("cluster {} ({}): {}", details.name, details.id, doing(&plan.action));
    let state = match plan.status {
        JobStatus::Failed => format!(" {}", style("failed").red()),
        JobStatus::Paused => format!(" {}", style("paused").yellow()),
        _ => String::new(),
    };
    format!("{}{state}  {done}/{} tasks  {}{expected}", style(what).bold(), plan.tasks.len(), short(elapsed))
}

/// An action in words.
#[must_use]
pub fn doing(action: &str) -> String {
    match action.to_lowercase().as_str() {
        "cluster_create" => "creating".to_owned(),
        "cluster_delete" => "deleting".to_owned(),
        "solve_layout" => "finding a layout".to_owned(),
        "cluster_configure" | "cluster_configure_with_restart" => "configuring".to_owned(),
        other => other.replace('_', " "),
    }
}

/// What a node is doing; in this order they are shown when there is no room for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    Failed,
    Working,
    Waiting,
    Done,
}

struct Row {
    name: String,
    doing: Doing,
    done: usize,
    total: usize,
    words: String,
}

impl Row {
    fn of(node: &Node, details: &Details, plan: &Plan, now: i64) -> Self {
        let tasks: Vec<&Task> = plan.tasks.iter().filter(|task| task.node_id == node.id).collect();
        let with = |status| tasks.iter().copied().find(|task| task.status == status);
        let (doing, words) = if let Some(task) = with(TaskState::Running) {
            (Doing::Working, working(task, now))
        } else if let Some(task) = with(TaskState::Failed) {
            (Doing::Failed, format!("{} failed", task.title()))
        } else if let Some(task) = with(TaskState::Waiting) {
            (Doing::Waiting, waiting(task, details, plan))
        } else {
            (Doing::Done, String::new())
        };
        let done = tasks.iter().filter(|task| task.status == TaskState::Done).count();
        Self { name: node.name(), doing, done, total: tasks.len(), words }
    }

    fn line(&self, name_width: usize) -> String {
        // A node without tasks is done.
        let filled = (BAR * self.done).checked_div(self.total).unwrap_or(BAR);
        let bar = format!("{}{}", "━".repeat(filled), style("─".repeat(BAR - filled)).dim());
        let (bar, words) = match self.doing {
            Doing::Failed => (style(bar).red(), style(self.words.as_str()).red()),
            Doing::Working => (style(bar).yellow(), style(self.words.as_str())),
            Doing::Waiting => (style(bar), style(self.words.as_str()).dim()),
            Doing::Done => (style(bar).green(), style("done").green()),
        };
        let pad = " ".repeat(name_width.saturating_sub(measure_text_width(&self.name)));
        format!("  {}{pad}  {bar} {:>3}/{:<3} {words}", self.name, self.done, self.total)
    }
}

/// The most important reason, when nothing runs although something is to be done.
fn why_nothing_moves(plan: &Plan) -> Option<String> {
    if plan.end_time.is_some() || plan.tasks.iter().any(|task| task.status == TaskState::Running) {
        return None;
    }
    let told = plan.tasks.iter().filter(|task| task.status == TaskState::Waiting);
    let first = |task: &Task| task.waiting.first().cloned();
    // What waits for nothing but other tasks explains nothing.
    let (task, reason) = told
        .filter_map(|task| Some((task, first(task)?)))
        .find(|(_, reason)| !matches!(reason.code.as_str(), "predecessor" | "next"))?;
    Some(style(format!("  nothing runs: {} waits {}", task.title(), reason.text)).yellow().to_string())
}

/// `INSTALL nginx 3.1 s`, and which attempt it is from the second on.
fn working(task: &Task, now: i64) -> String {
    let attempt = task.open_attempt().map_or(1, |attempt| attempt.number);
    let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    let long = match task.straggling {
        true => format!(", longer than usual ({})", short(task.typical_ms)),
        false => String::new(),
    };
    format!("{} {}{again}{long}", task.title(), short(task.took(now).unwrap_or(0)))
}

/// Why a task waits: for a task elsewhere, for the pause after a failed attempt, or for its node or a worker.
fn waiting(task: &Task, details: &Details, plan: &Plan) -> String {
    let open =
        |id: &&String| plan.tasks.iter().find(|other| other.id == **id && other.status != TaskState::Done);
    let blocking: Vec<&Task> = task.after.iter().filter_map(|id| open(&id)).collect();
    let title = task.title();
    match blocking.as_slice() {
        [] if !task.attempts.is_empty() => format!("{title} is tried again soon"),
        [] => format!("{title} is next"),
        [first, more @ ..] => {
            let names = details.node_names();
            let on = names.get(first.node_id.as_str()).map(|name| format!(" on {name}")).unwrap_or_default();
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            format!("{title} waits for {}{on}{more}", first.title())
        }
    }
}

/// Keeps the rows worth looking at, and sums up the others.
fn rest(rows: &mut Vec<Row>, room: usize) -> Option<String> {
    rows.sort_by_key(|row| row.doing);
    let hidden = rows.split_off(room.saturating_sub(1));
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    let count = |doing| hidden.iter().filter(|row| row.doing == doing).count();
    let kinds = [
        (Doing::Failed, "failed"),
        (Doing::Working, "working"),
        (Doing::Waiting, "waiting"),
        (Doing::Done, "done"),
    ];
    let kinds = kinds.into_iter().map(|(doing, word)| (count(doing), word)).filter(|(count, _)| *count > 0);
    let words: Vec<String> = kinds.map(|(count, word)| format!("{count} {word}")).collect();
    Some(style(format!("  … {} more nodes: {}", hidden.len(), words.join(", "))).dim().to_string())
}

#[cfg(test)]
mod tests {
    use super::super::samples::half_way;
    use super::*;
    use crate::cli::cluster::shapes::Waiting;
    use crate::cli::golden::assert_golden;

    fn drawn(width: usize, height: usize) -> String {
        let (details, plan) = half_way();
        picture(&details, &plan, 20_000, Space { width, height }).join("\n") + "\n"
    }

    #[test]
    fn a_job_half_way() {
        assert_golden("src/cli/progress/golden/half_way.txt", &drawn(110, 24));
    }

    #[test]
    fn when_nothing_runs_the_reason_is_told() {
        let (details, mut plan) = half_way();
        let told = |plan: &Plan| picture(&details, plan, 20_000, Space { width: 200, height: 24 }).join("\n");
        for task in plan.tasks.iter_mut().filter(|task| task.status == TaskState::Running) {
            task.status = TaskState::Waiting;
            task.waiting =
                vec![Waiting { code: "no_workers".into(), text: "for a worker: there are 0".into() }];
        }
        assert!(told(&plan).contains("nothing runs: "), "{}", told(&plan));
        assert!(told(&plan).contains(" waits for a worker: there are 0"), "{}", told(&plan));
        let first = plan.tasks.iter_mut().find(|task| !task.waiting.is_empty()).unwrap();
        (first.status, first.straggling, first.typical_ms) = (TaskState::Running, true, 4_000);
        assert!(!told(&plan).contains("nothing runs"));
        assert!(told(&plan).contains("longer than usual (4.0 s)"), "{}", told(&plan));
    }

    #[test]
    fn a_small_terminal_shows_what_matters() {
        let shown = drawn(48, 6);
        assert_golden("src/cli/progress/golden/small.txt", &shown);
        assert!(shown.lines().count() <= 4);
    }
}
