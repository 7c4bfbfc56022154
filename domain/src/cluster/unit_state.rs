//! The units of a cluster as people look at them: what is wanted of each, what is known of it, and what it is doing or
//! waiting for.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::why_waiting;
use super::inputs;
use super::job::{Task, TaskState};
use super::state::Cluster;
use crate::plan::{Observed, Unit, UnitId, Wanted};

/// A machine, or a service on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnitState {
    /// Id of the node.
    pub node_id: String,
    /// Host name of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The service; none for the machine itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// What is wanted of it.
    #[schema(value_type = String)]
    pub wanted: Wanted,
    /// How far it was brought.
    #[schema(value_type = String)]
    pub observed: Observed,
    /// `done`, `running`, `waiting`, `failed`, or `undone` when no task of it is planned although it is not as wanted.
    pub state: &'static str,
    /// The task that runs, waits or failed, as `START`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<&'static str>,
    /// Why it waits, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// What a probe found wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// Hash of the values it was last brought up with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// Whether it would be brought up with other values now.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

impl Cluster {
    /// All units, by node and service, at `now` (ms since 1970).
    #[must_use]
    pub fn unit_states(&self, now: i64) -> Vec<UnitState> {
        let stale = inputs::stale(self);
        self.units
            .iter()
            .map(|(id, unit)| {
                let (state, task) = self.standing(id, unit);
                let reasons =
                    task.filter(|_| state == "waiting").map(|task| why_waiting(self, task.id.number, now));
                UnitState {
                    node_id: id.node.to_string(),
                    hostname: self.nodes.get(&id.node).and_then(|node| node.properties.hostname.clone()),
                    service: id.service.clone(),
                    wanted: unit.wanted,
                    observed: unit.observed,
                    state,
                    step: task.map(|task| task.name.as_str()),
                    waiting: reasons.into_iter().flatten().map(|reason| reason.text).collect(),
                    drift: unit.drift.clone(),
                    inputs: unit.inputs.clone(),
                    stale: stale.contains_key(id),
                }
            })
            .collect()
    }

    /// How a unit stands, and the task of the latest job that says so.
    fn standing(&self, id: &UnitId, unit: &Unit) -> (&'static str, Option<&Task>) {
        let job = self.latest_job();
        let tasks = || {
            let of_node = job.into_iter().flat_map(|job| job.tasks_of(&id.node));
            of_node.filter(|task| task.service == id.service)
        };
        for (state, word) in
            [(TaskState::Running, "running"), (TaskState::Failed, "failed"), (TaskState::Waiting, "waiting")]
        {
            if let Some(task) = tasks().find(|task| task.state == state) {
                let over = job.is_some_and(|job| job.ended.is_some());
                return (if over && word == "waiting" { "undone" } else { word }, Some(task));
            }
        }
        (if is_as_wanted(id, unit) { "done" } else { "undone" }, None)
    }
}

/// Whether nothing is left to be done for what is wanted of a unit, as far as its phases say.
fn is_as_wanted(id: &UnitId, unit: &Unit) -> bool {
    let brought = match unit.wanted {
        Wanted::Absent => unit.observed == Observed::Absent,
        Wanted::Present => unit.observed >= Observed::Bootstrapped,
        Wanted::Installed => unit.observed >= Observed::Installed,
        Wanted::Configured => unit.observed >= Observed::Configured,
        Wanted::Stopped => unit.observed < Observed::Started,
        // A service that cannot be started is as far as it gets.
        Wanted::Running if id.is_machine() => unit.observed >= Observed::Bootstrapped,
        Wanted::Running => unit.observed > Observed::Absent,
    };
    brought && unit.renew.is_empty()
}
