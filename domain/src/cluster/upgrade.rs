//! Bringing a cluster to newer versions of its template and its services.

use std::collections::{BTreeMap, BTreeSet};

use super::add_services::groups;
use super::decide::wrong_state;
use super::event::Event;
use super::inputs;
use super::planning;
use super::refusal::Refusal;
use super::rollout::Rollout;
use super::state::Cluster;
use super::wanted_change::WantedChange;
use crate::entity::{ClusterTemplate, Service, ServiceAction};
use crate::invalid::Invalid;
use crate::layout::{check_sync, lacking};
use crate::plan::{ClusterAction, Observed, UnitId, Wanted};
use crate::task::TaskName;

/// What a cluster is brought to.
pub(super) struct Newer {
    pub template: Option<Box<ClusterTemplate>>,
    pub definitions: BTreeMap<String, Service>,
}

/// The nodes as they are must keep the new template's rules. Services that are not on the cluster are passed over, and so
/// is what is the same already.
pub(super) fn upgrade(
    cluster: &Cluster,
    newer: Newer,
    rollout: Option<Rollout>,
    by: &str,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if !cluster.may_change() {
        return Err(wrong_state(cluster, "upgraded"));
    }
    let template = newer.template.filter(|template| **template != cluster.template);
    if let Some(template) = &template {
        check_sync(template, &groups(cluster))?;
    }
    let mut definitions = newer.definitions;
    definitions.retain(|name, newer| cluster.definitions.get(name).is_some_and(|present| present != newer));
    let change = WantedChange { template, definitions, ..WantedChange::default() };
    if change.is_empty() {
        return Ok(Vec::new());
    }
    check_companions(cluster, &change.definitions)?;
    let renew = renewed(cluster, &change.definitions);
    let change = WantedChange { renew, ..change };
    planning::change(cluster, change, ClusterAction::ClusterUpgrade, rollout, by, now)
}

/// Nodes are not given more services by newer versions: what these require on the same machine must be there.
fn check_companions(cluster: &Cluster, newer: &BTreeMap<String, Service>) -> Result<(), Refusal> {
    let mut definitions = cluster.definitions.clone();
    definitions.extend(newer.clone());
    for node in cluster.nodes.values() {
        if let Some((service, missed)) = lacking(&definitions, &node.properties.services).first() {
            let fault =
                format!("requires {missed} on the same machine, which node {} does not have", node.id);
            let remedy = format!("add {missed} to the cluster's nodes with {service} first");
            return Err(Invalid::new("services", service, fault, remedy).into());
        }
    }
    Ok(())
}

/// What units of services do once more that get other definitions: one that is installed in another way is installed
/// again, one that is configured or run in another way is configured and restarted.
pub(super) fn renewed(
    cluster: &Cluster,
    definitions: &BTreeMap<String, Service>,
) -> BTreeMap<UnitId, BTreeSet<TaskName>> {
    let mut renew = BTreeMap::new();
    for (id, unit) in &cluster.units {
        let Some(name) = &id.service else { continue };
        let (Some(newer), Some(present)) = (definitions.get(name), cluster.definitions.get(name)) else {
            continue;
        };
        if unit.observed < Observed::Installed || unit.wanted == Wanted::Absent || present.once {
            continue;
        }
        let differs =
            |action| present.provisioner.actions.get(&action) != newer.provisioner.actions.get(&action);
        let mut steps = BTreeSet::new();
        if differs(ServiceAction::Install) {
            steps.extend([TaskName::Install, TaskName::Configure, TaskName::Stop, TaskName::Start]);
        }
        if [ServiceAction::Configure, ServiceAction::Initialize, ServiceAction::Start]
            .into_iter()
            .any(differs)
            || present.inputs != newer.inputs
        {
            steps.extend(inputs::steps(newer));
        }
        if !steps.is_empty() {
            renew.insert(id.clone(), steps);
        }
    }
    renew
}
