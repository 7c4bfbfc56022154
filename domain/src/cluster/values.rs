//! The configuration that a node and its services see, and where each value of it comes from.
//!
//! Values lie in layers. A stronger layer covers what a weaker one says at the same place; objects are laid over each other
//! key by key, everything else counts as one value. What machines are and what tasks report is no layer: it has names of
//! its own and covers nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::state::{Cluster, Node};
use crate::entity::Service;
use crate::plan::needs::{Needs, Phase, Towards};

/// Where a value comes from, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// What another service gives.
    Output,
    /// The defaults of a service.
    Service,
    /// The template's defaults, as the cluster took them over.
    Template,
    /// The cluster's configuration.
    Cluster,
    /// The configuration of one node.
    Node,
}

/// A value with the layer it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layered {
    /// Keys from the root.
    pub place: Vec<String>,
    /// The value, with macros as written; no object, but for an empty one.
    pub value: Value,
    /// Where it comes from.
    pub layer: Layer,
    /// The service whose default it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
}

impl Layered {
    /// The keys with dots between them.
    #[must_use]
    pub fn path(&self) -> String {
        self.place.join(".")
    }
}

/// The values that a node's services see; without a node, those that are the same for all nodes.
#[must_use]
pub fn layered(cluster: &Cluster, node: Option<&Node>) -> Vec<Layered> {
    let services: BTreeSet<&str> = match node {
        Some(node) => node.properties.services.iter().map(String::as_str).collect(),
        None => cluster.services.iter().map(String::as_str).collect(),
    };
    let template = &cluster.template.defaults.config;
    let layers = layers(cluster, node, &services);
    let mut values = laid(&layers);
    for value in values.values_mut().filter(|value| value.layer == Layer::Cluster) {
        let taken_over = at(template, &value.place) == Some(&value.value);
        value.layer = if taken_over { Layer::Template } else { Layer::Cluster };
    }
    values.into_values().collect()
}

/// The configuration that a service sees on a node, or the node itself without one; macros as written.
pub(super) fn effective<'a>(
    cluster: &'a Cluster,
    node: Option<&'a Node>,
    service: Option<&'a Service>,
) -> Cow<'a, Map<String, Value>> {
    let layers = layers(cluster, node, &service.into_iter().map(Service::name).collect());
    match layers[..] {
        [] => Cow::Borrowed(&cluster.config),
        [Source { values, .. }] => Cow::Borrowed(values),
        _ => Cow::Owned(put_together(laid(&layers).into_values())),
    }
}

/// One layer.
struct Source<'a> {
    layer: Layer,
    service: Option<&'a str>,
    values: &'a Map<String, Value>,
}

/// The layers of some services on a node, the weakest first: what these depend on says less than they do themselves, and
/// of services alike the first in the alphabet says most.
fn layers<'a>(cluster: &'a Cluster, node: Option<&'a Node>, services: &BTreeSet<&'a str>) -> Vec<Source<'a>> {
    let mut layers = Vec::new();
    if cluster.definitions.values().any(|service| !service.defaults.is_empty()) {
        let below = below(cluster, services);
        let (own, others): (Vec<&str>, Vec<&str>) =
            below.into_iter().partition(|name| services.contains(name));
        for name in others.into_iter().rev().chain(own.into_iter().rev()) {
            let Some(service) = cluster.definitions.get(name) else { continue };
            if !service.defaults.is_empty() {
                let source = Source {
                    layer: Layer::Service,
                    service: Some(service.name()),
                    values: &service.defaults,
                };
                layers.push(source);
            }
        }
    }
    layers.push(Source { layer: Layer::Cluster, service: None, values: &cluster.config });
    let node = node.filter(|node| !node.config.is_empty());
    layers.extend(node.map(|node| Source { layer: Layer::Node, service: None, values: &node.config }));
    layers
}

/// Services, and all that they depend on.
fn below<'a>(cluster: &'a Cluster, services: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let names: Vec<String> = services.iter().map(|name| (*name).to_owned()).collect();
    let mut below = services.clone();
    for phase in [Phase::Install, Phase::Runtime] {
        let needs = Needs::new(phase, cluster.definitions.values());
        below.extend(needs.closure(&names, Towards::Dependencies));
    }
    below
}

/// Lays layers over each other, the weakest first: every value that is left, by its place.
fn laid(layers: &[Source<'_>]) -> BTreeMap<Vec<String>, Layered> {
    let mut values = BTreeMap::new();
    for source in layers {
        for (key, value) in source.values {
            lay(&mut values, vec![key.clone()], value, source);
        }
    }
    values
}

fn lay(values: &mut BTreeMap<Vec<String>, Layered>, place: Vec<String>, value: &Value, source: &Source<'_>) {
    if let Value::Object(entries) = value {
        let below = values.range(place.clone()..).next();
        let has_more = below.is_some_and(|(known, _)| known.len() > place.len() && known.starts_with(&place));
        if !entries.is_empty() {
            for (key, value) in entries {
                let place = place.iter().chain([key]).cloned().collect();
                lay(values, place, value, source);
            }
            return;
        }
        if has_more {
            return;
        }
    }
    // What was one value is an object now, or the other way round.
    for length in 1..place.len() {
        values.remove(&place[..length]);
    }
    let covered: Vec<Vec<String>> = values
        .range(place.clone()..)
        .map(|(known, _)| known)
        .take_while(|known| known.starts_with(&place))
        .cloned()
        .collect();
    for known in covered {
        values.remove(&known);
    }
    let service = source.service.map(str::to_owned);
    values.insert(place.clone(), Layered { place, value: value.clone(), layer: source.layer, service });
}

/// The tree of these values.
#[must_use]
pub fn put_together(values: impl IntoIterator<Item = Layered>) -> Map<String, Value> {
    let mut tree = Map::new();
    for Layered { place, value, .. } in values {
        let Some((last, way)) = place.split_last() else { continue };
        let inner = way.iter().try_fold(&mut tree, |tree, key| {
            tree.entry(key.clone()).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
        });
        if let Some(inner) = inner {
            inner.insert(last.clone(), value);
        }
    }
    tree
}

/// What stands at a place in a tree.
fn at<'a>(tree: &'a Map<String, Value>, place: &[String]) -> Option<&'a Value> {
    let (first, rest) = place.split_first()?;
    rest.iter().try_fold(tree.get(first)?, |value, key| value.get(key))
}

/// A node's configuration after a change of it: `null` takes a value away, and objects that hold nothing go with it.
#[must_use]
pub(super) fn changed(config: &Map<String, Value>, change: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = Value::Object(config.clone());
    json_patch::merge(&mut merged, &Value::Object(change.clone()));
    let mut merged = merged.as_object().cloned().unwrap_or_default();
    drop_hollow(&mut merged, change);
    merged
}

/// Objects that a change left without anything in them say nothing.
fn drop_hollow(tree: &mut Map<String, Value>, change: &Map<String, Value>) {
    for (key, value) in change {
        if let (Some(Value::Object(inner)), Value::Object(change)) = (tree.get_mut(key), value) {
            drop_hollow(inner, change);
            if inner.is_empty() && !change.is_empty() {
                tree.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn source(layer: Layer, values: &Map<String, Value>) -> Source<'_> {
        Source { layer, service: None, values }
    }

    fn tree() -> impl Strategy<Value = Map<String, Value>> {
        let leaf = prop_oneof![(0..4_i32).prop_map(Value::from), Just(json!([1, 2])), Just(Value::Null)];
        let value = leaf.prop_recursive(3, 12, 3, |inner| {
            prop::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|entries| Value::Object(entries.into_iter().collect()))
        });
        prop::collection::btree_map("[abc]", value, 0..4).prop_map(|entries| entries.into_iter().collect())
    }

    /// One tree over another, as plainly as can be.
    fn over(weak: &Value, strong: &Value) -> Value {
        match (weak, strong) {
            (Value::Object(weak), Value::Object(strong)) => {
                let mut all = weak.clone();
                for (key, value) in strong {
                    let laid = weak.get(key).map_or_else(|| value.clone(), |weak| over(weak, value));
                    all.insert(key.clone(), laid);
                }
                Value::Object(all)
            }
            (_, strong) => strong.clone(),
        }
    }

    proptest! {
        /// Layers are laid over each other key by key, and each value names the strongest layer that has it.
        #[test]
        fn the_stronger_layer_covers_the_weaker_one_and_nothing_else(all in prop::collection::vec(tree(), 1..4)) {
            let names = [Layer::Service, Layer::Cluster, Layer::Node];
            let sources: Vec<Source<'_>> = names.iter().zip(&all).map(|(layer, tree)| source(*layer, tree)).collect();
            let expected = all.iter().fold(json!({}), |weak, tree| over(&weak, &Value::Object(tree.clone())));
            let values = laid(&sources);
            prop_assert_eq!(Value::Object(put_together(values.values().cloned())), expected);
            for value in values.values().filter(|value| value.value != json!({})) {
                let strongest = sources.iter().rev().find(|source| at(source.values, &value.place).is_some());
                prop_assert_eq!(strongest.map(|source| source.layer), Some(value.layer));
            }
        }
    }

    #[test]
    fn a_change_takes_away_what_is_null_and_leaves_nothing_hollow() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let config = object(json!({"nginx": {"port": 81}, "title": {"text": "x", "size": 1}}));
        let gone = changed(&config, &object(json!({"nginx": {"port": null}, "title": {"size": null}})));
        assert_eq!(Value::Object(gone), json!({"title": {"text": "x"}}));
        let more = changed(&config, &object(json!({"nginx": {"host": "h"}, "list": [1]})));
        assert_eq!(more["nginx"], json!({"port": 81, "host": "h"}));
        assert_eq!(more["list"], json!([1]));
    }
}
