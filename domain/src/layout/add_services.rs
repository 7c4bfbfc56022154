//! Adding services to a running cluster: its nodes stay, and get more to carry.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::admission::{incompatible, misfits, missing};
use super::budget::{Budget, Exhausted};
use super::check::check_layout;
use super::companions::{Companions, with_companions};
use super::no_place;
use super::node_group::{NodeGroup, merged, services_of};
use super::reason::{NoLayout, Reason, ReasonKind, listed};
use super::spread::Spread;
use crate::entity::{ClusterTemplate, Constraints, Service};

/// Placements one search may try.
const PLACEMENT_LIMIT: u32 = 50_000;

/// Where added services go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addition {
    /// What changes, in the order of the groups that were given.
    pub placements: Vec<Placement>,
    /// All nodes afterwards.
    pub layout: Vec<NodeGroup>,
}

/// Some nodes of a group get services.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Which of the groups that were given, from 0.
    pub group: usize,
    /// How many of its nodes; the same node is never in two placements.
    pub count: u32,
    /// What they get.
    pub services: BTreeSet<String>,
}

impl Addition {
    /// How many nodes get something.
    #[must_use]
    pub fn changed_nodes(&self) -> u32 {
        self.placements.iter().map(|placement| placement.count).sum()
    }
}

/// Whether `added` may join a cluster that has `present`, before anybody looks for nodes: nothing is there already, all
/// exist, the new ones are allowed by the template, and requirements and conflicts hold for all together.
///
/// `ancestors`: the names that services of the clusters it is built upon answer to.
///
/// Coopr accepts services that are there already and spreads them; here that is refused.
///
/// # Errors
/// Everything that does not hold.
pub fn validate_add_services(
    template: &ClusterTemplate,
    known: &[Service],
    present: &BTreeSet<String>,
    added: &BTreeSet<String>,
    ancestors: &BTreeSet<String>,
) -> Result<(), NoLayout> {
    let together = with_companions(known, &present.union(added).cloned().collect());
    let mut reasons = already_there(present, added);
    reasons.extend(missing(known, &together));
    reasons.extend(incompatible(template, &together.difference(present).cloned().collect()));
    reasons.extend(misfits(known, &together, ancestors));
    NoLayout::unless_none(reasons)
}

/// The first placement of `added`, with what they require on the same machine, in Coopr's order that keeps all rules: service after service (those with the smallest
/// maximum first), on as many nodes as possible, preferred kinds of node first. No machine is added, and no service
/// moves. When a later service finds no place, the placements of the earlier ones are taken back and the next are tried;
/// the result always places all.
///
/// Whether the services may join at all is [`validate_add_services`]'s question.
///
/// # Errors
/// Every service without a place and why, or what is wrong with the layout as it is.
pub fn add_services(
    template: &ClusterTemplate,
    known: &[Service],
    groups: &[NodeGroup],
    added: &BTreeSet<String>,
) -> Result<Addition, NoLayout> {
    let present = services_of(groups);
    NoLayout::unless_none(already_there(&present, added))?;
    // Services never leave nodes, so what is broken now stays broken.
    NoLayout::unless_none(check_layout(template, groups))?;
    let together: BTreeSet<String> = present.union(added).cloned().collect();
    let companions = Companions::find(known, &together).map_err(|reasons| NoLayout { reasons })?;
    let hosts: BTreeSet<String> = added.intersection(&companions.hosts).cloned().collect();
    let mut search = PlacementSearch {
        template,
        order: in_order(&template.constraints, &hosts),
        companions: &companions,
        budget: Budget::new(PLACEMENT_LIMIT),
    };
    let start =
        groups.iter().enumerate().map(|(origin, group)| Piece { origin, group: group.clone() }).collect();
    match search.place(0, start, &present) {
        Ok(Some(pieces)) => Ok(addition(groups, pieces)),
        Ok(None) => {
            Err(NoLayout { reasons: no_place::reasons(&template.constraints, groups, &companions, &hosts) })
        }
        Err(exhausted) => Err(NoLayout::from(Reason::from(exhausted))),
    }
}

fn already_there(present: &BTreeSet<String>, added: &BTreeSet<String>) -> Vec<Reason> {
    if added.is_empty() {
        let fault = "no services were named";
        return vec![Reason::new(ReasonKind::NoServices, fault, "name at least one service to add")];
    }
    let there: Vec<&String> = present.intersection(added).collect();
    if there.is_empty() {
        return Vec::new();
    }
    let names = listed(&there, "and");
    let fault = format!("{names} {} on the cluster already", if there.len() == 1 { "is" } else { "are" });
    vec![Reason::new(ReasonKind::AlreadyPresent, fault, format!("leave out {names}"))]
}

/// Those with a constraint first: the smallest maximum, then the largest minimum, then by name. Then the rest by name.
fn in_order(constraints: &Constraints, added: &BTreeSet<String>) -> Vec<String> {
    let mut order: Vec<String> = added.iter().cloned().collect();
    order.sort_by_key(|name| match constraints.services.get(name) {
        Some(rule) => (false, rule.quantities.max, Reverse(rule.quantities.min)),
        None => (true, 0, Reverse(0)),
    });
    order
}

/// Nodes that were in one group and still carry the same.
#[derive(Debug, Clone)]
struct Piece {
    origin: usize,
    group: NodeGroup,
}

struct PlacementSearch<'a> {
    template: &'a ClusterTemplate,
    order: Vec<String>,
    companions: &'a Companions,
    budget: Budget,
}

impl PlacementSearch<'_> {
    /// Places the services from number `next` on. The state is handed down by value, so a branch that fails leaves
    /// nothing behind.
    fn place(
        &mut self,
        next: usize,
        pieces: Vec<Piece>,
        present: &BTreeSet<String>,
    ) -> Result<Option<Vec<Piece>>, Exhausted> {
        let groups: Vec<NodeGroup> = pieces.iter().map(|piece| piece.group.clone()).collect();
        let Some(service) = self.order.get(next) else {
            return Ok(self.keeps_numbers(&groups).then_some(pieces));
        };
        if !self.all_have_room(next, &groups) {
            return Ok(None);
        }
        let bunch = self.companions.bunch(service);
        let spread = Spread::new(&self.template.constraints, &groups, present, service, &bunch);
        let grown = present.union(&bunch).cloned().collect();
        for counts in spread.valid() {
            self.budget.step()?;
            let placed = self.place(next + 1, split(&pieces, &counts, &bunch), &grown)?;
            if placed.is_some() {
                return Ok(placed);
            }
        }
        Ok(None)
    }

    /// Whether what goes with others is on as many nodes as it may be; the search only counts hosts.
    fn keeps_numbers(&self, groups: &[NodeGroup]) -> bool {
        self.companions.is_empty() || check_layout(self.template, groups).is_empty()
    }

    /// Whether each service from number `next` on still finds enough nodes that tolerate it. What is placed later only
    /// makes that worse.
    fn all_have_room(&self, next: usize, groups: &[NodeGroup]) -> bool {
        let coming = self.order.iter().flat_map(|service| self.companions.bunch(service));
        let everything: BTreeSet<String> = services_of(groups).into_iter().chain(coming).collect();
        self.order[next..].iter().all(|service| {
            let bunch = self.companions.bunch(service);
            let spread = Spread::new(&self.template.constraints, groups, &everything, service, &bunch);
            spread.tolerant_nodes() >= spread.least()
        })
    }
}

/// Every piece parted into the nodes that get a bunch of services and those that do not.
fn split(pieces: &[Piece], counts: &[u32], bunch: &BTreeSet<String>) -> Vec<Piece> {
    let mut parts = Vec::with_capacity(pieces.len() + 1);
    for (piece, &count) in pieces.iter().zip(counts) {
        if count > 0 {
            let mut with = piece.clone();
            with.group.count = count;
            with.group.node.services.extend(bunch.iter().cloned());
            parts.push(with);
        }
        if count < piece.group.count {
            let mut without = piece.clone();
            without.group.count -= count;
            parts.push(without);
        }
    }
    parts
}

fn addition(before: &[NodeGroup], pieces: Vec<Piece>) -> Addition {
    let placements = pieces
        .iter()
        .map(|piece| Placement {
            group: piece.origin,
            count: piece.group.count,
            services: piece
                .group
                .node
                .services
                .difference(&before[piece.origin].node.services)
                .cloned()
                .collect(),
        })
        .filter(|placement| !placement.services.is_empty())
        .collect();
    Addition { placements, layout: merged(pieces.into_iter().map(|piece| piece.group)) }
}
