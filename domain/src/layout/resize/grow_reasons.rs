//! Why a living cluster cannot get so many more nodes: complete, so no reason means that it can.

use super::super::budget::{Budget, Exhausted};
use super::super::cover;
use super::super::reason::{Reason, ReasonKind, counted, listed};
use super::headroom::Headroom;
use crate::entity::ClusterTemplate;

/// What helps when no number does.
const OTHERWISE: &str =
    "ask for more nodes with one of these services, or for another hardware type or image type";

/// Every reason why `machines` new nodes cannot carry what they must, or cannot all carry something; none if they can.
pub(super) fn shortfall(
    template: &ClusterTemplate,
    headroom: &Headroom,
    present: u32,
    machines: u32,
    budget: &mut Budget,
) -> Result<Vec<Reason>, Exhausted> {
    let needs = headroom.needs();
    let mut reasons = Vec::new();
    if !cover::fits(&headroom.problem, &needs, machines, budget)? {
        // Advice only: when it is too hard to find, the reason does without.
        let fewest = cover::fewest_machines(&headroom.problem, &needs, budget).ok();
        reasons.push(too_few(headroom, &needs, present, machines, fewest));
    }
    let most = headroom.most_machines();
    if machines > most {
        reasons.push(too_many(template, headroom, present, machines, most));
    }
    Ok(reasons)
}

fn too_few(headroom: &Headroom, needs: &[u32], present: u32, machines: u32, fewest: Option<u32>) -> Reason {
    let needed = headroom.problem.bundles.iter().zip(needs).filter(|(_, need)| **need > 0);
    let each = needed.map(|(bundle, need)| format!("{} (on {need} more)", listed(&bundle.services, "with")));
    let enough = fewest.map_or_else(
        || "ask for more machines".to_owned(),
        |fewest| format!("ask for at least {} machines", present.saturating_add(fewest)),
    );
    Reason::new(
        ReasonKind::TooFewMachines,
        format!(
            "{} cannot carry {}: the rules do not let them share enough nodes",
            counted(machines, "new machine"),
            listed(each, "and")
        ),
        format!("{enough}, or for fewer more nodes with these services"),
    )
}

fn too_many(
    template: &ClusterTemplate,
    headroom: &Headroom,
    present: u32,
    machines: u32,
    most: u32,
) -> Reason {
    let each = headroom.problem.bundles.iter().zip(&headroom.bundles).map(|(bundle, room)| {
        let names = listed(&bundle.services, "with");
        match (room.possible, room.asked) {
            (false, _) => format!("{names} (suits none of the types of new nodes)"),
            (true, Some(asked)) => format!("{names} (asked for on {asked} more)"),
            (true, None) => {
                format!("the constraint of {names} allows {} at most (on {} now)", room.max, room.present)
            }
        }
    });
    let gap = machines - most;
    let loosest = headroom.problem.bundles.iter().zip(&headroom.bundles);
    let raised =
        loosest.filter(|(_, room)| room.possible && room.asked.is_none()).min_by_key(|(_, room)| room.max);
    let raise = raised.map(|(bundle, room)| {
        let to = room.max.saturating_add(gap);
        let low = bundle.services.iter().filter(|name| {
            template.constraints.services.get(*name).is_some_and(|rule| rule.quantities.max < to)
        });
        format!("raise max of {} to {to}", listed(low, "and"))
    });
    let fewer = (most > 0).then(|| format!("ask for at most {} machines", present.saturating_add(most)));
    let ways: Vec<String> = [raise, fewer].into_iter().flatten().collect();
    Reason::new(
        ReasonKind::TooManyMachines,
        format!(
            "the services can fill at most {most} of {}: {}",
            counted(machines, "new machine"),
            listed(each, "and")
        ),
        if ways.is_empty() { OTHERWISE.to_owned() } else { listed(ways, "or") },
    )
}
