//! What runs have covered.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::fault::FaultKind;

/// What runs have covered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Runs.
    pub runs: u64,
    /// Time that passed in them, in ms.
    pub simulated_ms: u64,
    /// Clusters brought into being.
    pub clusters: u64,
    /// Executions begun outside.
    pub executions: u64,
    /// Events by kind.
    pub events: BTreeMap<String, u64>,
    /// Faults that happened, by kind.
    pub faults: BTreeMap<String, u64>,
    /// Operations carried out, by name.
    pub operations: BTreeMap<String, u64>,
    /// Operations refused, by name.
    pub refused: BTreeMap<String, u64>,
}

fn more(counts: &mut BTreeMap<String, u64>, name: &str, by: u64) {
    if let Some(count) = counts.get_mut(name) {
        *count += by;
    } else {
        counts.insert(name.to_owned(), by);
    }
}

impl Coverage {
    /// Counts an event by its text.
    pub fn event(&mut self, json: &str) {
        let kind = json.split('"').nth(3).unwrap_or_default();
        more(&mut self.events, kind, 1);
    }

    /// Counts a fault.
    pub fn fault(&mut self, kind: FaultKind, times: u64) {
        more(&mut self.faults, kind.as_str(), times);
    }

    /// Counts an operation.
    pub fn operation(&mut self, name: &str, done: bool) {
        more(if done { &mut self.operations } else { &mut self.refused }, name, 1);
    }

    /// Adds another one.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.simulated_ms += other.simulated_ms;
        self.clusters += other.clusters;
        self.executions += other.executions;
        let both = [
            (&mut self.events, &other.events),
            (&mut self.faults, &other.faults),
            (&mut self.operations, &other.operations),
            (&mut self.refused, &other.refused),
        ];
        for (mine, others) in both {
            others.iter().for_each(|(name, count)| more(mine, name, *count));
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
        let list = |counts: &BTreeMap<String, u64>| {
            let counted: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
            counted.join(", ")
        };
        let hours = self.simulated_ms / 3_600_000;
        writeln!(
            f,
            "{} runs, {hours} hours of simulated time, {} clusters, {} executions",
            self.runs, self.clusters, self.executions
        )?;
        writeln!(f, "{} events: {}", total(&self.events), list(&self.events))?;
        writeln!(f, "{} faults: {}", total(&self.faults), list(&self.faults))?;
        writeln!(f, "{} operations: {}", total(&self.operations), list(&self.operations))?;
        write!(f, "{} refused: {}", total(&self.refused), list(&self.refused))
    }
}
