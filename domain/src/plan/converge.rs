//! From the difference between wanted and observed to the steps that close it.

use std::collections::BTreeMap;

use crate::entity::Service;
use crate::plan::definition::{defines, definition};
use crate::plan::error::PlanError;
use crate::plan::graph::Steps;
use crate::plan::unit::{Observed, Unit, UnitId, Units, Wanted};
use crate::task::TaskName;

/// The steps that bring every unit from where it is to where it should be; units that are there have none.
///
/// Steps a service does not define are left out, so a service that cannot be stopped stays as it is. A machine that
/// goes, or is made anew, takes its services along: they get no steps to go, and start from nothing on the new one.
/// A node without a unit for its machine is taken to be there.
///
/// # Errors
/// [`PlanError::UndefinedService`] when a service has steps to take and nobody knows what it is.
pub fn converge(units: &Units, services: &BTreeMap<String, Service>) -> Result<Steps, PlanError> {
    let mut steps = Steps::new();
    let mut machine = None;
    for (id, unit) in units {
        let Some(name) = &id.service else {
            machine = Some((&id.node, unit));
            insert(&mut steps, id, of_machine(unit));
            continue;
        };
        let machine = machine.filter(|(node, _)| **node == id.node).map(|(_, machine)| machine);
        let service = services.get(name);
        let needed = of_service(unit, Ground::of(machine), |step| service.is_none_or(|it| defines(it, step)));
        if !needed.is_empty() {
            definition(services, name, &id.node)?;
        }
        insert(&mut steps, id, needed);
    }
    Ok(steps)
}

fn insert(steps: &mut Steps, id: &UnitId, needed: Vec<TaskName>) {
    if !needed.is_empty() {
        steps.insert(id.clone(), needed);
    }
}

/// What a service stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// A machine that stays.
    Firm,
    /// A machine that is not there yet, or made anew.
    New,
    /// A machine that goes.
    Going,
}

impl Ground {
    fn of(machine: Option<&Unit>) -> Self {
        match machine {
            Some(machine) if machine.wanted == Wanted::Absent => Self::Going,
            Some(machine) if is_made_anew(machine) => Self::New,
            None | Some(_) => Self::Firm,
        }
    }
}

fn is_made_anew(machine: &Unit) -> bool {
    machine.observed == Observed::Absent || machine.renew.contains(&TaskName::Delete)
}

/// The steps of a machine, in order. One that may exist is deleted before it is made again.
fn of_machine(unit: &Unit) -> Vec<TaskName> {
    let wanted = unit.wanted != Wanted::Absent;
    let delete = unit.renew.contains(&TaskName::Delete) || (!wanted && unit.observed != Observed::Absent);
    let observed = if delete { Observed::Absent } else { unit.observed };
    let needs = |step, phase| wanted && (observed < phase || unit.renew.contains(&step));
    chosen(&[
        (TaskName::Delete, delete),
        (TaskName::Create, needs(TaskName::Create, Observed::Created)),
        (TaskName::Confirm, needs(TaskName::Confirm, Observed::Confirmed)),
        (TaskName::Bootstrap, needs(TaskName::Bootstrap, Observed::Bootstrapped)),
    ])
}

/// The steps of a service, in order, of those it `has`.
fn of_service(unit: &Unit, ground: Ground, has: impl Fn(TaskName) -> bool) -> Vec<TaskName> {
    let observed = match ground {
        // A machine that goes takes its services along; one that is drained before lets them end in order.
        Ground::Going => {
            let drained = unit.wanted == Wanted::Stopped && unit.observed == Observed::Started;
            return chosen(&[(TaskName::Stop, drained && has(TaskName::Stop))]);
        }
        Ground::New => Observed::Absent,
        Ground::Firm => unit.observed,
    };
    let again = |step| ground == Ground::Firm && unit.renew.contains(&step);
    let reaches = |goal, step, phase| unit.wanted >= goal && (observed < phase || again(step));
    let wanted = unit.wanted == Wanted::Running;
    let runs = observed == Observed::Started;
    let stop = runs && (!wanted || again(TaskName::Stop)) && has(TaskName::Stop);
    let mut steps = chosen(&[
        (TaskName::Stop, stop),
        (TaskName::Remove, unit.wanted == Wanted::Absent && observed != Observed::Absent),
        (TaskName::Install, reaches(Wanted::Installed, TaskName::Install, Observed::Installed)),
        (TaskName::Configure, reaches(Wanted::Configured, TaskName::Configure, Observed::Configured)),
        (TaskName::Initialize, reaches(Wanted::Stopped, TaskName::Initialize, Observed::Initialized)),
        (TaskName::Start, wanted && (!runs || stop || again(TaskName::Start))),
    ]);
    steps.retain(|&step| has(step));
    steps
}

fn chosen(steps: &[(TaskName, bool)]) -> Vec<TaskName> {
    steps.iter().filter(|(_, needed)| *needed).map(|&(step, _)| step).collect()
}
