//! More nodes for a living cluster.

use std::collections::BTreeSet;

use super::super::admission::{self, UsableTypes, Wanted};
use super::super::budget::{Budget, SEARCH_LIMIT};
use super::super::check::check_layout;
use super::super::companions::Companions;
use super::super::cover;
use super::super::node_group::{NodeGroup, NodeLayout, services_of};
use super::super::objective::Objective;
use super::super::problem::Problem;
use super::super::reason::{NoLayout, Reason, ReasonKind, counted, listed};
use super::super::search;
use super::super::{Catalog, LayoutRequest};
use super::Growth;
use super::grow_reasons;
use super::headroom::Headroom;

/// The nodes to add to a cluster whose nodes are `existing`, the preferred kind first; the same for the same input.
///
/// The existing nodes stay exactly as they are. The new ones are what [`solve`](super::super::solve) would make of
/// them, with everything that the existing ones carry taken off the quantities: services that no rule of the template
/// mentions are on each, and each carries as many of the others as the rules leave room for. All rules hold for all
/// nodes together, and there is an answer whenever there is one that keeps the existing nodes.
///
/// When the growth names services, as few nodes are added as carry them, unless it says how many.
///
/// # Errors
/// Every reason why there is none. Rules that the existing nodes break and that more nodes cannot mend come alone, then
/// what is wrong with the request, then quantities.
pub fn grow(
    catalog: &Catalog<'_>,
    existing: &[NodeGroup],
    request: &Growth,
) -> Result<Vec<NodeLayout>, NoLayout> {
    NoLayout::unless_none(broken_for_good(catalog, existing))?;
    let refused = |reasons| NoLayout { reasons };
    let services = services_of(existing);
    let types = admit(catalog, &services, request).map_err(refused)?;
    let companions = Companions::find(catalog.services, &services).map_err(refused)?;
    let template = companions.template(catalog.template).map_err(refused)?;
    let asked = companions.asked(&request.services).map_err(refused)?;
    let problem = Problem::unchecked(&template.constraints, &companions.hosts, &types)?;
    let headroom = Headroom::new(problem, existing, &asked).map_err(refused)?;
    let mut budget = Budget::new(SEARCH_LIMIT);
    let present = existing.iter().map(|group| group.count).fold(0, u32::saturating_add);
    let machines = new_machines(catalog, &headroom, present, request, &mut budget)?;
    let reasons = grow_reasons::shortfall(&template, &headroom, present, machines, &mut budget)
        .map_err(Reason::from)?;
    NoLayout::unless_none(reasons)?;
    let mut layout = search::first_layout(&headroom.problem, machines, &mut budget).map_err(Reason::from)?;
    for group in &mut layout.groups {
        companions.join(&mut group.node.services);
    }
    let together: Vec<NodeGroup> = existing.iter().chain(&layout.groups).cloned().collect();
    NoLayout::unless_none(companions.check_quantities(&catalog.template.constraints, &together))?;
    Ok(layout.nodes().map(|(_, node)| node.clone()).collect())
}

/// Rules broken by the nodes as they are. Too few nodes with a service is what growing may mend.
fn broken_for_good(catalog: &Catalog<'_>, existing: &[NodeGroup]) -> Vec<Reason> {
    let mut reasons = check_layout(catalog.template, existing);
    reasons.retain(|reason| reason.kind != ReasonKind::Minimum);
    reasons
}

/// The types of new nodes, if the request is sound.
fn admit(
    catalog: &Catalog<'_>,
    services: &BTreeSet<String>,
    request: &Growth,
) -> Result<UsableTypes, Vec<Reason>> {
    let kind = LayoutRequest {
        machines: request.machines,
        services: Some(services.clone()),
        hardwaretype: request.hardwaretype.clone(),
        imagetype: request.imagetype.clone(),
        // Nothing is required that was not before.
        ancestors: BTreeSet::new(),
        objective: Objective::default(),
    };
    let mut reasons = unsound(services, request);
    let types =
        admission::usable_types(catalog, &Wanted::new(catalog.template, &kind)).unwrap_or_else(|faults| {
            reasons.extend(faults);
            UsableTypes::default()
        });
    reasons.extend(admission::incompatible(catalog.template, services));
    reasons.extend(admission::missing(catalog.services, services));
    if reasons.is_empty() { Ok(types) } else { Err(reasons) }
}

fn unsound(present: &BTreeSet<String>, request: &Growth) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if present.is_empty() {
        reasons.push(Reason::new(
            ReasonKind::NoServices,
            "the cluster has no node with a service",
            "create a cluster, or give this one services first",
        ));
    }
    if request.machines == 0 && request.services.is_empty() {
        reasons.push(Reason::new(
            ReasonKind::Size,
            "nothing to grow was named",
            "say how many machines the cluster is to have, or name services and how many more nodes carry each",
        ));
    }
    let absent: Vec<&String> = request.services.keys().filter(|name| !present.contains(*name)).collect();
    if !absent.is_empty() {
        let verb = if absent.len() == 1 { "is" } else { "are" };
        reasons.push(Reason::new(
            ReasonKind::NoPlace,
            format!("{} {verb} not on the cluster", listed(&absent, "and")),
            format!("add {} to the cluster's services first, or name others", listed(&absent, "and")),
        ));
    }
    let idle: Vec<&String> =
        request.services.iter().filter(|(_, more)| **more == 0).map(|(name, _)| name).collect();
    if !idle.is_empty() && idle.len() == request.services.len() && request.machines == 0 {
        let names = listed(&idle, "and");
        reasons.push(Reason::new(
            ReasonKind::Size,
            format!("{names} would be on 0 more nodes, so nothing would grow"),
            format!("ask for at least 1 more node with {}", listed(&idle, "or")),
        ));
    }
    reasons
}

/// How many nodes are added.
fn new_machines(
    catalog: &Catalog<'_>,
    headroom: &Headroom,
    present: u32,
    request: &Growth,
    budget: &mut Budget,
) -> Result<u32, NoLayout> {
    let machines = match (request.machines, headroom.exactly) {
        (0, Some(exactly)) => exactly,
        (0, None) => {
            cover::fewest_machines(&headroom.problem, &headroom.needs(), budget).map_err(Reason::from)?
        }
        (total, _) if total <= present => return Err(NoLayout::from(not_more(total, present))),
        (total, exactly) => {
            let more = total - present;
            if let Some(exactly) = exactly.filter(|exactly| *exactly != more) {
                return Err(NoLayout::from(two_numbers(total, more, exactly, present)));
            }
            more
        }
    };
    admission::check_size(catalog.template, present.saturating_add(machines))?;
    Ok(machines)
}

fn not_more(total: u32, present: u32) -> Reason {
    Reason::new(
        ReasonKind::Size,
        format!("the cluster has {} already, and was asked to grow to {total}", counted(present, "machine")),
        format!("ask for more than {present}, or shrink it"),
    )
}

fn two_numbers(total: u32, more: u32, exactly: u32, present: u32) -> Reason {
    Reason::new(
        ReasonKind::Size,
        format!(
            "{total} machines are {more} more, but a service that is on every node was asked for on {exactly} more"
        ),
        format!("ask for {} machines, or leave one of the two out", present.saturating_add(exactly)),
    )
}
