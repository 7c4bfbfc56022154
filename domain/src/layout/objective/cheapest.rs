//! The cheapest layout.
//!
//! First it is settled how many nodes of which hardware and image type there are and which bundles these must carry
//! ([`model`](super::model)); then the nodes of each type are laid out in order of preference, as those of any cluster.

use super::super::budget::Budget;
use super::super::node_group::{Layout, NodeGroup};
use super::super::preference::Preference;
use super::super::problem::Problem;
use super::super::reason::{NoLayout, Reason, ReasonKind};
use super::super::search::first_layout;
use super::model::{GivenUp, Share, Type, shares};

/// The cheapest layout on exactly so many machines; `prices` are those of the problem's hardware types.
///
/// # Errors
/// The rules are too entangled.
pub(super) fn cheapest(
    problem: &Problem,
    machines: u32,
    prices: &[f64],
    mut budget: Budget,
) -> Result<Layout, NoLayout> {
    let types = types(problem, prices);
    let mut shares = match &types[..] {
        // All that can be decided is how services share nodes, which costs nothing.
        [_] => vec![whole(problem, machines)],
        _ => shares(problem, &types, machines).map_err(|GivenUp| too_entangled())?,
    };
    spread_room(problem, &types, &mut shares);
    let mut groups: Vec<NodeGroup> = Vec::new();
    for (one, share) in types.iter().zip(&shares).filter(|(_, share)| share.nodes > 0) {
        let part = problem.on(one.hardware, one.image, &share.needs, &share.room);
        let layout = first_layout(&part, share.nodes, &mut budget).map_err(Reason::from)?;
        if layout.machines() != share.nodes {
            return Err(too_entangled());
        }
        groups.extend(layout.groups);
    }
    groups.sort_by(|one, other| Preference::default().compare(&one.node, &other.node));
    Ok(Layout { groups })
}

/// All nodes.
fn whole(problem: &Problem, machines: u32) -> Share {
    let needs: Vec<u32> = problem.bundles.iter().map(|bundle| bundle.min).collect();
    Share { nodes: machines, room: needs.clone(), needs }
}

/// Types of nodes, without those that can do no more than another one that costs no more.
fn types(problem: &Problem, prices: &[f64]) -> Vec<Type> {
    let mut types: Vec<Type> = Vec::new();
    let mut all: Vec<Type> = problem
        .hardware
        .iter()
        .enumerate()
        .flat_map(|(hardware, (_, on))| {
            problem.images.iter().enumerate().map(move |(image, (_, with))| Type {
                hardware,
                image,
                open: *on & *with,
                price: prices[hardware],
            })
        })
        .collect();
    all.sort_by(|one, other| one.price.total_cmp(&other.price).then(other.open.len().cmp(&one.open.len())));
    for one in all {
        if !types.iter().any(|better| one.open.is_subset(better.open)) {
            types.push(one);
        }
    }
    types
}

/// Gives what room is left of each bundle to the types, cheapest first, so that nodes carry as many services as they may.
fn spread_room(problem: &Problem, types: &[Type], shares: &mut [Share]) {
    for (number, bundle) in problem.bundles.iter().enumerate() {
        let given: u32 = shares.iter().map(|share| share.room[number]).sum();
        let mut left = bundle.max.saturating_sub(given);
        let open = types.iter().zip(shares.iter_mut()).filter(|(one, _)| one.open.contains(number));
        for (_, share) in open {
            let more = (share.nodes - share.room[number].min(share.nodes)).min(left);
            share.room[number] += more;
            left -= more;
        }
    }
}

fn too_entangled() -> NoLayout {
    NoLayout::from(Reason::new(
        ReasonKind::SearchLimit,
        "the search for the cheapest layout was given up: the rules are too entangled",
        "drop rules that are not needed from the template, or ask for another objective",
    ))
}
