//! Fewer nodes for a living cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::super::admission::check_size;
use super::super::budget::{Budget, Exhausted, SEARCH_LIMIT};
use super::super::check::check_layout;
use super::super::node_group::{NodeGroup, merged, nodes_with, services_of};
use super::super::reason::{NoLayout, Reason};
use super::drain::{Bounds, Drain};
use super::shrink_reasons as reasons;
use super::{Leaving, ShrinkNode, Shrinkage};
use crate::entity::ClusterTemplate;
use crate::id::NodeId;

/// Which of a cluster's nodes go, and why these, in the order in which they were chosen; the same for the same input.
///
/// Those that stay keep all rules of the template, and every service stays on at least one of them. As many as possible
/// of those that go do not work. They are chosen one after the other: those that do not work first, then those without
/// which everything they carry is still above its minimum, then the youngest; nodes that are pinned never. There is an
/// answer whenever some choice of nodes keeps the rules.
///
/// # Errors
/// Why so many, or these, cannot go, and what would make it possible.
pub fn shrink(
    template: &ClusterTemplate,
    nodes: &[ShrinkNode],
    request: &Shrinkage,
) -> Result<Vec<Leaving>, NoLayout> {
    let herd = Whole::new(template, nodes);
    match request {
        Shrinkage::Nodes(named) => herd.without_named(named),
        Shrinkage::To(machines) => herd.shrink_to(*machines),
        Shrinkage::Services(fewer) => herd.shrink_services(fewer),
    }
}

/// Steps one question may take that only serves to say what would help.
const ADVICE_LIMIT: u32 = 10_000;

/// What is left out of consideration, to see whether it is in the way.
#[derive(Clone, Copy)]
enum Relaxed<'r> {
    None,
    /// The minimum of this service; if it has none, that it must be on some node.
    Service(&'r str),
    /// That nodes are pinned.
    Pins,
}

/// What is in the way of a choice.
pub(super) struct Obstacles {
    /// Services that are on as few nodes as they may.
    pub services: Vec<String>,
    /// Whether pinned nodes are.
    pub pins: bool,
}

/// The cluster as it is.
pub(super) struct Whole<'a> {
    pub template: &'a ClusterTemplate,
    pub nodes: &'a [ShrinkNode],
    pub services: BTreeSet<String>,
    groups: Vec<NodeGroup>,
}

impl<'a> Whole<'a> {
    fn new(template: &'a ClusterTemplate, nodes: &'a [ShrinkNode]) -> Self {
        let groups = grouped(nodes.iter());
        Self { template, nodes, services: services_of(&groups), groups }
    }

    pub(super) fn machines(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// On how many nodes a service is.
    pub(super) fn count(&self, service: &str) -> u32 {
        nodes_with(&self.groups, service)
    }

    /// On how many nodes a service must be.
    pub(super) fn min(&self, service: &str) -> u32 {
        self.template.constraints.services.get(service).map_or(1, |rule| rule.quantities.min.max(1))
    }

    /// On how many nodes a service may be.
    pub(super) fn max(&self, service: &str) -> u32 {
        self.template.constraints.services.get(service).map_or(u32::MAX, |rule| rule.quantities.max)
    }

    /// From how many nodes a service can go before it is at its minimum.
    pub(super) fn spare(&self, service: &str) -> u32 {
        self.count(service).saturating_sub(self.min(service))
    }

    fn without_named(&self, named: &BTreeSet<NodeId>) -> Result<Vec<Leaving>, NoLayout> {
        NoLayout::unless_none(reasons::unusable_names(self, named))?;
        let (leaving, staying): (Vec<&ShrinkNode>, Vec<&ShrinkNode>) =
            self.nodes.iter().partition(|node| named.contains(&node.id));
        let rest = grouped(staying);
        let mut faults: Vec<Reason> =
            check_size(self.template, rest.iter().map(|group| group.count).sum()).err().into_iter().collect();
        faults.extend(reasons::below_minimum(self, &rest, &leaving));
        faults.extend(reasons::but_minimums(check_layout(self.template, &rest)));
        NoLayout::unless_none(faults)?;
        let mut leaving: Vec<Leaving> = leaving
            .into_iter()
            .map(|node| Leaving {
                node: node.id.clone(),
                number: node.number,
                reason: reasons::of_named(self, node, &rest),
            })
            .collect();
        leaving.sort_by_key(|node| std::cmp::Reverse(node.number));
        Ok(leaving)
    }

    fn shrink_to(&self, machines: u32) -> Result<Vec<Leaving>, NoLayout> {
        if machines >= self.machines() {
            return Err(NoLayout::from(reasons::not_fewer(machines, self.machines())));
        }
        check_size(self.template, machines)?;
        self.check_nodes()?;
        let (any, leaving) = (BTreeMap::new(), self.machines() - machines);
        let mut budget = Budget::new(SEARCH_LIMIT);
        let picks = self.drain(&any, Relaxed::None).choose(leaving, &mut budget).map_err(Reason::from)?;
        if let Some(picks) = picks {
            return Ok(reasons::of_picks(self, &picks, &any));
        }
        // Advice only: when it is too hard to find, the reason does without.
        let can = |number: u32, relaxed: Relaxed<'_>| {
            self.drain(&any, relaxed).can_lose(number, &mut Budget::new(ADVICE_LIMIT)).unwrap_or(false)
        };
        let most = (0..leaving).rev().find(|&fewer| can(fewer, Relaxed::None));
        let obstacles = self.obstacles(&any, |relaxed| can(leaving, relaxed));
        Err(NoLayout::from(reasons::too_many_go(self, leaving, most, &obstacles)))
    }

    fn shrink_services(&self, fewer: &BTreeMap<String, u32>) -> Result<Vec<Leaving>, NoLayout> {
        NoLayout::unless_none(reasons::unusable_numbers(self, fewer))?;
        self.check_nodes()?;
        let mut budget = Budget::new(SEARCH_LIMIT);
        let fewest = self.fewest_leaving(fewer, Relaxed::None, &mut budget).map_err(Reason::from)?;
        let Some(machines) = fewest else {
            let can = |relaxed: Relaxed<'_>| {
                let found = self.fewest_leaving(fewer, relaxed, &mut Budget::new(ADVICE_LIMIT));
                found.is_ok_and(|machines| machines.is_some())
            };
            let obstacles = self.obstacles(fewer, can);
            return Err(NoLayout::from(reasons::no_such_choice(fewer, self, &obstacles)));
        };
        check_size(self.template, self.machines() - machines)?;
        let picks = self.drain(fewer, Relaxed::None).choose(machines, &mut budget).map_err(Reason::from)?;
        Ok(reasons::of_picks(self, &picks.unwrap_or_default(), fewer))
    }

    /// With how few nodes so many fewer carry the services, if at all.
    fn fewest_leaving(
        &self,
        fewer: &BTreeMap<String, u32>,
        relaxed: Relaxed<'_>,
        budget: &mut Budget,
    ) -> Result<Option<u32>, Exhausted> {
        let least = fewer.values().copied().max().unwrap_or(0);
        for machines in least..self.machines() {
            if self.drain(fewer, relaxed).can_lose(machines, budget)? {
                return Ok(Some(machines));
            }
        }
        Ok(None)
    }

    /// What is in the way: each of these alone, if it were not, would make it possible. Everything that may be, if no
    /// single one would.
    fn obstacles(&self, fewer: &BTreeMap<String, u32>, can: impl Fn(Relaxed<'_>) -> bool) -> Obstacles {
        let others: Vec<&String> = self.services.iter().filter(|name| !fewer.contains_key(*name)).collect();
        let decisive = Obstacles {
            services: others.iter().copied().filter(|name| can(Relaxed::Service(name))).cloned().collect(),
            pins: can(Relaxed::Pins),
        };
        if decisive.pins || !decisive.services.is_empty() {
            return decisive;
        }
        let may_leave = |service: &str| {
            let movable =
                self.nodes.iter().filter(|node| !node.pinned && node.node.services.contains(service));
            u32::try_from(movable.count()).unwrap_or(u32::MAX)
        };
        let scarce = others.into_iter().filter(|name| self.spare(name) < may_leave(name));
        Obstacles { services: scarce.cloned().collect(), pins: self.nodes.iter().any(|node| node.pinned) }
    }

    /// Rules that nodes break as they are, which choosing some to go is no way to mend, and quantities that are too low.
    fn check_nodes(&self) -> Result<(), NoLayout> {
        NoLayout::unless_none(reasons::but_maximums(check_layout(self.template, &self.groups)))
    }

    /// The question which nodes go: any that are not pinned.
    fn drain(&self, fewer: &BTreeMap<String, u32>, relaxed: Relaxed<'_>) -> Drain<'a> {
        let bounds = |service: &String| {
            let count = self.count(service);
            let (low, mut high) = (count.saturating_sub(self.max(service)), self.spare(service));
            if matches!(relaxed, Relaxed::Service(name) if name == service) {
                high = if self.min(service) > 1 { count.saturating_sub(1) } else { count };
            }
            match fewer.get(service) {
                Some(&exactly) => Bounds { low: exactly, high: exactly },
                None => Bounds { low, high },
            }
        };
        let movable = |index: &usize| !self.nodes[*index].pinned || matches!(relaxed, Relaxed::Pins);
        let bounds: Vec<Bounds> = self.services.iter().map(bounds).collect();
        let spare = self.services.iter().map(|service| self.spare(service)).collect();
        Drain::new(self.nodes, (0..self.nodes.len()).filter(movable), &self.services, &bounds, spare)
    }
}

fn grouped<'n>(nodes: impl IntoIterator<Item = &'n ShrinkNode>) -> Vec<NodeGroup> {
    merged(nodes.into_iter().map(|node| NodeGroup { node: node.node.clone(), count: 1 }))
}
