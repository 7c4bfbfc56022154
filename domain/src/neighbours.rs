//! What every order says of all nodes of its cluster: put together once and shared, and written as JSON once.
//!
//! An order for one node of a thousand holds a thousand nodes, as Coopr's workers expect it. To copy and write them for each
//! task anew is most of what handing a task out costs.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::NodeId;
use crate::task::NodeProperties;

/// All nodes that a task hears of, by id. Cheap to clone.
#[derive(Clone, Default)]
pub struct Neighbours(Arc<Shared>);

#[derive(Default)]
struct Shared {
    nodes: BTreeMap<NodeId, NodeProperties>,
    json: OnceLock<String>,
}

impl Neighbours {
    /// These nodes.
    #[must_use]
    pub fn new(nodes: BTreeMap<NodeId, NodeProperties>) -> Self {
        Self(Arc::new(Shared { nodes, json: OnceLock::new() }))
    }

    /// As JSON, which is written the first time it is asked for.
    #[must_use]
    pub fn json(&self) -> &str {
        // Texts and numbers under keys that are texts: nothing in them cannot be written.
        self.0.json.get_or_init(|| serde_json::to_string(&self.0.nodes).unwrap_or_default())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_nobody(&self) -> bool {
        self.0.nodes.is_empty()
    }

    /// The same with another node.
    #[must_use]
    pub fn with(&self, id: &NodeId, properties: &NodeProperties) -> Self {
        let mut nodes = self.0.nodes.clone();
        nodes.insert(id.clone(), properties.clone());
        Self::new(nodes)
    }
}

impl Deref for Neighbours {
    type Target = BTreeMap<NodeId, NodeProperties>;

    fn deref(&self) -> &Self::Target {
        &self.0.nodes
    }
}

impl PartialEq for Neighbours {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.nodes == other.0.nodes
    }
}

impl fmt::Debug for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.nodes.fmt(f)
    }
}

impl Serialize for Neighbours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.nodes.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Neighbours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self::new)
    }
}
