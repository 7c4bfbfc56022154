//! What is different between two states of a cluster: what a change would do, or what has happened between two moments.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::state::{Cluster, Node};
use crate::id::NodeId;
use crate::plan::{UnitId, Wanted};

/// What became of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// It was not there before.
    Added,
    /// It is there no more, or is not to be.
    Removed,
    /// It is another than before.
    Changed,
}

/// What is different between two states of a cluster. Everything is in order: the same two states give the same answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Difference {
    /// By number.
    pub nodes: Vec<NodeDifference>,
    /// Of the cluster as a whole, by name.
    pub services: Vec<ServiceDifference>,
    /// Units on nodes that are there before and after: how they are wanted and how they are.
    pub units: Vec<UnitDifference>,
    /// Values of the configuration, by path.
    pub config: Vec<ValueDifference>,
    /// Values of the configuration of single nodes, by the node's number and the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_config: Vec<ValueDifference>,
    /// Values of the template, by path.
    pub template: Vec<ValueDifference>,
    /// Values for the provider, by path.
    pub provider: Vec<ValueDifference>,
    /// Of the cluster itself: `expireTime` and `status`.
    pub cluster: Vec<ValueDifference>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeDifference {
    /// Its id.
    pub id: String,
    /// Its number in the cluster.
    pub number: u32,
    /// What people call it.
    pub host: String,
    /// What became of it.
    pub what: Became,
    /// Why, for people; empty when nothing says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Name of its hardware type.
    pub hardwaretype: String,
    /// Name of its image type.
    pub imagetype: String,
    /// Services that it gets.
    pub services_added: BTreeSet<String>,
    /// Services that it loses.
    pub services_removed: BTreeSet<String>,
}

/// A service of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceDifference {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub what: Became,
    /// The version of its definition before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_before: Option<u64>,
    /// The same afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_after: Option<u64>,
}

/// A machine, or a service on it. What is the same before and after is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnitDifference {
    /// Id of the node.
    pub node: String,
    /// What people call the node.
    pub host: String,
    /// The service; none for the machine itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// How it was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_before: Option<String>,
    /// How it is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_after: Option<String>,
    /// How it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_before: Option<String>,
    /// How it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_after: Option<String>,
}

/// A value in a tree of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ValueDifference {
    /// Keys from the root, with dots between them.
    pub path: String,
    /// What it was; none: it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub before: Option<Value>,
    /// What it is; none: it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub after: Option<Value>,
}

impl Difference {
    /// Whether the two states are the same, as far as anybody asks for changes of them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Names of everything that is different and that somebody may have asked for. What only happened, such as a status or
    /// how far a unit is, is not among it.
    #[must_use]
    pub fn touched(&self) -> BTreeSet<String> {
        let values = |of: &'static str, all: &[ValueDifference]| {
            all.iter().map(|value| format!("{of} {}", value.path)).collect::<Vec<_>>()
        };
        let units = self.units.iter().filter(|unit| unit.wanted_before != unit.wanted_after).map(|unit| {
            let service = unit.service.as_deref().unwrap_or("the machine");
            format!("{service} on {}", unit.host)
        });
        let lease = self.cluster.iter().filter(|value| value.path == EXPIRES).map(|_| "lease".to_owned());
        units
            .chain(self.nodes.iter().map(|node| format!("node {}", node.host)))
            .chain(self.services.iter().map(|service| format!("service {}", service.name)))
            .chain(values("config", &self.config))
            .chain(values("config of node", &self.node_config))
            .chain(values("template", &self.template))
            .chain(values("provider", &self.provider))
            .chain(lease)
            .collect()
    }
}

/// Name of the end of the lease.
const EXPIRES: &str = "expireTime";

/// What is different in `after`. Without a `before`, everything is new.
#[must_use]
pub fn difference(before: Option<&Cluster>, after: &Cluster) -> Difference {
    let tree = |value: &dyn Fn(&Cluster) -> Value| values(&before.map_or(Value::Null, value), &value(after));
    // Plain data with text keys always becomes JSON.
    let template = |cluster: &Cluster| serde_json::to_value(&cluster.template).unwrap_or_default();
    Difference {
        nodes: nodes(before, after),
        services: services(before, after),
        units: before.map(|before| units(before, after)).unwrap_or_default(),
        config: tree(&|cluster| Value::Object(cluster.config.clone())),
        node_config: node_config(before, after),
        // What a new cluster is made from is no news.
        template: before.map(|before| values(&template(before), &template(after))).unwrap_or_default(),
        provider: before.map(|_| tree(&provider)).unwrap_or_default(),
        cluster: before.map(|_| tree(&of_cluster)).unwrap_or_default(),
    }
}

fn provider(cluster: &Cluster) -> Value {
    Value::Object(cluster.provider.provisioner.clone())
}

/// By number and path: a node without a configuration of its own has an empty one.
fn node_config(before: Option<&Cluster>, after: &Cluster) -> Vec<ValueDifference> {
    let own = |cluster: &Cluster| -> BTreeMap<u32, Value> {
        let set = cluster.nodes.values().filter(|node| !node.config.is_empty());
        set.map(|node| (node.properties.nodenum, Value::Object(node.config.clone()))).collect()
    };
    let (before, after) = (before.map(own).unwrap_or_default(), own(after));
    let numbers: BTreeSet<u32> = before.keys().chain(after.keys()).copied().collect();
    let tree = |of: &BTreeMap<u32, Value>| {
        let nothing = || Value::Object(serde_json::Map::new());
        let all = numbers
            .iter()
            .map(|number| (number.to_string(), of.get(number).cloned().unwrap_or_else(nothing)));
        Value::Object(all.collect())
    };
    values(&tree(&before), &tree(&after))
}

fn of_cluster(cluster: &Cluster) -> Value {
    serde_json::json!({ "status": cluster.status, EXPIRES: cluster.expires })
}

/// What people call a node.
pub(super) fn host(node: &Node) -> String {
    node.properties.hostname.clone().unwrap_or_else(|| node.id.to_string())
}

/// Whether a node is meant to have a machine.
pub(super) fn is_wanted(cluster: &Cluster, node: &NodeId) -> bool {
    let machine = cluster.units.get(&UnitId::machine(node.clone()));
    cluster.nodes.contains_key(node) && machine.is_none_or(|unit| unit.wanted != Wanted::Absent)
}

/// By node that is wanted, the services that are wanted on it.
fn carried(cluster: &Cluster) -> BTreeMap<&NodeId, BTreeSet<&str>> {
    let mut carried: BTreeMap<&NodeId, BTreeSet<&str>> =
        cluster.nodes.keys().filter(|id| is_wanted(cluster, id)).map(|id| (id, BTreeSet::new())).collect();
    for (id, _) in cluster.units.iter().filter(|(_, unit)| unit.wanted != Wanted::Absent) {
        if let (Some(services), Some(name)) = (carried.get_mut(&id.node), &id.service) {
            services.insert(name);
        }
    }
    carried
}

fn nodes(before: Option<&Cluster>, after: &Cluster) -> Vec<NodeDifference> {
    let (old, new) = (before.map(carried).unwrap_or_default(), carried(after));
    let ids: BTreeSet<&NodeId> = old.keys().chain(new.keys()).copied().collect();
    let nothing = BTreeSet::new();
    let mut all: Vec<NodeDifference> = ids
        .into_iter()
        .filter_map(|id| {
            let what = match (old.contains_key(id), new.contains_key(id)) {
                (false, _) => Became::Added,
                (true, false) => Became::Removed,
                (true, true) => Became::Changed,
            };
            let (had, has) = (old.get(id).unwrap_or(&nothing), new.get(id).unwrap_or(&nothing));
            let names = |more: &BTreeSet<&str>, less: &BTreeSet<&str>| -> BTreeSet<String> {
                more.difference(less).map(|name| (*name).to_owned()).collect()
            };
            let (services_added, services_removed) = (names(has, had), names(had, has));
            let known = before.and_then(|before| before.nodes.get(id));
            let current = after.nodes.get(id);
            let kinds = |node: &Node| {
                let properties = &node.properties;
                (properties.hardwaretype.clone(), properties.imagetype.clone())
            };
            let is_same = services_added.is_empty()
                && services_removed.is_empty()
                && known.map(kinds) == current.map(kinds);
            let node = current.or(known).filter(|_| what != Became::Changed || !is_same)?;
            let (hardwaretype, imagetype) = kinds(node);
            Some(NodeDifference {
                id: id.to_string(),
                number: node.properties.nodenum,
                host: host(node),
                what,
                why: String::new(),
                hardwaretype,
                imagetype,
                services_added,
                services_removed,
            })
        })
        .collect();
    all.sort_by_key(|node| node.number);
    all
}

fn services(before: Option<&Cluster>, after: &Cluster) -> Vec<ServiceDifference> {
    let named = |cluster: Option<&Cluster>, name: &str| {
        let cluster = cluster.filter(|cluster| cluster.services.contains(name))?;
        Some(cluster.definitions.get(name).cloned())
    };
    let names: BTreeSet<&String> =
        before.iter().flat_map(|before| &before.services).chain(&after.services).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let (old, new) = (named(before, name), named(Some(after), name));
            let what = match (&old, &new) {
                (None, _) => Became::Added,
                (_, None) => Became::Removed,
                _ => Became::Changed,
            };
            let version = |definition: &Option<crate::entity::Service>| {
                definition.as_ref().and_then(|service| service.base.version)
            };
            (old != new).then(|| ServiceDifference {
                name: name.clone(),
                what,
                version_before: old.as_ref().and_then(&version),
                version_after: new.as_ref().and_then(&version),
            })
        })
        .collect()
}

fn units(before: &Cluster, after: &Cluster) -> Vec<UnitDifference> {
    let stays = |id: &&UnitId| is_wanted(before, &id.node) && is_wanted(after, &id.node);
    let ids: BTreeSet<&UnitId> = before.units.keys().chain(after.units.keys()).filter(stays).collect();
    ids.into_iter()
        .filter_map(|id| {
            let (old, new) = (before.units.get(id), after.units.get(id));
            let wanted = (old.map(|unit| unit.wanted), new.map(|unit| unit.wanted));
            let observed = (old.map(|unit| unit.observed), new.map(|unit| unit.observed));
            let differs = |differs: bool, value: Option<String>| value.filter(|_| differs);
            let (wants, is) = (wanted.0 != wanted.1, observed.0 != observed.1);
            (wants || is).then(|| UnitDifference {
                node: id.node.to_string(),
                host: after.nodes.get(&id.node).map(host).unwrap_or_default(),
                service: id.service.clone(),
                wanted_before: differs(wants, wanted.0.map(word)),
                wanted_after: differs(wants, wanted.1.map(word)),
                observed_before: differs(is, observed.0.map(word)),
                observed_after: differs(is, observed.1.map(word)),
            })
        })
        .collect()
}

/// A state as in JSON.
fn word(state: impl Serialize) -> String {
    let value = serde_json::to_value(state).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// The values that differ, by path; lists count as one value.
#[must_use]
pub fn values(before: &Value, after: &Value) -> Vec<ValueDifference> {
    let mut found = Vec::new();
    walk(String::new(), Some(before).filter(|value| !value.is_null()), Some(after), &mut found);
    found
}

fn walk(path: String, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<ValueDifference>) {
    if before == after {
        return;
    }
    let empty = serde_json::Map::new();
    let map = |value: Option<&'_ Value>| value.is_none_or(Value::is_object);
    if map(before) && map(after) && (path.is_empty() || before.is_some() && after.is_some()) {
        let fields = |value: Option<&Value>| value.and_then(Value::as_object).unwrap_or(&empty).clone();
        let (before, after) = (fields(before), fields(after));
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for key in keys {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            walk(path, before.get(key), after.get(key), found);
        }
        return;
    }
    found.push(ValueDifference { path, before: before.cloned(), after: after.cloned() });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_told_by_path_and_only_where_they_differ() {
        let before = json!({"a": {"b": 1, "c": [1, 2]}, "d": "x", "gone": {"e": 1}});
        let after = json!({"a": {"b": 2, "c": [1, 2]}, "d": "x", "new": {"f": 1}});
        let told: Vec<_> = values(&before, &after)
            .into_iter()
            .map(|value| (value.path, value.before, value.after))
            .collect();
        let expected = [
            ("a.b", Some(json!(1)), Some(json!(2))),
            ("gone", Some(json!({"e": 1})), None),
            ("new", None, Some(json!({"f": 1}))),
        ];
        let expected: Vec<_> =
            expected.into_iter().map(|(path, before, after)| (path.to_owned(), before, after)).collect();
        assert_eq!(told, expected);
        assert!(values(&after, &after).is_empty());
        assert_eq!(values(&Value::Null, &json!({"a": 1})).len(), 1);
    }
}
