//! How many more nodes of a living cluster each bundle must be on, and how many it may be on.

use std::collections::BTreeMap;

use super::super::bundle_set::BundleSet;
use super::super::node_group::{NodeGroup, nodes_with};
use super::super::problem::{Bundle, Problem};
use super::super::reason::{Reason, ReasonKind, counted, listed};

/// A layout question about the new nodes alone: what the present ones carry is taken off every minimum and maximum.
pub(super) struct Headroom {
    /// The new nodes' question. Minimums may be 0, and a bundle that suits no usable type has no room.
    pub problem: Problem,
    /// Per bundle.
    pub bundles: Vec<BundleRoom>,
    /// How many nodes there are to be, if services that are everywhere were asked for by number.
    pub exactly: Option<u32>,
}

/// What is known of one bundle.
pub(super) struct BundleRoom {
    /// On how many nodes it is.
    pub present: u32,
    /// Its maximum on all nodes.
    pub max: u32,
    /// Its minimum on all nodes.
    pub min: u32,
    /// Whether a new node can carry it.
    pub possible: bool,
    /// How many more nodes were asked to carry it.
    pub asked: Option<u32>,
}

impl BundleRoom {
    fn new(problem: &Problem, index: usize, existing: &[NodeGroup]) -> Self {
        let Bundle { services, min, max } = &problem.bundles[index];
        let present = services.first().map_or(0, |service| nodes_with(existing, service));
        let possible = problem.can_share(BundleSet::EMPTY.with(index));
        Self { present, max: *max, min: *min, possible, asked: None }
    }

    /// How many more nodes may carry it.
    pub(super) fn room(&self) -> u32 {
        if self.possible { self.max.saturating_sub(self.present) } else { 0 }
    }

    /// How many more nodes must carry it, whatever was asked.
    pub(super) fn need(&self) -> u32 {
        self.min.saturating_sub(self.present)
    }
}

impl Headroom {
    /// `problem` is about all services of the cluster, on the types that new nodes may have.
    ///
    /// # Errors
    /// Services that were asked for by number cannot be on so many more nodes.
    pub(super) fn new(
        mut problem: Problem,
        existing: &[NodeGroup],
        asked: &BTreeMap<String, u32>,
    ) -> Result<Self, Vec<Reason>> {
        let mut bundles: Vec<BundleRoom> =
            (0..problem.bundles.len()).map(|index| BundleRoom::new(&problem, index, existing)).collect();
        let mut reasons = Vec::new();
        for (index, bundle) in bundles.iter_mut().enumerate() {
            let services = &problem.bundles[index].services;
            let amounts = named(services, asked);
            reasons.extend(disagreement(&amounts, "go together (mustcoexist)"));
            bundle.asked = amounts.first().map(|(_, amount)| *amount);
            reasons.extend(unfit(services, bundle));
        }
        let amounts = named(&problem.everywhere, asked);
        reasons.extend(disagreement(&amounts, "are on every node"));
        if !reasons.is_empty() {
            return Err(reasons);
        }
        for (room, bundle) in bundles.iter().zip(&mut problem.bundles) {
            (bundle.min, bundle.max) =
                room.asked.map_or((room.need(), room.room()), |amount| (amount, amount));
        }
        let exactly = amounts.first().map(|(_, amount)| *amount);
        Ok(Self { problem, bundles, exactly })
    }

    /// Per bundle: how many of the new nodes must carry it.
    pub(super) fn needs(&self) -> Vec<u32> {
        self.problem.bundles.iter().map(|bundle| bundle.min).collect()
    }

    /// How many new nodes get something to carry; no limit when some services go everywhere.
    pub(super) fn most_machines(&self) -> u32 {
        if !self.problem.everywhere.is_empty() {
            return u32::MAX;
        }
        self.problem.bundles.iter().map(|bundle| bundle.max).fold(0, u32::saturating_add)
    }
}

fn named<'a>(
    services: impl IntoIterator<Item = &'a String>,
    asked: &BTreeMap<String, u32>,
) -> Vec<(&'a String, u32)> {
    services.into_iter().filter_map(|name| Some((name, *asked.get(name)?))).collect()
}

fn disagreement(amounts: &[(&String, u32)], tie: &str) -> Option<Reason> {
    let (first, amount) = amounts.first()?;
    let (other, another) = amounts.iter().find(|(_, another)| another != amount)?;
    Some(Reason::new(
        ReasonKind::MustCoexist,
        format!("{first} was asked for on {amount} more and {other} on {another} more, but they {tie}"),
        format!("ask for the same number of both, or name only {first}"),
    ))
}

/// Why a bundle cannot be on as many more nodes as it must be, or as was asked.
fn unfit(services: &[String], bundle: &BundleRoom) -> Option<Reason> {
    let names = listed(services, "with");
    let (present, max, room) = (bundle.present, bundle.max, bundle.room());
    let wanted = bundle.asked.unwrap_or_else(|| bundle.need());
    if wanted == 0 && bundle.asked.is_none() {
        return None;
    }
    if !bundle.possible {
        return Some(Reason::new(
            ReasonKind::NoPlace,
            format!(
                "{names} must be on {}, but suits none of the types that new nodes may have",
                counted(wanted, "more node")
            ),
            format!(
                "ask for another hardware type or image type, or allow these in constraints.services of {names}"
            ),
        ));
    }
    if wanted > room {
        let fewer = match room {
            0 => String::new(),
            _ => format!(", or ask for {room} more at most"),
        };
        return Some(Reason::new(
            ReasonKind::Maximum,
            format!(
                "{names} cannot be on {}: it is on {present}, and its constraint allows {max} at most",
                counted(wanted, "more node")
            ),
            format!("raise max of {names} to {}{fewer}", present.saturating_add(wanted)),
        ));
    }
    (wanted < bundle.need()).then(|| {
        Reason::new(
            ReasonKind::Minimum,
            format!(
                "{names} is on {}, below its minimum of {}, and would stay there",
                counted(present, "node"),
                bundle.min
            ),
            format!("ask for {} more at least, or lower min of {names}", bundle.need()),
        )
    })
}
