//! Whether a layout keeps a template's rules, and which ones it breaks.

use std::collections::BTreeSet;

use super::node_group::{NodeGroup, NodeLayout, nodes_with, services_of};
use super::reason::{NoLayout, Reason, ReasonKind, counted, listed};
use super::rules::Rules;
use crate::entity::{ClusterTemplate, Compatibility, Constraints, Kind};

/// Every rule of the template that these nodes break: which services share a node, what each accepts as hardware and
/// image, and on how many nodes each is. Rules about services that are on none of the nodes do not apply.
#[must_use]
pub fn check_layout(template: &ClusterTemplate, groups: &[NodeGroup]) -> Vec<Reason> {
    let services = services_of(groups);
    let rules = Rules::new(&template.constraints, &services);
    let mut seen = BTreeSet::new();
    let mut reasons = Vec::new();
    for group in groups.iter().filter(|group| group.count > 0 && seen.insert(&group.node)) {
        reasons.extend(broken_on_node(&rules, &group.node));
    }
    reasons.extend(check_quantities(&template.constraints, &services, groups));
    reasons
}

/// Whether a running cluster with these nodes may take over `template`: its services, hardware types and image types
/// are allowed and its layout keeps the rules.
///
/// # Errors
/// Everything that is not allowed and every rule that is broken.
pub fn check_sync(template: &ClusterTemplate, groups: &[NodeGroup]) -> Result<(), NoLayout> {
    let nodes = || groups.iter().filter(|group| group.count > 0).map(|group| &group.node);
    let compatibility = &template.compatibility;
    let hardware = nodes().map(|node| node.hardwaretype.as_str()).collect();
    let images = nodes().map(|node| node.imagetype.as_str()).collect();
    let services = nodes().flat_map(|node| &node.services).map(String::as_str).collect();
    let mut reasons = Vec::new();
    for (kind, reason, used, allowed) in [
        (Kind::Service, ReasonKind::IncompatibleService, services, &compatibility.services),
        (Kind::HardwareType, ReasonKind::HardwareType, hardware, &compatibility.hardwaretypes),
        (Kind::ImageType, ReasonKind::ImageType, images, &compatibility.imagetypes),
    ] {
        let used: BTreeSet<&str> = used;
        reasons.extend(used.into_iter().filter(|name| !Compatibility::allows(allowed, name)).map(|name| {
            Reason::new(
                reason,
                format!(
                    "{} {name} is in use, but template {} does not allow it",
                    kind.noun(),
                    template.base.name
                ),
                format!("add {name} to compatibility.{} of the template", kind.plural()),
            )
        }));
    }
    reasons.extend(check_layout(template, groups));
    NoLayout::unless_none(reasons)
}

/// Every rule about nodes that a node of this kind breaks.
pub(super) fn broken_on_node(rules: &Rules<'_>, node: &NodeLayout) -> Vec<Reason> {
    let mut reasons = broken_by_set(rules, &node.services);
    for wrong in rules.wrong_hardware(node) {
        reasons.push(wrong_type(
            ReasonKind::HardwareType,
            "hardware type",
            wrong.service,
            &node.hardwaretype,
            wrong.allowed,
        ));
    }
    for wrong in rules.wrong_image(node) {
        reasons.push(wrong_type(
            ReasonKind::ImageType,
            "image type",
            wrong.service,
            &node.imagetype,
            wrong.allowed,
        ));
    }
    reasons
}

/// Every rule about sharing a node that these services break.
pub(super) fn broken_by_set(rules: &Rules<'_>, services: &BTreeSet<String>) -> Vec<Reason> {
    let torn = rules.torn(services).map(|rule| {
        let absent: Vec<&str> = rule.iter().copied().filter(|name| !services.contains(*name)).collect();
        let here = rule.iter().filter(|name| services.contains(**name));
        Reason::new(
            ReasonKind::MustCoexist,
            format!(
                "{} must be together on a node (mustcoexist), but a node carries only {}",
                listed(rule, "and"),
                listed(here, "and")
            ),
            format!("put {} on it too, or change the rule", listed(absent, "and")),
        )
    });
    let crammed = rules.crammed(services).map(|rule| {
        Reason::new(
            ReasonKind::CantCoexist,
            format!(
                "{} may not be together on a node (cantcoexist), but a node carries them",
                listed(rule, "and")
            ),
            "put one of them on another node, or change the rule",
        )
    });
    torn.chain(crammed).collect()
}

fn wrong_type(kind: ReasonKind, noun: &str, service: &str, used: &str, allowed: &BTreeSet<String>) -> Reason {
    Reason::new(
        kind,
        format!("{service} does not run on {noun} {used}"),
        format!("use {}, or add {used} to constraints.services.{service}", listed(allowed, "or")),
    )
}

/// Every one of `services` that is on too few or too many of these nodes. Without a minimum it is one node.
pub(super) fn check_quantities(
    constraints: &Constraints,
    services: &BTreeSet<String>,
    groups: &[NodeGroup],
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for service in services {
        let limits = constraints.services.get(service).map(|rule| rule.quantities).unwrap_or_default();
        let (min, count) = (limits.min.max(1), nodes_with(groups, service));
        let nodes = counted(count, "node");
        if count < min {
            reasons.push(Reason::new(
                ReasonKind::Minimum,
                format!("{service} is on {nodes}, below its minimum of {min}"),
                format!("put it on {} more, or lower min of {service} to {count}", min - count),
            ));
        }
        if count > limits.max {
            reasons.push(Reason::new(
                ReasonKind::Maximum,
                format!("{service} is on {nodes}, above its maximum of {}", limits.max),
                format!("take it off {}, or raise max of {service} to {count}", count - limits.max),
            ));
        }
    }
    reasons
}
