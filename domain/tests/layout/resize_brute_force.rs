//! Growing and shrinking by trying everything.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::entity::{ClusterTemplate, Quantities};
use cooperage_domain::layout::{Growth, NodeGroup, ReasonKind, ShrinkNode, Shrinkage, check_layout};

use crate::brute_force::{kinds, service_sets, try_counts};
use crate::input::World;

/// The nodes to add, as groups: of all that keep the rules together with the existing nodes, the first in Coopr's order.
/// All hardware and image types of the world are usable.
pub fn growth(world: &World, existing: &[NodeGroup], request: &Growth) -> Option<Vec<NodeGroup>> {
    let beyond_repair =
        check_layout(&world.template, existing).iter().any(|reason| reason.kind != ReasonKind::Minimum);
    if beyond_repair || request.machines == 0 && request.services.values().all(|more| *more == 0) {
        return None;
    }
    let present: u32 = existing.iter().map(|group| group.count).sum();
    let sizes = match request.machines {
        0 => 0..=request.services.values().sum::<u32>() + 8,
        total => total.checked_sub(present)?..=total.checked_sub(present)?,
    };
    sizes.into_iter().filter(|more| *more > 0).find_map(|more| additions(world, existing, request, more))
}

fn additions(
    world: &World,
    existing: &[NodeGroup],
    request: &Growth,
    machines: u32,
) -> Option<Vec<NodeGroup>> {
    let constraints = &world.template.constraints;
    let services: BTreeSet<String> =
        existing.iter().flat_map(|group| group.node.services.iter().cloned()).collect();
    if !request.services.keys().all(|name| services.contains(name)) {
        return None;
    }
    let nodes = kinds(world, &service_sets(constraints, &services));
    let limits: BTreeMap<&String, Quantities> = services
        .iter()
        .map(|name| {
            let on = existing.iter().filter(|group| group.node.services.contains(name));
            let on: u32 = on.map(|group| group.count).sum();
            let whole = constraints.services.get(name).map(|rule| rule.quantities).unwrap_or_default();
            let (min, max) = (whole.min.max(1).saturating_sub(on), whole.max.saturating_sub(on));
            match request.services.get(name) {
                Some(&exactly) => (name, Quantities { min: exactly.max(min), max: exactly.min(max) }),
                None => (name, Quantities { min, max }),
            }
        })
        .collect();
    if limits.values().any(|limits| limits.min > limits.max) {
        return None;
    }
    let mut counts = Vec::new();
    try_counts(&nodes, &limits, machines, &mut counts).then(|| {
        let groups = nodes.into_iter().zip(counts).map(|(node, count)| NodeGroup { node, count });
        groups.filter(|group| group.count > 0).collect()
    })
}

/// The numbers of the nodes that go, in the order in which they are chosen, of all choices that keep the rules.
pub fn shrinking(template: &ClusterTemplate, nodes: &[ShrinkNode], request: &Shrinkage) -> Option<Vec<u32>> {
    let choices: Vec<u32> =
        (1..1_u32 << nodes.len()).filter(|choice| is_possible(template, nodes, request, *choice)).collect();
    if matches!(request, Shrinkage::Nodes(_)) {
        let mut numbers = members(nodes, *choices.first()?);
        numbers.sort_unstable_by_key(|number| Reverse(*number));
        return Some(numbers);
    }
    let smallest = choices.iter().map(|choice| choice.count_ones()).min()?;
    let broken = |choice: u32| {
        (0..nodes.len()).filter(|&index| choice >> index & 1 == 1 && !nodes[index].healthy).count()
    };
    let choices: Vec<u32> = choices.into_iter().filter(|choice| choice.count_ones() == smallest).collect();
    let most_broken = choices.iter().map(|choice| broken(*choice)).max()?;
    let choices: Vec<u32> = choices.into_iter().filter(|choice| broken(*choice) == most_broken).collect();
    let (mut taken, mut numbers) = (0, Vec::new());
    for _ in 0..smallest {
        let mut order: Vec<usize> = (0..nodes.len()).filter(|index| taken >> index & 1 == 0).collect();
        order.sort_by_key(|&index| {
            let with = taken | 1 << index;
            (
                nodes[index].healthy,
                leaves_some_at_minimum(template, nodes, with, index),
                Reverse(nodes[index].number),
            )
        });
        let next = order
            .into_iter()
            .find(|index| choices.iter().any(|choice| choice & taken == taken && choice >> index & 1 == 1))?;
        taken |= 1 << next;
        numbers.push(nodes[next].number);
    }
    Some(numbers)
}

fn is_possible(template: &ClusterTemplate, nodes: &[ShrinkNode], request: &Shrinkage, choice: u32) -> bool {
    let goes = |index: usize| choice >> index & 1 == 1;
    let all: Vec<NodeGroup> = rest(nodes, |_| true);
    let staying = rest(nodes, |index| !goes(index));
    let services = |groups: &[NodeGroup]| -> BTreeSet<String> {
        groups.iter().flat_map(|group| group.node.services.iter().cloned()).collect()
    };
    let asked = match request {
        Shrinkage::To(machines) => nodes.len() as u32 - choice.count_ones() == *machines,
        Shrinkage::Nodes(named) => {
            (0..nodes.len()).all(|index| goes(index) == named.contains(&nodes[index].id))
                && named.iter().all(|id| nodes.iter().any(|node| node.id == *id))
        }
        Shrinkage::Services(fewer) => {
            fewer.values().any(|number| *number > 0)
                && fewer.keys().all(|name| services(&all).contains(name))
                && fewer.iter().all(|(name, number)| {
                    let carries = |index: &usize| nodes[*index].node.services.contains(name);
                    (0..nodes.len()).filter(|index| goes(*index) && carries(index)).count()
                        == *number as usize
                })
        }
    };
    let size = template.constraints.size;
    asked
        && (0..nodes.len()).all(|index| !(goes(index) && nodes[index].pinned))
        && services(&all) == services(&staying)
        && check_layout(template, &staying).is_empty()
        && (size.min..=size.max).contains(&(staying.len() as u32))
}

fn leaves_some_at_minimum(template: &ClusterTemplate, nodes: &[ShrinkNode], gone: u32, index: usize) -> bool {
    nodes[index].node.services.iter().any(|name| {
        let stays = |other: &usize| gone >> other & 1 == 0 && nodes[*other].node.services.contains(name);
        let left = (0..nodes.len()).filter(stays).count() as u32;
        let min = template.constraints.services.get(name).map_or(1, |rule| rule.quantities.min.max(1));
        left <= min
    })
}

fn rest(nodes: &[ShrinkNode], stays: impl Fn(usize) -> bool) -> Vec<NodeGroup> {
    let kept = nodes.iter().enumerate().filter(|(index, _)| stays(*index));
    kept.map(|(_, node)| NodeGroup { node: node.node.clone(), count: 1 }).collect()
}

fn members(nodes: &[ShrinkNode], choice: u32) -> Vec<u32> {
    let in_it = nodes.iter().enumerate().filter(|(index, _)| choice >> index & 1 == 1);
    in_it.map(|(_, node)| node.number).collect()
}
