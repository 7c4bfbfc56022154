//! Giving a cluster another configuration, and bringing those services up again that take what has changed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::decide::wrong_state;
use super::event::Event;
use super::planning;
use super::refusal::Refusal;
use super::request::check_macros;
use super::rollout::Rollout;
use super::state::Cluster;
use super::values;
use super::wanted_change::WantedChange;
use crate::id::NodeId;
use crate::plan::ClusterAction;

/// The same configuration once more changes nothing.
pub(super) fn reconfigure(
    cluster: &Cluster,
    config: Map<String, Value>,
    nodes: &BTreeMap<NodeId, Map<String, Value>>,
    rollout: Option<Rollout>,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    check_macros(&config)?;
    nodes.values().try_for_each(check_macros)?;
    if !cluster.may_change() {
        return Err(wrong_state(cluster, "configured"));
    }
    if !nodes.is_empty() {
        cluster.nodes_named(&nodes.keys().cloned().collect())?;
    }
    let config = Some(config).filter(|config| *config != cluster.config);
    let change = WantedChange { config, node_config: of_nodes(cluster, nodes), ..WantedChange::default() };
    if change.is_empty() {
        return Ok(Vec::new());
    }
    planning::change(cluster, change, ClusterAction::ClusterReconfigure, rollout, by, now)
}

/// The whole new configuration of each node that gets another one.
fn of_nodes(
    cluster: &Cluster,
    changes: &BTreeMap<NodeId, Map<String, Value>>,
) -> BTreeMap<NodeId, Map<String, Value>> {
    let changed = changes.iter().filter_map(|(id, change)| {
        let present = &cluster.nodes.get(id)?.config;
        let config = values::changed(present, change);
        (config != *present).then(|| (id.clone(), config))
    });
    changed.collect()
}
