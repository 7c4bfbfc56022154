//! The nodes that a task hears of, shared by all orders that were given while none of them changed.
//!
//! A worker is told of every node of the cluster. To copy them for each task would make a task of a large cluster dear, so
//! that they lie in groups: whoever has them shares the groups, and a change makes one group anew. A group is written as JSON
//! once, for orders that go to workers elsewhere.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::NodeId;
use crate::task::NodeProperties;

/// Nodes of a group; twice as many are two groups.
const GROUP: usize = 64;

/// Some nodes, in order.
#[derive(Default)]
struct Group {
    nodes: Vec<Arc<(NodeId, NodeProperties)>>,
    /// They as the inside of a JSON object, once somebody has asked for it.
    json: OnceLock<String>,
}

/// A copy is made to be changed.
impl Clone for Group {
    fn clone(&self) -> Self {
        Self { nodes: self.nodes.clone(), json: OnceLock::new() }
    }
}

impl Group {
    fn json(&self) -> &str {
        self.json.get_or_init(|| {
            let all: BTreeMap<&NodeId, &NodeProperties> =
                self.nodes.iter().map(|node| (&node.0, &node.1)).collect();
            // Texts and numbers under keys that are texts: nothing in them cannot be written.
            let object = serde_json::to_string(&all).unwrap_or_default();
            let inside = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            inside.unwrap_or_default().to_owned()
        })
    }
}

/// Nodes by id. Cheap to clone.
#[derive(Clone, Default)]
pub struct Neighbours {
    /// None is empty, and all are in order.
    groups: Arc<Vec<Arc<Group>>>,
}

impl Neighbours {
    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&NodeId, &NodeProperties)> {
        self.groups.iter().flat_map(|group| group.nodes.iter()).map(|node| (&node.0, &node.1))
    }

    /// What is known of each, by id.
    pub fn values(&self) -> impl Iterator<Item = &NodeProperties> {
        self.iter().map(|(_, properties)| properties)
    }

    /// What is known of one.
    #[must_use]
    pub fn get(&self, id: &NodeId) -> Option<&NodeProperties> {
        let nodes = &self.groups.get(self.group_of(id))?.nodes;
        let place = nodes.binary_search_by(|node| node.0.cmp(id)).ok()?;
        nodes.get(place).map(|node| &node.1)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.nodes.len()).sum()
    }

    /// As JSON, of which only what changed since the last time is written anew.
    #[must_use]
    pub fn json(&self) -> String {
        let groups: Vec<&str> = self.groups.iter().map(|group| group.json()).collect();
        format!("{{{}}}", groups.join(","))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Puts one in, in place of what was known of it.
    pub fn put(&mut self, id: &NodeId, properties: &NodeProperties) {
        if self.get(id) == Some(properties) {
            return;
        }
        let at = self.group_of(id).min(self.groups.len().saturating_sub(1));
        let groups = Arc::make_mut(&mut self.groups);
        let node = Arc::new((id.clone(), properties.clone()));
        let Some(group) = groups.get_mut(at).map(Arc::make_mut) else {
            groups.push(Arc::new(Group { nodes: vec![node], json: OnceLock::new() }));
            return;
        };
        group.json.take();
        match group.nodes.binary_search_by(|node| node.0.cmp(id)) {
            Ok(place) => group.nodes[place] = node,
            Err(place) => group.nodes.insert(place, node),
        }
        if group.nodes.len() >= 2 * GROUP {
            let nodes = group.nodes.split_off(GROUP);
            groups.insert(at + 1, Arc::new(Group { nodes, json: OnceLock::new() }));
        }
    }

    /// The first group that may hold it.
    fn group_of(&self, id: &NodeId) -> usize {
        self.groups.partition_point(|group| group.nodes.last().is_some_and(|last| last.0 < *id))
    }
}

impl<'a> FromIterator<(&'a NodeId, &'a NodeProperties)> for Neighbours {
    fn from_iter<I: IntoIterator<Item = (&'a NodeId, &'a NodeProperties)>>(nodes: I) -> Self {
        let mut neighbours = Self::default();
        for (id, properties) in nodes {
            neighbours.put(id, properties);
        }
        neighbours
    }
}

impl PartialEq for Neighbours {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.groups, &other.groups) || self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Neighbours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Neighbours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let nodes = BTreeMap::<NodeId, NodeProperties>::deserialize(deserializer)?;
        Ok(nodes.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is put in, and in whatever order, it is a map; and who shared it before sees nothing of it.
        #[test]
        fn it_is_a_map_that_others_keep_as_it_was(puts in prop::collection::vec((0_u32..400, 0_u32..3), 0..900)) {
            let (mut model, mut neighbours) = (BTreeMap::new(), Neighbours::default());
            let mut kept = Vec::new();
            for (place, (id, nodenum)) in puts.into_iter().enumerate() {
                let id = NodeId(format!("{id:04}"));
                let properties = NodeProperties { nodenum, ..NodeProperties::default() };
                if place % 200 == 0 {
                    // What was written before a change must not be told after it.
                    prop_assert_ne!(neighbours.json(), "");
                    kept.push((model.clone(), neighbours.clone()));
                }
                neighbours.put(&id, &properties);
                model.insert(id, properties);
            }
            kept.push((model, neighbours));
            for (model, neighbours) in kept {
                prop_assert!(neighbours.iter().eq(model.iter()));
                prop_assert_eq!(neighbours.len(), model.len());
                prop_assert!(model.iter().all(|(id, properties)| neighbours.get(id) == Some(properties)));
                prop_assert_eq!(neighbours.json(), serde_json::to_string(&neighbours).unwrap());
                let read: Neighbours = serde_json::from_value(serde_json::to_value(&neighbours).unwrap()).unwrap();
                prop_assert_eq!(&read, &neighbours);
            }
        }
    }
}
