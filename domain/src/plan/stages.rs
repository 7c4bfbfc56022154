//! A graph as Coopr shows it: one stage after the other. Nothing runs by stages; they are a view.

use std::collections::HashMap;
use std::hash::Hash;

use crate::plan::graph::Graph;

/// The stages of a graph: its [`levels`], each [`split`] so that no node has two tasks in a stage. A graph without tasks
/// has no stages.
#[must_use]
pub fn stages(graph: &Graph) -> Vec<Vec<usize>> {
    let node = |&task: &usize| &graph.tasks()[task].node;
    levels(graph).into_iter().flat_map(|level| split(level, node)).collect()
}

/// The tasks by level: 0 for one that waits for nothing, else one more than the highest level it waits for.
#[must_use]
pub fn levels(graph: &Graph) -> Vec<Vec<usize>> {
    let mut level_of: Vec<usize> = Vec::with_capacity(graph.len());
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for task in graph.tasks() {
        let level = task.after.iter().map(|&awaited| level_of[awaited] + 1).max().unwrap_or(0);
        level_of.push(level);
        if levels.len() == level {
            levels.push(Vec::new());
        }
        levels[level].push(task.index);
    }
    levels
}

/// The items of a stage in as few parts as let no node occur twice in a part: each goes into the first part that has
/// none of its node. The order within a part is kept.
pub fn split<T, N: Eq + Hash>(stage: impl IntoIterator<Item = T>, node: impl Fn(&T) -> N) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = Vec::new();
    let mut taken: HashMap<N, usize> = HashMap::new();
    for item in stage {
        let part = taken.entry(node(&item)).or_default();
        if parts.len() == *part {
            parts.push(Vec::new());
        }
        parts[*part].push(item);
        *part += 1;
    }
    parts
}
