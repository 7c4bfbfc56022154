//! The inner steps of the solver, to be shown: `service_sets` to `node_layouts` to [`rank`](super::rank) to
//! `find_counts`, and why a service is where it is.

use std::collections::BTreeSet;

use super::admission::{UsableTypes, Wanted, usable_types};
use super::bundle_set::BundleSet;
use super::check::{broken_by_set, broken_on_node};
use super::node_group::{NodeGroup, NodeLayout, nodes_with, services_of};
use super::problem::Problem;
use super::reason::{NoLayout, Reason, ReasonKind, listed};
use super::rules::Rules;
use super::spread::{Spread, joined};
use super::{Catalog, LayoutRequest};
use crate::entity::ClusterTemplate;

pub use super::combinations::Combinations;
pub use super::counts::{check_counts, find_counts};

/// Largest number of service sets, and of node layouts, that are listed.
pub const LIST_LIMIT: usize = 10_000;

/// All sets of services a node may carry by the rules of coexistence, those with most services first, then in
/// alphabetical order. What hardware and images allow is not looked at.
///
/// # Errors
/// There are more than [`LIST_LIMIT`].
pub fn service_sets(
    template: &ClusterTemplate,
    services: &BTreeSet<String>,
) -> Result<Vec<BTreeSet<String>>, NoLayout> {
    let mut constraints = template.constraints.clone();
    for rule in constraints.services.values_mut() {
        rule.hardwaretypes.clear();
        rule.imagetypes.clear();
    }
    let any = UsableTypes { hardware: vec![String::new()], images: vec![String::new()] };
    let problem = Problem::unchecked(&constraints, services, &any).map_err(NoLayout::from)?;
    let mut found = Vec::new();
    collect_sets(&problem, BundleSet::EMPTY, problem.all(), &mut found)?;
    let mut sets: Vec<BTreeSet<String>> = found
        .into_iter()
        .map(|bundles| problem.node(bundles, 0, 0).services)
        .filter(|set| !set.is_empty())
        .collect();
    sets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    Ok(sets)
}

fn collect_sets(
    problem: &Problem,
    inside: BundleSet,
    mut open: BundleSet,
    found: &mut Vec<BundleSet>,
) -> Result<(), NoLayout> {
    if found.len() > LIST_LIMIT {
        return Err(too_long());
    }
    found.push(inside);
    while let Some(bundle) = open.lowest() {
        open = open.without(bundle);
        if problem.can_share(inside.with(bundle)) {
            collect_sets(problem, inside.with(bundle), open, found)?;
        }
    }
    Ok(())
}

/// All kinds of node a cluster may have: each service set on each usable hardware and image type that all its services
/// accept, in order of preference.
///
/// # Errors
/// No types are usable, or there are more than [`LIST_LIMIT`].
pub fn node_layouts(catalog: &Catalog<'_>, request: &LayoutRequest) -> Result<Vec<NodeLayout>, NoLayout> {
    let wanted = Wanted::new(catalog.template, request);
    let types = usable_types(catalog, &wanted).map_err(|reasons| NoLayout { reasons })?;
    let mut nodes = Vec::new();
    for services in service_sets(catalog.template, &wanted.services)? {
        for hardwaretype in &types.hardware {
            for imagetype in &types.images {
                let (hardwaretype, imagetype) = (hardwaretype.clone(), imagetype.clone());
                let node = NodeLayout { services: services.clone(), hardwaretype, imagetype };
                if check_node_layout(catalog.template, &node).is_empty() {
                    nodes.push(node);
                }
            }
        }
        if nodes.len() > LIST_LIMIT {
            return Err(too_long());
        }
    }
    let preference = super::Preference::default();
    nodes.sort_by(|one, other| preference.compare(one, other));
    Ok(nodes)
}

/// The rules of coexistence that a node with exactly these services would break on a cluster that has `cluster`.
#[must_use]
pub fn check_service_set(
    template: &ClusterTemplate,
    cluster: &BTreeSet<String>,
    set: &BTreeSet<String>,
) -> Vec<Reason> {
    broken_by_set(&Rules::new(&template.constraints, cluster), set)
}

/// The services of this kind of node that do not accept its hardware type or its image type.
#[must_use]
pub fn check_node_layout(template: &ClusterTemplate, node: &NodeLayout) -> Vec<Reason> {
    broken_on_node(&Rules::new(&template.constraints, &BTreeSet::new()), node)
}

/// How many nodes of each group would get a service that is added, in the order in which this is tried: most nodes
/// first, preferred kinds of node first. Ways that break a rule for nodes left without the service are among them.
#[must_use]
pub fn add_service_candidates(
    template: &ClusterTemplate,
    groups: &[NodeGroup],
    service: &str,
) -> Vec<Vec<u32>> {
    let alone = BTreeSet::from([service.to_owned()]);
    let spread = Spread::new(&template.constraints, groups, &services_of(groups), service, &alone);
    spread.candidates().take(LIST_LIMIT).collect()
}

/// Why the nodes of group number `group` carry `service`, or why they do not: one sentence per rule.
#[must_use]
pub fn why_here(
    template: &ClusterTemplate,
    groups: &[NodeGroup],
    group: usize,
    service: &str,
) -> Vec<String> {
    let Some(node) = groups.get(group).map(|group| &group.node) else { return Vec::new() };
    if node.services.contains(service) {
        why_on(template, groups, node, service)
    } else {
        why_off(template, groups, node, service)
    }
}

fn why_on(template: &ClusterTemplate, groups: &[NodeGroup], node: &NodeLayout, service: &str) -> Vec<String> {
    let constraints = &template.constraints;
    let layout = &constraints.layout;
    let mut why: Vec<String> = Vec::new();
    for rule in layout.mustcoexist.iter().filter(|rule| rule.contains(service)) {
        let others: Vec<&String> =
            rule.iter().filter(|name| *name != service && node.services.contains(*name)).collect();
        if !others.is_empty() {
            why.push(format!("{service} goes wherever {} goes (mustcoexist)", listed(others, "and")));
        }
    }
    if let Some(rule) = constraints.services.get(service) {
        let (count, limits) = (nodes_with(groups, service), rule.quantities);
        if count == limits.min.max(1) {
            why.push(format!(
                "{service} must be on at least {}, and is on no more than that",
                limits.min.max(1)
            ));
        }
        for (noun, used, allowed) in [
            ("hardware type", &node.hardwaretype, &rule.hardwaretypes),
            ("image type", &node.imagetype, &rule.imagetypes),
        ] {
            if !allowed.is_empty() {
                why.push(format!(
                    "{noun} {used} is one of those {service} accepts: {}",
                    listed(allowed, "and")
                ));
            }
        }
    }
    let ruled = layout.mustcoexist.iter().chain(&layout.cantcoexist).any(|rule| rule.contains(service));
    why.push(if ruled || constraints.services.contains_key(service) {
        format!("nodes carry as many services as the rules allow, and nothing keeps {service} off this one")
    } else {
        format!("no rule of the template mentions {service}, so every node carries it")
    });
    why
}

fn why_off(
    template: &ClusterTemplate,
    groups: &[NodeGroup],
    node: &NodeLayout,
    service: &str,
) -> Vec<String> {
    let constraints = &template.constraints;
    let mut cluster = services_of(groups);
    cluster.insert(service.to_owned());
    let with = joined(node, &BTreeSet::from([service.to_owned()]));
    let mut why: Vec<String> = broken_on_node(&Rules::new(constraints, &cluster), &with)
        .into_iter()
        .map(|reason| format!("with {service}: {}", reason.fault))
        .collect();
    let count = nodes_with(groups, service);
    let limits = constraints.services.get(service).map(|rule| rule.quantities).unwrap_or_default();
    if count >= limits.max {
        why.push(format!("{service} is on {count} already, its maximum is {}", limits.max));
    }
    if why.is_empty() {
        why.push(format!("no rule keeps {service} off this node; other services needed the room elsewhere"));
    }
    why
}

fn too_long() -> NoLayout {
    NoLayout::from(Reason::new(
        ReasonKind::SearchLimit,
        format!("there are more than {LIST_LIMIT} to list"),
        "name fewer services, or tie services together with mustcoexist",
    ))
}
