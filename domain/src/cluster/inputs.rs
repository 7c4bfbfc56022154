//! The values that services take, by their hashes: which services were brought up with others than they would get now.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::order::view;
use super::state::Cluster;
use crate::entity::{OnChange, Service, ServiceAction};
use crate::id::NodeId;
use crate::macros::{self, ClusterView};
use crate::plan::{Observed, Unit, UnitId, Wanted};
use crate::task::TaskName;

/// How a value is named that another service gives.
pub(super) const OUTPUTS: &str = "outputs.";
/// How the list of a service's members is named: the host names of the nodes that carry it.
pub(super) const MEMBERS: &str = "members.";

/// Which step of a service takes its values: the one that writes its configuration, or else its first.
pub(super) fn taking_step(service: &Service) -> Option<TaskName> {
    let has = |step: &TaskName| {
        step.service_action().is_some_and(|action| service.provisioner.actions.contains_key(&action))
    };
    [TaskName::Configure, TaskName::Install, TaskName::Initialize, TaskName::Start].into_iter().find(has)
}

/// Hash of the values that a unit would be brought up with now, if `step` is the one that takes them; `None` also when
/// some are not known yet.
pub(super) fn hash_at(cluster: &Cluster, unit: &UnitId, step: TaskName) -> Option<String> {
    let service = cluster.definitions.get(unit.service.as_ref()?)?;
    if taking_step(service) != Some(step) {
        return None;
    }
    hash(cluster, &view(cluster), service, &unit.node)
}

/// What each unit that was brought up with other values than it would get now does once more.
pub(super) fn stale(cluster: &Cluster) -> BTreeMap<UnitId, BTreeSet<TaskName>> {
    stale_since(cluster, cluster)
}

/// The same, when of units that nobody noted the values of it is taken that they were brought up as `before` says.
pub(super) fn stale_since(before: &Cluster, cluster: &Cluster) -> BTreeMap<UnitId, BTreeSet<TaskName>> {
    let (view, view_before) = (view(cluster), view(before));
    let mut renew = BTreeMap::new();
    for (id, unit) in &cluster.units {
        let Some(service) = id.service.as_ref().and_then(|name| cluster.definitions.get(name)) else {
            continue;
        };
        let brought_up = unit.observed >= Observed::Configured && unit.wanted >= Wanted::Configured;
        if !brought_up || service.once {
            continue;
        }
        let then = || {
            let service = before.definitions.get(id.service.as_ref()?)?;
            hash(before, &view_before, service, &id.node)
        };
        let Some(known) = unit.inputs.clone().or_else(then) else { continue };
        if hash(cluster, &view, service, &id.node).is_some_and(|now| now != known) {
            renew.insert(id.clone(), steps(service));
        }
    }
    renew
}

/// Units that have steps to take once more although they are as they would be brought up now: what asked for these steps
/// has been taken back.
pub(super) fn settled(cluster: &Cluster) -> BTreeSet<UnitId> {
    let view = view(cluster);
    let as_wanted = |id: &UnitId, unit: &Unit| {
        let service = cluster.definitions.get(id.service.as_ref()?)?;
        let known = unit.inputs.as_ref().filter(|_| !unit.renew.is_empty())?;
        Some(hash(cluster, &view, service, &id.node)? == *known)
    };
    let units = cluster.units.iter().filter(|(id, unit)| as_wanted(id, unit) == Some(true));
    units.map(|(id, _)| id.clone()).collect()
}

/// What a service does to take up other values.
pub(super) fn steps(service: &Service) -> BTreeSet<TaskName> {
    let configures = service.provisioner.actions.contains_key(&ServiceAction::Configure);
    match service.onchange {
        OnChange::Configure if configures => BTreeSet::from([TaskName::Configure]),
        OnChange::Reload => BTreeSet::from([TaskName::Configure, TaskName::Start]),
        OnChange::Configure | OnChange::Restart => {
            BTreeSet::from([TaskName::Configure, TaskName::Stop, TaskName::Start])
        }
    }
}

/// Of everything a service is brought up with on a node: its values, and the fields of its actions that bring it up.
fn hash(cluster: &Cluster, view: &ClusterView<'_>, service: &Service, node: &NodeId) -> Option<String> {
    let values = match &service.inputs {
        None => macros::expand_map(&cluster.config, view, Some(node)).ok()?,
        Some(_) => values(cluster, view, service, node)?,
    };
    let mut fields = BTreeMap::new();
    for action in
        [ServiceAction::Install, ServiceAction::Configure, ServiceAction::Initialize, ServiceAction::Start]
    {
        for (key, text) in service.provisioner.actions.get(&action).iter().flat_map(|spec| &spec.fields) {
            let expanded = macros::expand(text, view, Some(node)).unwrap_or_else(|_| text.clone());
            fields.insert(format!("{action:?}.{key}"), expanded);
        }
    }
    let text = serde_json::to_vec(&(sorted(&Value::Object(values)), fields)).ok()?;
    let digest = Sha256::digest(text);
    Some(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// The same value with the keys of its objects in order, so that the same values give the same text.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let ordered: BTreeMap<&String, &Value> = entries.iter().collect();
            Value::Object(ordered.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        plain => plain.clone(),
    }
}

/// The values a service declares to take, by the names it gives them; nothing while one is not known yet.
pub(super) fn values(
    cluster: &Cluster,
    view: &ClusterView<'_>,
    service: &Service,
    node: &NodeId,
) -> Option<Map<String, Value>> {
    let mut values = Map::new();
    for input in service.inputs.iter().flatten() {
        let place = input.place();
        let value = match (place.strip_prefix(OUTPUTS), place.strip_prefix(MEMBERS)) {
            (Some(output), _) => given(cluster, output),
            (None, Some(service)) => members(cluster, service),
            (None, None) => {
                let found = in_config(&cluster.config, input.place()).cloned().unwrap_or(Value::Null);
                macros::expand_tree(&found, view, Some(node)).ok()?
            }
        };
        values.insert(input.name.clone(), value);
    }
    Some(values)
}

/// A place in the configuration: keys with dots between them, the longest key first where keys hold dots themselves.
fn in_config<'a>(config: &'a Map<String, Value>, place: &str) -> Option<&'a Value> {
    if let Some(value) = config.get(place) {
        return Some(value);
    }
    let ends = place.char_indices().filter(|(_, c)| *c == '.').map(|(at, _)| at);
    ends.rev().find_map(|at| in_config(config.get(&place[..at])?.as_object()?, &place[at + 1..]))
}

/// Host names of the nodes that carry a service and stay, by number.
fn members(cluster: &Cluster, service: &str) -> Value {
    let carrying = cluster
        .nodes_by_number()
        .into_iter()
        .filter(|node| node.properties.services.contains(service) && !cluster.is_leaving(&node.id));
    carrying.map(|node| node.properties.hostname.clone().unwrap_or_else(|| node.id.to_string())).collect()
}

/// What the units of a service give under a name: by host name of their nodes, those that stay.
fn given(cluster: &Cluster, output: &str) -> Value {
    let Some((service, name)) = output.split_once('.') else { return Value::Null };
    let declared = cluster.definitions.get(service);
    let Some(output) = declared.and_then(|it| it.outputs.iter().find(|output| output.name == name)) else {
        return Value::Null;
    };
    let carrying = cluster
        .nodes_by_number()
        .into_iter()
        .filter(|node| node.properties.services.contains(service) && !cluster.is_leaving(&node.id));
    let mut by_host = Map::new();
    for node in carrying {
        let host = node.properties.hostname.clone().unwrap_or_else(|| node.id.to_string());
        if let Some(value) = node.results.get(output.reported()) {
            by_host.insert(host, value.clone());
        }
    }
    Value::Object(by_host)
}
