//! What is wanted of units, and what is to be done to them once more: what the events of a cluster say about them.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::NodeId;
use crate::plan::{Unit, UnitId, Units, Wanted};
use crate::task::{NodeProperties, TaskName};

/// The units of nodes that do not exist yet: every machine wanted, every service on it wanted running.
pub(super) fn everything(nodes: &BTreeMap<NodeId, NodeProperties>) -> Units {
    let mut units = Units::new();
    for (id, properties) in nodes {
        units.insert(UnitId::machine(id.clone()), Unit::new(Wanted::Present));
        insert_services(&mut units, id, &properties.services);
    }
    units
}

fn insert_services(units: &mut Units, node: &NodeId, services: &BTreeSet<String>) {
    for service in services {
        units.insert(UnitId::service(node.clone(), service), Unit::new(Wanted::Running));
    }
}

/// No unit is wanted any more.
pub(super) fn nothing(units: &mut Units) {
    for unit in units.values_mut() {
        unit.wanted = Wanted::Absent;
    }
}

/// These services are wanted in this state on every node that carries them, and take these steps once more. What was to
/// be done again before is not asked for any more.
pub(super) fn services(
    units: &mut Units,
    services: &BTreeSet<String>,
    wanted: Wanted,
    renew: &BTreeSet<TaskName>,
) {
    let named = |id: &UnitId| id.service.as_ref().is_some_and(|name| services.contains(name));
    for (_, unit) in units.iter_mut().filter(|(id, _)| named(id)) {
        unit.wanted = wanted;
        unit.renew.clone_from(renew);
    }
}

/// A node carries more services, wanted running; its machine is made ready once more, as they may need another automator.
pub(super) fn more_services(units: &mut Units, node: &NodeId, services: &BTreeSet<String>) {
    insert_services(units, node, services);
    if let Some(machine) = units.get_mut(&UnitId::machine(node.clone())) {
        machine.renew.insert(TaskName::Bootstrap);
    }
}

/// The configuration is written once more for every service, and running ones are restarted if so asked: a service that
/// rests takes it up when it is started. Machines that carry services are made ready once more. A restart that was to be
/// done before is only done if this one asks for it too.
pub(super) fn configuration(units: &mut Units, restart: bool) {
    let renew = if restart {
        BTreeSet::from([TaskName::Stop, TaskName::Configure, TaskName::Start])
    } else {
        BTreeSet::from([TaskName::Configure])
    };
    let carrying: BTreeSet<NodeId> =
        units.keys().filter(|id| !id.is_machine()).map(|id| id.node.clone()).collect();
    for (id, unit) in units.iter_mut() {
        if !id.is_machine() {
            unit.renew.clone_from(&renew);
        } else if carrying.contains(&id.node) {
            unit.renew.insert(TaskName::Bootstrap);
        }
    }
}

/// All that was wanted is done. What is left to be done again are steps that the services do not have.
pub(super) fn nothing_more(units: &mut Units) {
    for unit in units.values_mut() {
        unit.renew.clear();
    }
}
