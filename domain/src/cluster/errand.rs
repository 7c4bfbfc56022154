//! Running an errand of a service: a backup, a smoke test. Nothing of what is wanted or known changes by it.

use std::collections::BTreeSet;

use super::decide::wrong_state;
use super::event::{Event, PlannedStep};
use super::planning::{self, NextNumbers};
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::entity::ErrandNodes;
use crate::id::NodeId;
use crate::invalid::Invalid;
use crate::plan::ClusterAction;
use crate::task::TaskName;

/// On the named nodes, or as the errand says: on the first that carries the service, or on all.
pub(super) fn run(
    cluster: &Cluster,
    (service, errand): (&str, &str),
    nodes: &BTreeSet<NodeId>,
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let Some(definition) = cluster.definitions.get(service).filter(|_| cluster.services.contains(service))
    else {
        return Err(Refusal::UnknownService { cluster: cluster.id.to_string(), service: service.to_owned() });
    };
    let Some(found) = definition.errands.get(errand) else {
        let known: Vec<&str> = definition.errands.keys().map(String::as_str).collect();
        let remedy = match known.is_empty() {
            true => format!(
                "service {service} has none; describe one under its `errands`, and upgrade the cluster"
            ),
            false => format!("it has {}", known.join(", ")),
        };
        return Err(Invalid::new("errand", errand, format!("is no errand of {service}"), remedy).into());
    };
    if cluster.status != ClusterStatus::Active {
        return Err(wrong_state(cluster, "sent on errands"));
    }
    let mut carrying: Vec<NodeId> = cluster
        .nodes_by_number()
        .into_iter()
        .filter(|node| node.properties.services.contains(service))
        .map(|node| node.id.clone())
        .collect();
    if !nodes.is_empty() {
        let named = cluster.nodes_named(nodes)?;
        if let Some(without) = named.iter().find(|node| !carrying.contains(node)) {
            let remedy = "name nodes that carry it";
            let fault = format!("does not carry {service}");
            return Err(Invalid::new("nodes", without.as_str(), fault, remedy).into());
        }
        carrying.retain(|node| named.contains(node));
    } else if found.on == ErrandNodes::One {
        carrying.truncate(1);
    }
    let next = NextNumbers::of(cluster);
    let steps = (next.task..).zip(carrying).map(|(number, node)| PlannedStep {
        number,
        name: TaskName::Errand,
        node,
        service: Some(service.to_owned()),
        after: Vec::new(),
        delay: 0,
        errand: Some(errand.to_owned()),
    });
    Ok(planning::job_of(next, ClusterAction::RunErrand, by, steps.collect(), None, now))
}
