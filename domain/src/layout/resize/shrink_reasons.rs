//! Why nodes go, and why nodes cannot go: in words.

use std::collections::{BTreeMap, BTreeSet};

use super::super::node_group::{NodeGroup, nodes_with};
use super::super::reason::{Reason, ReasonKind, counted, listed};
use super::drain::Pick;
use super::shrink::{Obstacles, Whole};
use super::{Leaving, ShrinkNode};
use crate::id::NodeId;

/// The chosen nodes, each with the reason why it is among them.
pub(super) fn of_picks(whole: &Whole<'_>, picks: &[Pick], fewer: &BTreeMap<String, u32>) -> Vec<Leaving> {
    let services: Vec<&String> = whole.services.iter().collect();
    let why = |pick: &Pick| {
        let node = &whole.nodes[pick.node];
        let asked: Vec<&String> = fewer.keys().filter(|name| node.node.services.contains(*name)).collect();
        let carries = if asked.is_empty() {
            String::new()
        } else {
            format!("it carries {}, which was asked to be on fewer nodes; ", listed(asked, "and"))
        };
        let which = match (node.healthy, pick.scarce) {
            (false, _) => "it does not work, and nodes that do not work go first".to_owned(),
            (true, None) => {
                "it is the youngest that leaves everything it carries above its minimum".to_owned()
            }
            (true, Some(scarce)) => {
                let (name, min) = (services[scarce], whole.min(services[scarce]));
                format!("it is the youngest that can go; without it {name} is at its minimum of {min}")
            }
        };
        carries + &which
    };
    let leaving = |pick: &Pick| {
        let ShrinkNode { id, number, .. } = &whole.nodes[pick.node];
        Leaving { node: id.clone(), number: *number, reason: why(pick) }
    };
    picks.iter().map(leaving).collect()
}

/// Why a node goes that was named.
pub(super) fn of_named(whole: &Whole<'_>, node: &ShrinkNode, rest: &[NodeGroup]) -> String {
    let carried = node.node.services.iter();
    let scarcest = carried.min_by_key(|service| nodes_with(rest, service).saturating_sub(whole.min(service)));
    scarcest.map_or_else(
        || "it was named, and carries nothing".to_owned(),
        |service| {
            let (left, min) = (counted(nodes_with(rest, service), "node"), whole.min(service));
            format!("it was named; {service} stays on {left} and must be on at least {min}")
        },
    )
}

/// What is wrong with the names of nodes.
pub(super) fn unusable_names(whole: &Whole<'_>, named: &BTreeSet<NodeId>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if named.is_empty() {
        reasons.push(Reason::new(ReasonKind::NoSuchNodes, "no nodes were named", "name at least one node"));
    }
    let known: BTreeSet<&NodeId> = whole.nodes.iter().map(|node| &node.id).collect();
    let unknown: Vec<&str> = named.iter().filter(|id| !known.contains(id)).map(NodeId::as_str).collect();
    if !unknown.is_empty() {
        reasons.push(Reason::new(
            ReasonKind::NoSuchNodes,
            format!("the cluster has no node {}", listed(unknown, "or")),
            "name nodes that the cluster has",
        ));
    }
    let pinned = numbers(whole.nodes.iter().filter(|node| node.pinned && named.contains(&node.id)));
    if !pinned.is_empty() {
        let verb = if pinned.len() == 1 { "node" } else { "nodes" };
        reasons.push(Reason::new(
            ReasonKind::NoSuchNodes,
            format!("{verb} {} must stay", listed(&pinned, "and")),
            format!("let {} go first, or name others", listed(&pinned, "and")),
        ));
    }
    reasons
}

/// A reason for each service that would be on too few nodes without these.
pub(super) fn below_minimum(whole: &Whole<'_>, rest: &[NodeGroup], leaving: &[&ShrinkNode]) -> Vec<Reason> {
    let short = whole.services.iter().filter(|service| nodes_with(rest, service) < whole.min(service));
    short
        .map(|service| {
            let (left, min) = (nodes_with(rest, service), whole.min(service));
            let with = leaving.iter().copied().filter(|node| node.node.services.contains(service));
            let keep = numbers(with);
            let fault =
                format!("{service} would be on {}, below its minimum of {min}", counted(left, "node"));
            let remedy = if keep.is_empty() {
                format!(
                    "put it on {} more first, or {}",
                    counted(min - left, "node"),
                    lower(whole, service, left)
                )
            } else {
                let missing = (min - left).min(u32::try_from(keep.len()).unwrap_or(u32::MAX));
                format!("let {missing} of {} stay, or {}", listed(keep, "and"), lower(whole, service, left))
            };
            Reason::new(ReasonKind::Minimum, fault, remedy)
        })
        .collect()
}

/// Those that are not about minimums.
pub(super) fn but_minimums(mut reasons: Vec<Reason>) -> Vec<Reason> {
    reasons.retain(|reason| reason.kind != ReasonKind::Minimum);
    reasons
}

/// Those that are not about maximums, which shrinking may mend.
pub(super) fn but_maximums(mut reasons: Vec<Reason>) -> Vec<Reason> {
    reasons.retain(|reason| reason.kind != ReasonKind::Maximum);
    reasons
}

pub(super) fn not_fewer(machines: u32, present: u32) -> Reason {
    Reason::new(
        ReasonKind::Size,
        format!("the cluster has {}, and was asked to shrink to {machines}", counted(present, "machine")),
        format!("ask for fewer than {present}, or grow it"),
    )
}

/// What is wrong with the numbers asked for each service on its own.
pub(super) fn unusable_numbers(whole: &Whole<'_>, fewer: &BTreeMap<String, u32>) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if fewer.values().all(|number| *number == 0) {
        reasons.push(Reason::new(
            ReasonKind::NoServices,
            "no service was asked to be on fewer nodes",
            "name a service and on how many fewer nodes it is to be, at least 1",
        ));
    }
    for (service, &number) in fewer {
        let (count, min, spare) = (whole.count(service), whole.min(service), whole.spare(service));
        let can_go = whole.nodes.iter().filter(|node| !node.pinned && node.node.services.contains(service));
        let can_go = u32::try_from(can_go.count()).unwrap_or(u32::MAX);
        if count == 0 {
            reasons.push(Reason::new(
                ReasonKind::NoSuchNodes,
                format!("{service} is not on the cluster"),
                "name services that the cluster has",
            ));
        } else if number > spare {
            let most = if spare == 0 { String::new() } else { format!("ask for at most {spare} fewer, or ") };
            reasons.push(Reason::new(
                ReasonKind::Minimum,
                format!(
                    "{service} cannot be on {} fewer: it is on {count} and must be on at least {min}",
                    counted(number, "node")
                ),
                most + &lower(whole, service, count.saturating_sub(number)),
            ));
        } else if count - number > whole.max(service) {
            let max = whole.max(service);
            reasons.push(Reason::new(
                ReasonKind::Maximum,
                format!("{service} is on {count}, and {number} fewer are still above its maximum of {max}"),
                format!("ask for {} fewer, or raise max of {service} to {}", count - max, count - number),
            ));
        } else if number > can_go {
            reasons.push(Reason::new(
                ReasonKind::NoPlace,
                format!(
                    "{service} cannot be on {number} fewer: of its {} only {can_go} may go",
                    counted(count, "node")
                ),
                format!("ask for at most {can_go} fewer, or let pinned nodes with {service} go"),
            ));
        }
    }
    reasons
}

/// Why so many nodes cannot go. `most`: how many can, if that is known.
pub(super) fn too_many_go(
    whole: &Whole<'_>,
    leaving: u32,
    most: Option<u32>,
    obstacles: &Obstacles,
) -> Reason {
    let can = match most {
        Some(0) => "none can".to_owned(),
        Some(most) => format!("at most {most} can"),
        None => "so many cannot".to_owned(),
    };
    let keep = most
        .filter(|most| *most > 0)
        .map(|most| format!("ask for at least {}", counted(whole.machines() - most, "machine")));
    let fault = format!("{leaving} of {} were to go, but {can}", counted(whole.machines(), "node"));
    blocked(whole, &fault, keep, obstacles)
}

/// Why no choice of nodes has exactly so many fewer of these services.
pub(super) fn no_such_choice(
    fewer: &BTreeMap<String, u32>,
    whole: &Whole<'_>,
    obstacles: &Obstacles,
) -> Reason {
    let asked = fewer.iter().map(|(service, number)| format!("{service} on {number} fewer"));
    let fault = format!("no choice of nodes has {} and leaves the rest as it must be", listed(asked, "and"));
    blocked(whole, &fault, Some("ask for other numbers".to_owned()), obstacles)
}

/// A reason with the services and pinned nodes that are in the way.
fn blocked(whole: &Whole<'_>, fault: &str, first_way: Option<String>, obstacles: &Obstacles) -> Reason {
    let mut why: Vec<String> = obstacles
        .services
        .iter()
        .map(|name| format!("{name} is on {} and must be on at least {}", whole.count(name), whole.min(name)))
        .collect();
    if obstacles.pins {
        let pinned = numbers(whole.nodes.iter().filter(|node| node.pinned));
        why.push(format!("{} must stay", listed(&pinned, "and")));
    }
    let (last, lowered): (Vec<&String>, Vec<&String>) =
        obstacles.services.iter().partition(|name| whole.min(name) == 1);
    let ways: Vec<String> = [
        first_way,
        (!lowered.is_empty()).then(|| format!("lower min of {}", listed(lowered, "or"))),
        (!last.is_empty()).then(|| format!("take {} off the cluster first", listed(last, "or"))),
        obstacles.pins.then(|| "let pinned nodes go".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    Reason::new(
        ReasonKind::Minimum,
        if why.is_empty() { fault.to_owned() } else { format!("{fault}: {}", listed(why, "and")) },
        if ways.is_empty() { "ask for more machines".to_owned() } else { listed(ways, "or") },
    )
}

/// How the template can let a service be on so few nodes.
fn lower(whole: &Whole<'_>, service: &str, to: u32) -> String {
    if to == 0 || whole.min(service) == 1 {
        return format!("take {service} off the cluster first");
    }
    format!("lower min of {service} to {to}")
}

fn numbers<'n>(nodes: impl Iterator<Item = &'n ShrinkNode>) -> Vec<String> {
    let mut numbers: Vec<u32> = nodes.map(|node| node.number).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| number.to_string()).collect()
}
