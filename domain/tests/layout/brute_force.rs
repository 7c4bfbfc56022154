//! Coopr's way to a layout, written down as plainly as possible: list everything, try everything.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::entity::{Constraints, Quantities};
use cooperage_domain::layout::{NodeGroup, NodeLayout};

use crate::input::World;

/// Which of Coopr's habits to follow.
#[derive(Clone, Copy)]
pub struct Habits {
    /// Give up when taking greedily of each kind does not use up the machines.
    pub greedy_check: bool,
    /// Be content with a requested service on no node at all.
    pub may_drop_services: bool,
}

/// The first layout in Coopr's order. All hardware and image types of the world are usable.
pub fn first_layout(world: &World, machines: u32, habits: Habits) -> Option<Vec<NodeGroup>> {
    let constraints = &world.template.constraints;
    let services = &world.template.defaults.services;
    let nodes = kinds(world, &service_sets(constraints, services));
    let limits: BTreeMap<&String, Quantities> = services
        .iter()
        .map(|name| {
            let mut limits = constraints.services.get(name).map(|rule| rule.quantities).unwrap_or_default();
            if !habits.may_drop_services {
                limits.min = limits.min.max(1);
            }
            (name, limits)
        })
        .collect();
    if habits.greedy_check && greedy(&nodes, &limits, machines) < machines {
        return None;
    }
    let mut counts = Vec::new();
    try_counts(&nodes, &limits, machines, &mut counts).then(|| {
        let groups = nodes.into_iter().zip(counts).map(|(node, count)| NodeGroup { node, count });
        groups.filter(|group| group.count > 0).collect()
    })
}

/// The sets of services a node may carry.
pub fn service_sets(constraints: &Constraints, services: &BTreeSet<String>) -> Vec<BTreeSet<String>> {
    let rules = &constraints.layout;
    let (ruled, free): (Vec<&String>, Vec<&String>) = services.iter().partition(|name| {
        constraints.services.contains_key(*name)
            || rules.mustcoexist.iter().any(|set| set.contains(*name))
            || rules.cantcoexist.iter().any(|set| set.contains(*name))
    });
    let subsets = (0..1_u32 << ruled.len()).map(|bits| {
        let chosen = ruled.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
        chosen.map(|(_, name)| (*name).clone()).collect::<BTreeSet<String>>()
    });
    let valid = subsets.filter(|set| {
        let crammed = rules.cantcoexist.iter().any(|rule| rule.is_subset(set));
        let torn = rules.mustcoexist.iter().any(|rule| {
            let reduced: BTreeSet<_> = rule.intersection(services).cloned().collect();
            !reduced.is_subset(set) && !reduced.is_disjoint(set)
        });
        !crammed && !torn
    });
    let full =
        valid.map(|set| set.into_iter().chain(free.iter().copied().cloned()).collect::<BTreeSet<String>>());
    full.filter(|set| !set.is_empty()).collect()
}

/// One kind of node per service set, in order of preference.
pub fn kinds(world: &World, sets: &[BTreeSet<String>]) -> Vec<NodeLayout> {
    let rules = &world.template.constraints.services;
    let mut nodes: Vec<NodeLayout> = Vec::new();
    for set in sets {
        for hardware in &world.hardware {
            for image in &world.images {
                let accepted = set.iter().filter_map(|name| rules.get(name)).all(|rule| {
                    (rule.hardwaretypes.is_empty() || rule.hardwaretypes.contains(&hardware.base.name))
                        && (rule.imagetypes.is_empty() || rule.imagetypes.contains(&image.base.name))
                });
                if accepted {
                    nodes.push(NodeLayout {
                        services: set.clone(),
                        hardwaretype: hardware.base.name.clone(),
                        imagetype: image.base.name.clone(),
                    });
                }
            }
        }
    }
    nodes.sort_by_key(|node| {
        let services: Vec<String> = node.services.iter().cloned().collect();
        (Reverse(services.len()), node.hardwaretype.clone(), node.imagetype.clone(), services)
    });
    let mut seen = BTreeSet::new();
    nodes.retain(|node| seen.insert(node.services.clone()));
    nodes
}

fn greedy(nodes: &[NodeLayout], limits: &BTreeMap<&String, Quantities>, machines: u32) -> u32 {
    let mut used: BTreeMap<&String, u32> = BTreeMap::new();
    let mut total = 0;
    for node in nodes {
        let room = node.services.iter().map(|name| limits[name].max - used.get(name).unwrap_or(&0));
        let take = room.min().unwrap_or(0).min(machines - total);
        total += take;
        for name in &node.services {
            *used.entry(name).or_default() += take;
        }
    }
    total
}

/// All ways to spread the machines, the first kinds taking as many as possible first.
pub fn try_counts(
    nodes: &[NodeLayout],
    limits: &BTreeMap<&String, Quantities>,
    left: u32,
    counts: &mut Vec<u32>,
) -> bool {
    if counts.len() == nodes.len() {
        let within = |name: &String, limits: &Quantities| {
            let carrying = nodes.iter().zip(&*counts).filter(|(node, _)| node.services.contains(name));
            (limits.min..=limits.max).contains(&carrying.map(|(_, count)| count).sum())
        };
        return left == 0 && limits.iter().all(|(name, limits)| within(name, limits));
    }
    for count in (0..=left).rev() {
        counts.push(count);
        if try_counts(nodes, limits, left - count, counts) {
            return true;
        }
        counts.pop();
    }
    false
}
