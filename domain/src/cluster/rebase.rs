//! A change that was thought up on an earlier state of a cluster, made on the present one: only where nothing that it
//! touches was touched meanwhile, and only if it still does the same.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::command::Command;
use super::decide::decide;
use super::difference::{Difference, ValueDifference, difference};
use super::planning::after;
use super::refusal::Refusal;
use super::state::Cluster;

/// A change as it is made on the present state.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebased {
    /// What the cluster is told.
    pub command: Command,
    /// What has been changed meanwhile by others, none of it touched by this.
    pub meanwhile: BTreeSet<String>,
}

/// Why a change cannot be made on the present state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRebase {
    /// It is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Others have touched the same.
    #[error("it touches what was changed meanwhile: {}", listed(.0))]
    Overlaps(BTreeSet<String>),
    /// It would not do what it was to do.
    #[error("it would not do the same any more: {}", listed(.0))]
    DoesOtherwise(BTreeSet<String>),
}

fn listed(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// `command`, thought up on `base`, for `present`. A configuration, which is always given as a whole, keeps what others have
/// changed in it meanwhile.
///
/// # Errors
/// [`NoRebase`]; nothing has changed.
pub fn rebase(base: &Cluster, present: &Cluster, command: Command, now: i64) -> Result<Rebased, NoRebase> {
    if base.sequence == present.sequence {
        decide(present, command.clone(), now)?;
        return Ok(Rebased { command, meanwhile: BTreeSet::new() });
    }
    let wanted = outcome(base, command.clone(), now)?;
    let meanwhile = difference(Some(base), present).touched();
    let both: BTreeSet<String> = wanted.touched().intersection(&meanwhile).cloned().collect();
    if !both.is_empty() {
        return Err(NoRebase::Overlaps(both));
    }
    let command = carried_over(command, &wanted.config, &present.config);
    let comes = outcome(present, command.clone(), now)?;
    let other: BTreeSet<String> = wanted.touched().symmetric_difference(&comes.touched()).cloned().collect();
    if !other.is_empty() {
        return Err(NoRebase::DoesOtherwise(other));
    }
    Ok(Rebased { command, meanwhile })
}

/// What a command would make different.
fn outcome(cluster: &Cluster, command: Command, now: i64) -> Result<Difference, Refusal> {
    let events = decide(cluster, command, now)?;
    Ok(difference(Some(cluster), &after(cluster, &events)))
}

/// The command with the present configuration, in which only what the command was to change is changed.
fn carried_over(command: Command, wanted: &[ValueDifference], present: &Map<String, Value>) -> Command {
    match command {
        Command::Configure { restart, by, .. } => {
            Command::Configure { config: merged(wanted, present), restart, by }
        }
        Command::Reconfigure { nodes, rollout, by, .. } => {
            Command::Reconfigure { config: merged(wanted, present), nodes, rollout, by }
        }
        Command::GiveFields { fields, command, by } => {
            let command = Box::new(carried_over(*command, wanted, present));
            Command::GiveFields { fields, command, by }
        }
        other => other,
    }
}

fn merged(wanted: &[ValueDifference], present: &Map<String, Value>) -> Map<String, Value> {
    let mut config = present.clone();
    for value in wanted {
        set(&mut config, &value.path, value.after.clone());
    }
    config
}

/// Puts a value at a path, or takes it away.
fn set(tree: &mut Map<String, Value>, path: &str, value: Option<Value>) {
    // A key may hold a dot: the longest one that is there is meant.
    let known =
        tree.keys().filter(|key| path.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with('.')));
    let inner = known.max_by_key(|key| key.len()).cloned();
    if let Some(key) = inner
        && let Some(Value::Object(fields)) = tree.get_mut(&key)
    {
        return set(fields, path.get(key.len() + 1..).unwrap_or_default(), value);
    }
    match value {
        Some(value) => {
            tree.insert(path.to_owned(), value);
        }
        None => {
            tree.remove(path);
        }
    }
}
