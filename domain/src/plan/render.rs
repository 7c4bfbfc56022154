//! A graph as text for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::id::NodeId;
use crate::plan::graph::{Graph, PlannedTask};

/// The tasks of a graph, node by node, each with the numbers of the tasks it waits for. `label` names a node for people.
/// The same graph gives the same text; numbers count from 1.
///
/// ```text
/// 5 tasks on 2 nodes
///
/// node1
///   1  CREATE
///   2  CONFIRM    after 1
///   5  START web  after 2, 4
///
/// node2
///   3  CREATE
///   4  START db   after 3
/// ```
pub fn render(graph: &Graph, label: impl Fn(&NodeId) -> String) -> String {
    if graph.is_empty() {
        return "nothing to do\n".to_owned();
    }
    let mut by_node: BTreeMap<usize, Vec<&PlannedTask>> = BTreeMap::new();
    for (task, lane) in graph.tasks().iter().zip(graph.lanes()) {
        by_node.entry(lane).or_default().push(task);
    }
    let digits = graph.len().to_string().len();
    let width = graph.tasks().iter().map(|task| title(task).chars().count()).max().unwrap_or(0);
    let mut text = format!("{} on {}\n", count(graph.len(), "task"), count(by_node.len(), "node"));
    for tasks in by_node.values() {
        let _ = writeln!(text, "\n{}", label(&tasks[0].node)); // writing to a String cannot fail
        for task in tasks {
            let (number, title) = (task.index + 1, title(task));
            let line = if task.after.is_empty() {
                format!("  {number:digits$}  {title}")
            } else {
                format!("  {number:digits$}  {title:width$}  after {}", ranges(&task.after))
            };
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

fn title(task: &PlannedTask) -> String {
    match &task.service {
        None => task.name.to_string(),
        Some(service) => format!("{} {service}", task.name),
    }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Indices as numbers from 1, three and more in a row as `FIRST-LAST`.
fn ranges(sorted: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for run in sorted.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => parts.push(format!("{}-{}", first + 1, last + 1)),
            few => parts.extend(few.iter().map(|index| (index + 1).to_string())),
        }
    }
    parts.join(", ")
}
