//! Creating a cluster: checks, layout, plan.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::ancestry::Origins;
use super::event::Event;
use super::limits::Limits;
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::Account;
use super::wanted;
use crate::entity::{ClusterTemplate, Provider, Service};
use crate::id::{ClusterId, NodeId};
use crate::layout::NoLayout;
use crate::plan::ClusterAction;
use crate::task::NodeProperties;

/// Everything a cluster is made from: the request, and copies of what it names, so that later edits change nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreateOrder {
    /// The id it gets.
    pub id: ClusterId,
    /// Its name.
    pub name: String,
    /// Free text.
    pub description: String,
    /// Whose it is.
    pub account: Account,
    /// When it is deleted by itself, in ms since 1970; 0 is never.
    pub expires: i64,
    /// The provider, with the request's values that are no secrets.
    pub provider: Provider,
    /// The template.
    pub template: ClusterTemplate,
    /// Names of the services asked for.
    pub services: BTreeSet<String>,
    /// The services themselves, by name.
    pub definitions: BTreeMap<String, Service>,
    /// Configuration with macros as written.
    pub config: Map<String, Value>,
    /// Domain of the host names.
    pub dns_suffix: Option<String>,
    /// Random; node ids are derived from it.
    pub seed: Uuid,
    /// Limits its jobs run under.
    pub limits: Limits,
    /// The clusters it is built upon, and what they published then.
    #[serde(default, skip_serializing_if = "Origins::is_empty")]
    pub origins: Origins,
}

/// The nodes of a new cluster by id, or why there is no layout.
pub type Nodes = Result<BTreeMap<NodeId, NodeProperties>, NoLayout>;

/// The events that bring a cluster into being: with its nodes and plan, or terminated at once with the reason.
///
/// # Errors
/// When the graph of tasks cannot be planned: services depend on each other in a circle, or one that was placed is not
/// among the definitions.
pub fn create(order: CreateOrder, nodes: Nodes, now: i64) -> Result<Vec<Event>, Refusal> {
    let nodes = match nodes {
        Ok(nodes) => nodes,
        Err(reason) => {
            let message = format!("Layout solving failed: {reason}");
            let requested = Event::ClusterRequested { at: now, order: Box::new(order) };
            return Ok(vec![requested, Event::LayoutRefused { at: now, message }]);
        }
    };
    let by = order.account.user_id.clone();
    let graph = planning::graph(&nodes, &wanted::everything(&nodes), &order.definitions)?;
    let mut events = vec![
        Event::ClusterRequested { at: now, order: Box::new(order) },
        Event::LayoutFound { at: now, nodes },
    ];
    let first = NextNumbers { job: 2, task: 1 };
    events.extend(planning::job(first, ClusterAction::ClusterCreate, by, &graph, now));
    Ok(events)
}
