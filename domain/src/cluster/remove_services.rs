//! Taking services off a cluster: they are stopped and removed, and what they served is told.

use std::collections::{BTreeMap, BTreeSet};

use super::decide::wrong_state;
use super::event::Event;
use super::planning;
use super::refusal::Refusal;
use super::state::Cluster;
use super::wanted_change::WantedChange;
use crate::entity::Scope;
use crate::id::NodeId;
use crate::invalid::Invalid;
use crate::plan::ClusterAction;

/// Every service must be there, nothing that stays may require it, and something must be left.
pub(super) fn remove(
    cluster: &Cluster,
    services: &BTreeSet<String>,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if !cluster.may_change() {
        return Err(wrong_state(cluster, "relieved of services"));
    }
    if let Some(name) = services.iter().find(|name| !cluster.services.contains(*name)) {
        return Err(Refusal::UnknownService { cluster: cluster.id.to_string(), service: name.clone() });
    }
    let staying: BTreeSet<&String> = cluster.services.difference(services).collect();
    if staying.is_empty() || services.is_empty() {
        let fault = if services.is_empty() { "names no service" } else { "is every service of the cluster" };
        let named = services.iter().cloned().collect::<Vec<_>>().join(", ");
        return Err(Invalid::new("services", named, fault, "name some of them, or delete the cluster").into());
    }
    check_required(cluster, services, &staying)?;
    let mut removed: BTreeMap<NodeId, BTreeSet<String>> = BTreeMap::new();
    for node in cluster.nodes.values() {
        let lost: BTreeSet<String> = node.properties.services.intersection(services).cloned().collect();
        if !lost.is_empty() {
            removed.insert(node.id.clone(), lost);
        }
    }
    let change = WantedChange { removed, ..WantedChange::default() };
    planning::change(cluster, change, ClusterAction::RemoveServices, None, by, now)
}

/// What a service requires must stay on the cluster as long as it does.
fn check_required(
    cluster: &Cluster,
    removed: &BTreeSet<String>,
    staying: &BTreeSet<&String>,
) -> Result<(), Refusal> {
    for name in staying {
        let Some(service) = cluster.definitions.get(*name) else { continue };
        let needs = &service.dependencies;
        for requirement in needs.install.requires.each().chain(needs.runtime.requires.each()) {
            let required = &requirement.name;
            let elsewhere =
                requirement.scope == Scope::Ancestors && cluster.kin.origins.satisfying(required).is_some();
            let met = |others: &mut dyn Iterator<Item = &String>| {
                others.filter_map(|other| cluster.definitions.get(other)).any(|it| it.satisfies(required))
            };
            if !elsewhere && met(&mut removed.iter()) && !met(&mut staying.iter().copied()) {
                let fault = format!("is required by {name}, which stays");
                let remedy = format!("remove {name} as well, or keep {required}");
                return Err(Invalid::new("services", required, fault, remedy).into());
            }
        }
    }
    Ok(())
}
