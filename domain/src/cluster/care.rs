//! How a cluster is cared for: what is known of its health, and what is left alone for maintenance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::decide::wrong_state;
use super::event::Event;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use super::{inherit, planning};
use crate::health::{HealMode, Health, Policy};
use crate::id::NodeId;
use crate::invalid::Invalid;
use crate::plan::UnitId;

/// Longest reason that is kept, in characters.
const LONGEST_REASON: usize = 500;

/// What is known of a cluster's health, and what is left alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Care {
    /// Why the whole cluster is left alone, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
    /// Nodes that are left alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<NodeId, Maintenance>,
    /// Machines and services that were down once, and how they are now. What is not here was never found down.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub health: BTreeMap<UnitId, UnitHealth>,
    /// The cluster's own switch, which goes before what its template and the settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heal: Option<HealMode>,
}

/// Why something is left alone: no task starts there, it is not probed and not healed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maintenance {
    /// Since when, in ms since 1970.
    pub since: i64,
    /// Who wants it so.
    pub by: String,
    /// Why, for people; may be empty.
    pub reason: String,
}

/// How a machine or a service is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitHealth {
    /// Healthy or down.
    pub health: Health,
    /// Since when, in ms since 1970.
    pub since: i64,
    /// What was found, for people.
    pub reason: String,
}

/// What changes in how a cluster is cared for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "care", rename_all = "snake_case")]
pub enum CareChange {
    /// Probes found a machine or a service down again and again, or back.
    Health {
        /// The node.
        node: NodeId,
        /// The service; `None` for the machine.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        service: Option<String>,
        /// Healthy or down.
        health: Health,
        /// What was found, for people.
        reason: String,
    },
    /// Maintenance begins or ends.
    Maintenance {
        /// The node; `None` for the whole cluster.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<NodeId>,
        /// Why, when it begins; `None` when it ends.
        reason: Option<String>,
    },
    /// What happens when machines are down is decided for this cluster, or left to its template again.
    Healing {
        /// What; `None`: as the template says.
        heal: Option<HealMode>,
    },
}

impl Care {
    /// Whether nothing is to be said about it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn take(&mut self, change: &CareChange, by: &str, at: i64) {
        match change {
            CareChange::Health { node, service, health, reason } => {
                let unit = UnitId { node: node.clone(), service: service.clone() };
                self.health.insert(unit, UnitHealth { health: *health, since: at, reason: reason.clone() });
            }
            CareChange::Maintenance { node, reason } => {
                let begun = reason.as_ref().map(|reason| Maintenance {
                    since: self.of(node.as_ref()).map_or(at, |begun| begun.since),
                    by: by.to_owned(),
                    reason: reason.clone(),
                });
                match (node, begun) {
                    (None, begun) => self.maintenance = begun,
                    (Some(node), Some(begun)) => drop(self.nodes.insert(node.clone(), begun)),
                    (Some(node), None) => drop(self.nodes.remove(node)),
                }
            }
            CareChange::Healing { heal } => self.heal = *heal,
        }
    }

    /// A node has another machine now, or none: what was known of it is not known of the new one.
    pub(super) fn forget_machine(&mut self, node: &NodeId) {
        self.health.retain(|unit, _| unit.node != *node);
    }

    /// The maintenance of the whole cluster, or of one node alone.
    fn of(&self, node: Option<&NodeId>) -> Option<&Maintenance> {
        node.map_or(self.maintenance.as_ref(), |node| self.nodes.get(node))
    }
}

impl Cluster {
    /// Why a node is left alone, if it is: its own maintenance, or that of the whole cluster.
    #[must_use]
    pub fn in_maintenance(&self, node: &NodeId) -> Option<&Maintenance> {
        self.care.nodes.get(node).or(self.care.maintenance.as_ref())
    }

    /// How its health is looked after, where the installation's settings say `defaults`.
    #[must_use]
    pub fn health_policy(&self, defaults: Policy) -> Policy {
        defaults.of(&self.template.administration.health, self.care.heal)
    }
}

/// Only what differs from what is known becomes an event.
pub(super) fn change(
    cluster: &Cluster,
    changes: Vec<CareChange>,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let mut events = Vec::new();
    for change in changes {
        let change = match change {
            CareChange::Health { .. } if !concerns(cluster, &change) => continue,
            CareChange::Health { node, service, health, reason } => {
                CareChange::Health { node, service, health, reason: shortened(&reason) }
            }
            CareChange::Maintenance { node, reason } => {
                check_maintained(cluster, node.as_ref())?;
                let reason = reason.as_deref().map(shortened);
                let known = cluster.care.of(node.as_ref()).map(|known| &known.reason);
                if known == reason.as_ref() {
                    continue;
                }
                CareChange::Maintenance { node, reason }
            }
            CareChange::Healing { heal } if heal == cluster.care.heal => continue,
            CareChange::Healing { .. } if cluster.status == ClusterStatus::Terminated => {
                return Err(wrong_state(cluster, "healed"));
            }
            healing => healing,
        };
        events.push(Event::CareChanged { at: now, change, by: by.to_owned() });
    }
    let next = planning::after(cluster, &events);
    if cluster.kin.news && !next.kin.news {
        events.extend(inherit::catch_up(&next, now));
    }
    Ok(events)
}

/// Whether a finding says something new about a unit that is still there.
fn concerns(cluster: &Cluster, change: &CareChange) -> bool {
    let CareChange::Health { node, service, health, .. } = change else { return false };
    let unit = UnitId { node: node.clone(), service: service.clone() };
    let known = cluster.care.health.get(&unit).map_or(Health::Healthy, |known| known.health);
    cluster.units.contains_key(&unit) && cluster.status != ClusterStatus::Terminated && known != *health
}

fn check_maintained(cluster: &Cluster, node: Option<&NodeId>) -> Result<(), Refusal> {
    if cluster.status == ClusterStatus::Terminated {
        return Err(wrong_state(cluster, "put into maintenance"));
    }
    match node.filter(|node| !cluster.nodes.contains_key(node)) {
        None => Ok(()),
        Some(node) => {
            let fault = format!("is no node of cluster {}", cluster.id);
            Err(Invalid::new("node", node, fault, "name one of its nodes by id").into())
        }
    }
}

fn shortened(reason: &str) -> String {
    reason.trim().chars().take(LONGEST_REASON).collect()
}
