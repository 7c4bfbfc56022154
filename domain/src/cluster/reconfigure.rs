//! Giving a cluster another configuration, and bringing those services up again that take what has changed.

use serde_json::{Map, Value};

use super::decide::wrong_state;
use super::event::Event;
use super::planning;
use super::refusal::Refusal;
use super::request::check_macros;
use super::rollout::Rollout;
use super::state::Cluster;
use super::wanted_change::WantedChange;
use crate::plan::ClusterAction;

/// The same configuration once more changes nothing.
pub(super) fn reconfigure(
    cluster: &Cluster,
    config: Map<String, Value>,
    rollout: Option<Rollout>,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    check_macros(&config)?;
    if !cluster.may_change() {
        return Err(wrong_state(cluster, "configured"));
    }
    if config == cluster.config {
        return Ok(Vec::new());
    }
    let change = WantedChange { config: Some(config), ..WantedChange::default() };
    planning::change(cluster, change, ClusterAction::ClusterReconfigure, rollout, by, now)
}
