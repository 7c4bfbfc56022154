//! Why so many machines cannot be filled, or cannot hold everything: complete, so no reason means there is a layout.

use super::budget::{Budget, Exhausted};
use super::bundle_set::BundleSet;
use super::cover;
use super::problem::{Bundle, Problem};
use super::reason::{Reason, ReasonKind, RemedyStep, counted, listed};
use crate::entity::{ClusterTemplate, Constraints};

/// Every reason why `machines` machines cannot carry the services; none if they can.
///
/// A layout exists exactly if no bundle's minimum is above its maximum, the minimums fit on the machines when packed
/// as tightly as the rules allow, and no machine stays empty when all bundles are spread as widely as they may.
pub(super) fn shortfall(
    problem: &Problem,
    template: &ClusterTemplate,
    machines: u32,
    budget: &mut Budget,
) -> Result<Vec<Reason>, Exhausted> {
    let needs: Vec<u32> = problem.bundles.iter().map(|bundle| bundle.min).collect();
    let contradictions: Vec<Reason> = problem
        .bundles
        .iter()
        .filter(|bundle| bundle.min > bundle.max)
        .map(|bundle| contradiction(&template.constraints, bundle))
        .collect();
    let fits = cover::fits(problem, &needs, machines, budget)?;
    let most = most_machines(problem);
    if contradictions.is_empty() && fits && machines <= most {
        return Ok(Vec::new());
    }
    // Advice only: when it is too hard to find, the reasons do without.
    let fewest = cover::fewest_machines(problem, &needs, budget).ok();
    let size = template.constraints.size;
    let possible = fewest
        .map(|fewest| (fewest.max(size.min), most.min(size.max)))
        .filter(|(least, most)| contradictions.is_empty() && least <= most);
    let mut reasons = contradictions;
    if !fits {
        reasons.extend(too_few(problem, &needs, machines, fewest, possible));
    }
    if machines > most {
        reasons.push(too_many(template, problem, machines, most, possible));
    }
    Ok(reasons)
}

/// The most machines that get a bundle each; no limit when some services go everywhere.
fn most_machines(problem: &Problem) -> u32 {
    if !problem.everywhere.is_empty() {
        return u32::MAX;
    }
    problem.bundles.iter().map(|bundle| bundle.max).fold(0, u32::saturating_add)
}

fn contradiction(constraints: &Constraints, bundle: &Bundle) -> Reason {
    let quantities =
        |name: &String| constraints.services.get(name).map(|rule| rule.quantities).unwrap_or_default();
    let tightest = bundle.services.iter().min_by_key(|name| quantities(name).max);
    let neediest = bundle.services.iter().rev().max_by_key(|name| quantities(name).min);
    let (tight, needy) = (tightest.map_or("", String::as_str), neediest.map_or("", String::as_str));
    if bundle.max == 0 {
        let fault = match bundle.services.len() {
            1 => format!("{tight} was requested, but its maximum is 0 nodes"),
            _ => format!(
                "{} go together, but the maximum of {tight} is 0 nodes",
                listed(&bundle.services, "and")
            ),
        };
        let remedy =
            format!("raise max of {tight} to at least {}, or leave it out of the request", bundle.min);
        return Reason::new(ReasonKind::Maximum, fault, remedy);
    }
    let fault = if tight == needy {
        format!("the minimum of {needy}, {}, is above its maximum of {}", bundle.min, bundle.max)
    } else {
        format!(
            "{needy} must be on at least {}, and {tight}, which goes with it, on at most {}",
            counted(bundle.min, "node"),
            bundle.max
        )
    };
    let remedy = format!("raise max of {tight} to {}, or lower min of {needy} to {}", bundle.min, bundle.max);
    Reason::new(ReasonKind::Maximum, fault, remedy)
}

/// Why the services do not fit: each whose minimum alone is too much, or those that cannot share.
fn too_few(
    problem: &Problem,
    needs: &[u32],
    machines: u32,
    fewest: Option<u32>,
    possible: Option<(u32, u32)>,
) -> Vec<Reason> {
    let more = possible.map(|(least, _)| RemedyStep::Machines { count: least });
    let enough = possible.map(|(least, _)| format!("use at least {}", counted(least, "machine")));
    let remedy = |other: String| match &enough {
        Some(enough) => format!("{enough}, or {other}"),
        None => other,
    };
    let mut reasons: Vec<Reason> = problem
        .bundles
        .iter()
        .filter(|bundle| bundle.min > machines)
        .map(|bundle| {
            let names = listed(&bundle.services, "and");
            let asked = counted(machines, "machine");
            Reason::new(
                ReasonKind::Minimum,
                format!(
                    "{names} must be on at least {}, but only {asked} were asked for",
                    counted(bundle.min, "node")
                ),
                remedy(format!("lower min of {names} to {machines} or less")),
            )
            .helped_by(more.clone())
        })
        .collect();
    let rivals = cover::heaviest_rivals(problem, needs, problem.all());
    let alone = cover::weight(needs, rivals);
    let crowd = if rivals.len() > 1 && alone > u64::from(machines) {
        let needed = u32::try_from(alone).unwrap_or(u32::MAX);
        Some((rivals, counted(needed, "machine"), "no two of them can share a node"))
    } else if reasons.is_empty() {
        let needed = fewest.map_or_else(|| "more machines".to_owned(), |fewest| counted(fewest, "machine"));
        Some((crowded(problem), needed, "the rules do not let them share enough nodes"))
    } else {
        None
    };
    reasons.extend(crowd.map(|(who, needed, why)| {
        Reason::new(
            ReasonKind::TooFewMachines,
            format!(
                "{} need {needed} together, but only {machines} were asked for: {why}",
                amounts(problem, who, |bundle| bundle.min),
            ),
            remedy(
                "leave one of them out, or let them share nodes: see cantcoexist, hardwaretypes, imagetypes"
                    .into(),
            ),
        )
        .helped_by(more.clone())
    }));
    reasons
}

/// The bundles that cannot share a node with everything.
fn crowded(problem: &Problem) -> BundleSet {
    problem.components.iter().fold(BundleSet::EMPTY, |all, component| all | *component)
}

fn too_many(
    template: &ClusterTemplate,
    problem: &Problem,
    machines: u32,
    most: u32,
    possible: Option<(u32, u32)>,
) -> Reason {
    let fault = format!(
        "the services can fill at most {most} of {machines} machines: {} at most",
        amounts(problem, problem.all(), |bundle| bundle.max),
    );
    let gap = machines - most;
    let raise = problem.bundles.iter().min_by_key(|bundle| bundle.max).map_or_else(String::new, |bundle| {
        let to = bundle.max.saturating_add(gap);
        let low = bundle.services.iter().filter(|name| {
            template.constraints.services.get(*name).is_some_and(|rule| rule.quantities.max < to)
        });
        format!("raise max of {} to {to}", listed(low, "and"))
    });
    let remedy = match possible {
        Some((_, 1)) => format!("{raise}, or use 1 machine"),
        Some((least, most)) if least == most => format!("{raise}, or use {most} machines"),
        Some((_, most)) => format!("{raise}, or use at most {most} machines"),
        None => raise,
    };
    Reason::new(ReasonKind::TooManyMachines, fault, remedy)
        .helped_by(possible.map(|(_, most)| RemedyStep::Machines { count: most }))
}

/// `a on 1, b and c on 2 nodes`.
fn amounts(problem: &Problem, bundles: BundleSet, amount: impl Fn(&Bundle) -> u32) -> String {
    let each = bundles.iter().map(|index| {
        let bundle = &problem.bundles[index];
        format!("{} (on {})", listed(&bundle.services, "with"), amount(bundle))
    });
    listed(each, "and")
}
