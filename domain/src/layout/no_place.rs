//! Why services find no place on a running cluster.

use std::collections::BTreeSet;

use super::check::broken_on_node;
use super::companions::Companions;
use super::node_group::{NodeGroup, services_of};
use super::reason::{Reason, ReasonKind, counted, listed};
use super::rules::Rules;
use super::spread::{Spread, joined};
use crate::entity::Constraints;

/// A reason for each service that would find no place even if it came alone; if all would, one for all together.
pub(super) fn reasons(
    constraints: &Constraints,
    groups: &[NodeGroup],
    companions: &Companions,
    added: &BTreeSet<String>,
) -> Vec<Reason> {
    let alone = |service: &String| alone(constraints, groups, service, &companions.bunch(service));
    let alone: Vec<Reason> = added.iter().filter_map(alone).collect();
    if !alone.is_empty() {
        return alone;
    }
    let brought: BTreeSet<&String> = added.iter().flat_map(|service| companions.of(service)).collect();
    let limited: Vec<&&String> =
        brought.iter().filter(|name| constraints.services.contains_key(**name)).collect();
    if !limited.is_empty() {
        let names = listed(&limited, "and");
        let fault = format!(
            "{} cannot be placed so that {names}, which come along, keep to their minimum and maximum",
            listed(added, "and")
        );
        let remedy = format!("loosen min and max of {names}, or of the services that bring them");
        return vec![Reason::new(ReasonKind::NoPlace, fault, remedy)];
    }
    vec![Reason::new(
        ReasonKind::NoPlace,
        format!(
            "each of {} finds a place alone, but the {} nodes cannot take all of them within their rules and quantities",
            listed(added, "and"),
            groups.iter().map(|group| group.count).sum::<u32>()
        ),
        "add fewer of them, or loosen their minimums or the rules between them",
    )]
}

fn alone(
    constraints: &Constraints,
    groups: &[NodeGroup],
    service: &str,
    bunch: &BTreeSet<String>,
) -> Option<Reason> {
    let mut present = services_of(groups);
    let spread = Spread::new(constraints, groups, &present, service, bunch);
    if spread.valid().next().is_some() {
        return None;
    }
    let limits = constraints.services.get(service).map(|rule| rule.quantities).unwrap_or_default();
    let (eligible, forced) = (spread.eligible_nodes(), spread.forced_nodes());
    if spread.least() > limits.max {
        return Some(Reason::new(
            ReasonKind::Maximum,
            format!(
                "{service} may be on at most {}, but needs {}",
                counted(limits.max, "node"),
                spread.least()
            ),
            format!("raise max of {service} to at least {}", spread.least()),
        ));
    }
    present.extend(bunch.iter().cloned());
    let rules = Rules::new(constraints, &present);
    let obstacles = obstacles(&rules, groups, bunch);
    if eligible < spread.least() {
        let remedy = match eligible {
            0 => format!("change the rules that keep {service} off the nodes"),
            _ => format!(
                "lower min of {service} to {eligible}, or change the rules that keep it off other nodes"
            ),
        };
        return Some(Reason::new(
            ReasonKind::NoPlace,
            format!(
                "{service} must be on at least {}, but {eligible} can take it: {obstacles}",
                counted(spread.least(), "node")
            ),
            remedy,
        ));
    }
    if forced > limits.max {
        return Some(Reason::new(
            ReasonKind::Maximum,
            format!(
                "mustcoexist puts {service} on {}, above its maximum of {}",
                counted(forced, "node"),
                limits.max
            ),
            format!("raise max of {service} to {forced}, or change the rule"),
        ));
    }
    Some(Reason::new(
        ReasonKind::MustCoexist,
        format!("mustcoexist puts {service} on nodes that cannot take it: {obstacles}"),
        "change that rule or the rules that keep it off these nodes",
    ))
}

/// For each kind of node that cannot take the service: why.
fn obstacles(rules: &Rules<'_>, groups: &[NodeGroup], bunch: &BTreeSet<String>) -> String {
    let mut kinds = Vec::new();
    for group in groups {
        let faults: Vec<String> = broken_on_node(rules, &joined(&group.node, bunch))
            .into_iter()
            .map(|reason| reason.fault)
            .collect();
        if !faults.is_empty() {
            let nodes = counted(group.count, "node");
            kinds.push(format!(
                "{nodes} with {}: {}",
                listed(&group.node.services, "and"),
                faults.join(", ")
            ));
        }
    }
    kinds.join("; ")
}
