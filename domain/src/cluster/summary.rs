//! A cluster in one line of a list, as JSON in Coopr's shape.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::state::{Cluster, ClusterStatus};
use super::view::Progress;
use crate::entity::Base;
use crate::id::ClusterId;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    id: ClusterId,
    name: &'a str,
    description: &'a str,
    owner_id: &'a str,
    create_time: i64,
    expire_time: i64,
    /// From when on the lease counts as ending soon; absent when it never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry_warning_time: Option<i64>,
    /// Whether this end of the lease was warned of; absent when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry_warned: Option<bool>,
    num_nodes: usize,
    /// How many of them are of which hardware type.
    machines: BTreeMap<&'a str, usize>,
    status: ClusterStatus,
    provider: &'a Base,
    cluster_template: &'a Base,
    services: Vec<&'a str>,
    /// The cluster it is built upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<ClusterId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
}

impl Cluster {
    /// What a list shows of it.
    #[must_use]
    pub fn summary(&self) -> Value {
        // Plain data with text keys always becomes JSON.
        serde_json::to_value(self.summarized()).unwrap_or_default()
    }

    /// The same as text.
    #[must_use]
    pub fn summary_text(&self) -> String {
        // Plain data with text keys always becomes JSON.
        serde_json::to_string(&self.summarized()).unwrap_or_default()
    }

    /// How many machines it has, or is to have, of each hardware type.
    #[must_use]
    pub fn machines(&self) -> BTreeMap<&str, usize> {
        let mut machines = BTreeMap::new();
        for node in self.nodes.values() {
            *machines.entry(node.properties.hardwaretype.as_str()).or_default() += 1;
        }
        machines
    }

    fn summarized(&self) -> Summary<'_> {
        Summary {
            id: self.id,
            name: &self.name,
            description: &self.description,
            owner_id: &self.account.user_id,
            create_time: self.created,
            expire_time: self.expires,
            expiry_warning_time: self.warning_at(),
            expiry_warned: (self.expires != 0).then_some(self.warned_of == self.expires),
            num_nodes: self.nodes.len(),
            machines: self.machines(),
            status: self.status,
            provider: &self.provider.base,
            cluster_template: &self.template.base,
            services: self.services.iter().map(String::as_str).collect(),
            parent: self.parent(),
            progress: self.progress(),
        }
    }
}
