//! A run as data: what is asked when, and what goes wrong. Drawn from a seed; a list of parts of it is a run too.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::desk::{FIRST_UPON, parent_of};
use crate::fault::{self, Fault, serde_as_text};
use crate::operation::{CREATE, OPERATIONS, named};
use crate::random::Random;

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Decides everything that is not listed: how long tasks take, what clusters look like.
    pub seed: u64,
    /// What is asked, in the order of time.
    pub steps: Vec<Step>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
}

/// Something that is asked of a cluster. Written `OPERATION@MS/CLUSTER`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// When, in ms from the begin of the run.
    pub at: i64,
    /// Of which cluster, from 1.
    pub cluster: u32,
    /// What.
    pub operation: String,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}/{}", self.operation, self.at, self.cluster)
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("{text:?} is no operation: write OPERATION@MS/CLUSTER");
        let (operation, rest) = text.trim().split_once('@').ok_or_else(refuse)?;
        let (at, cluster) = rest.split_once('/').ok_or_else(refuse)?;
        if operation != CREATE && named(operation).is_none() {
            let known: Vec<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
            return Err(format!("there is no operation {operation:?}; use create, {}", known.join(", ")));
        }
        Ok(Self {
            at: at.parse().map_err(|_| refuse())?,
            cluster: cluster.parse().map_err(|_| refuse())?,
            operation: operation.to_owned(),
        })
    }
}

serde_as_text!(Step);

impl Plan {
    /// The run of a seed: one to three clusters, in some runs one more upon another one, and up to some twenty operations on them within an hour or so.
    #[must_use]
    pub fn draw(seed: u64) -> Self {
        let mut random = Random::about(seed, &[1]);
        let family = Random::about(seed, &[10]).one_in(3);
        let clusters = 1 + random.below(3);
        let mut steps = Vec::new();
        let total: u64 = OPERATIONS.iter().map(|operation| operation.weight).sum();
        let mut numbers: Vec<u32> = (1..=clusters).filter_map(|number| u32::try_from(number).ok()).collect();
        if family {
            numbers.extend(
                [FIRST_UPON, FIRST_UPON - 2].into_iter().filter(|it| *it >= FIRST_UPON || clusters < 2),
            );
        }
        for cluster in numbers {
            let mut at = random.between(0, 20_000);
            if parent_of(cluster).is_some() {
                // Some come while the cluster below does, others long after.
                at += *random.pick(&[0, 60_000, 600_000]);
            }
            steps.push(Step { at, cluster, operation: CREATE.to_owned() });
            // Some run through quietly, some are asked for something all the time.
            let (count, pause) = (random.below(11), *random.pick(&[3_000, 60_000, 300_000, 400_000]));
            for _ in 0..count {
                at += random.between(0, pause);
                let mut place = random.below(total);
                let drawn = OPERATIONS.iter().find(|operation| {
                    let found = place < operation.weight;
                    place = place.saturating_sub(operation.weight);
                    found
                });
                let operation = drawn.map_or(CREATE, |operation| operation.name).to_owned();
                steps.push(Step { at, cluster, operation });
            }
        }
        steps.sort();
        Self { seed, steps, faults: fault::draw(seed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_is_written() {
        for seed in 0..20 {
            let plan = Plan::draw(seed);
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        }
        for text in ["", "stop", "stop@1", "stop@x/1", "dance@1/1"] {
            assert!(text.parse::<Step>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_operation_is_drawn() {
        let plans: Vec<_> = (0..100).map(Plan::draw).collect();
        for operation in OPERATIONS {
            let drawn =
                plans.iter().flat_map(|plan| &plan.steps).any(|step| step.operation == operation.name);
            assert!(drawn, "{}", operation.name);
        }
    }
}
