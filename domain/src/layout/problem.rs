//! A layout question in the form the search works on: bundles of services that only go together.
//!
//! Rules of `mustcoexist` that overlap act together, so the services they tie form one *bundle*: a node carries all of
//! it or none, and all its services are on equally many nodes. What remains to be decided is which bundles share a
//! node. Leaving bundles out never makes a node invalid, which the search relies on.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::admission::UsableTypes;
use super::bundle_set::{BundleSet, MAX_BUNDLES};
use super::node_group::NodeLayout;
use super::reason::{Reason, ReasonKind, listed};
use crate::entity::{Constraints, ServiceConstraint};

/// Services that only go together, and on how many nodes.
#[derive(Debug, Clone)]
pub(super) struct Bundle {
    /// In alphabetical order.
    pub services: Vec<String>,
    /// The largest minimum of its services. At least 1, but for parts of a problem: whoever asks for a service gets it.
    /// (Coopr takes an absent minimum as 0 and may leave a requested service out without a word.)
    pub min: u32,
    /// The smallest maximum of its services.
    pub max: u32,
}

/// Which bundles there are and which of them may share a node.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    /// In the order of their first services.
    pub bundles: Vec<Bundle>,
    /// Services no rule mentions: every node carries them.
    pub everywhere: BTreeSet<String>,
    /// Per usable hardware type, in alphabetical order: the bundles that may be on it.
    pub hardware: Vec<(String, BundleSet)>,
    /// The same for image types.
    pub images: Vec<(String, BundleSet)>,
    /// No node carries all of one of these.
    exclusions: Vec<BundleSet>,
    /// Per bundle: the others that can never be on a node with it.
    pub rivals: Vec<BundleSet>,
    /// Per bundle: the exclusions of three and more bundles it is in; those of two are among the rivals.
    larger_exclusions: Vec<Vec<BundleSet>>,
    /// Bundles that influence each other, so that other groups can be placed without looking at them.
    pub components: Vec<BundleSet>,
}

impl Problem {
    /// # Errors
    /// A reason for every bundle that no node could carry.
    pub(super) fn new(
        constraints: &Constraints,
        services: &BTreeSet<String>,
        types: &UsableTypes,
    ) -> Result<Self, Vec<Reason>> {
        let problem = Self::unchecked(constraints, services, types).map_err(|reason| vec![reason])?;
        let impossible = problem.impossible();
        if impossible.is_empty() { Ok(problem) } else { Err(impossible) }
    }

    /// A problem that may have bundles no node could carry.
    pub(super) fn unchecked(
        constraints: &Constraints,
        services: &BTreeSet<String>,
        types: &UsableTypes,
    ) -> Result<Self, Reason> {
        let (constrained, everywhere) = partition(constraints, services);
        let bundles = bundles(constraints, &constrained);
        if bundles.len() > MAX_BUNDLES {
            return Err(too_many_bundles(bundles.len()));
        }
        let accepting = |names: &[String], list: fn(&ServiceConstraint) -> &BTreeSet<String>| {
            let accepts = |bundle: &Bundle, name: &String| {
                bundle.services.iter().filter_map(|service| constraints.services.get(service)).all(|rule| {
                    let allowed = list(rule);
                    allowed.is_empty() || allowed.contains(name)
                })
            };
            let bundles_on =
                |name: &String| (0..bundles.len()).filter(|&b| accepts(&bundles[b], name)).collect();
            names.iter().map(|name| (name.clone(), bundles_on(name))).collect::<Vec<_>>()
        };
        let hardware = accepting(&types.hardware, |rule| &rule.hardwaretypes);
        let images = accepting(&types.images, |rule| &rule.imagetypes);
        let exclusions = exclusions(constraints, &bundles);
        let mut problem = Self {
            bundles,
            everywhere,
            hardware,
            images,
            exclusions,
            rivals: Vec::new(),
            larger_exclusions: Vec::new(),
            components: Vec::new(),
        };
        problem.rivals = problem.all_rivals();
        problem.larger_exclusions = problem.all_larger_exclusions();
        problem.components = problem.all_components();
        Ok(problem)
    }

    /// Whether a node may carry exactly these bundles (and the services that are everywhere).
    pub(super) fn can_share(&self, bundles: BundleSet) -> bool {
        let on_one_of = |types: &[(String, BundleSet)]| types.iter().any(|(_, on)| bundles.is_subset(*on));
        self.may_share(bundles) && on_one_of(&self.hardware) && on_one_of(&self.images)
    }

    /// Whether `bundle` may join bundles that share a node.
    pub(super) fn can_join(&self, inside: BundleSet, bundle: usize) -> bool {
        let together = inside.with(bundle);
        let on_one_of = |types: &[(String, BundleSet)]| types.iter().any(|(_, on)| together.is_subset(*on));
        (inside & self.rivals[bundle]).is_empty()
            && !self.larger_exclusions[bundle].iter().any(|all| all.is_subset(together))
            && on_one_of(&self.hardware)
            && on_one_of(&self.images)
    }

    /// Of `open`, those that may still join `inside` once `bundle` is in it too, as far as `cantcoexist` goes.
    pub(super) fn still_open(&self, inside: BundleSet, open: BundleSet, bundle: usize) -> BundleSet {
        let inside = inside.with(bundle);
        let mut open = open.without(bundle) - self.rivals[bundle];
        for all in &self.larger_exclusions[bundle] {
            let absent = *all - inside;
            if absent.len() == 1 {
                open = open - absent;
            }
        }
        open
    }

    /// The services of these bundles and those that are everywhere, on the given types.
    pub(super) fn node(&self, bundles: BundleSet, hardware: usize, image: usize) -> NodeLayout {
        let named = bundles.iter().flat_map(|bundle| self.bundles[bundle].services.iter());
        NodeLayout {
            services: named.chain(&self.everywhere).cloned().collect(),
            hardwaretype: self.hardware[hardware].0.clone(),
            imagetype: self.images[image].0.clone(),
        }
    }

    /// The part of it that is on nodes of these two types, each bundle on at least as many as it `needs` and at most as many
    /// as it has `room`.
    pub(super) fn on(&self, hardware: usize, image: usize, needs: &[u32], room: &[u32]) -> Self {
        let mut part = self.clone();
        part.hardware = vec![self.hardware[hardware].clone()];
        part.images = vec![self.images[image].clone()];
        for (bundle, (min, max)) in part.bundles.iter_mut().zip(needs.iter().zip(room)) {
            (bundle.min, bundle.max) = (*min, *max);
        }
        part.rivals = part.all_rivals();
        part.components = part.all_components();
        part
    }

    /// Bundles of these that exclusions tie together, each with all it is tied to; one that is not tied is alone.
    pub(super) fn components_within(&self, open: BundleSet) -> Vec<BundleSet> {
        let alone = open.iter().map(|bundle| BundleSet::EMPTY.with(bundle));
        let ties = self.exclusions.iter().copied().filter(|all| all.is_subset(open));
        tied(alone.chain(ties))
    }

    /// All sets of these bundles that may share a node as far as exclusions go and to which none can be added; `None` when there
    /// are more than `most`.
    pub(super) fn largest_sets(&self, component: BundleSet, most: usize) -> Option<Vec<BundleSet>> {
        let mut found = Vec::new();
        let mut waiting = vec![(BundleSet::EMPTY, component)];
        let mut looked_at = 0;
        while let Some((inside, open)) = waiting.pop() {
            looked_at += 1;
            if found.len() > most || looked_at > most * 20 {
                return None;
            }
            let Some(bundle) = open.lowest() else {
                let is_shut = |other: usize| !self.may_share(inside.with(other));
                if (component - inside).iter().all(is_shut) {
                    found.push(inside);
                }
                continue;
            };
            waiting.push((inside.with(bundle), self.still_open(inside, open, bundle)));
            // Without it, only if something keeps it out later.
            if !(self.rivals[bundle] & open).is_empty() || !self.larger_exclusions[bundle].is_empty() {
                waiting.push((inside, open.without(bundle)));
            }
        }
        Some(found)
    }

    fn may_share(&self, bundles: BundleSet) -> bool {
        !self.exclusions.iter().any(|all| all.is_subset(bundles))
    }

    /// How many services with rules bundles have together.
    pub(super) fn load(&self, bundles: BundleSet) -> usize {
        bundles.iter().map(|bundle| self.size(bundle)).sum()
    }

    /// Number of services in a bundle.
    pub(super) fn size(&self, bundle: usize) -> usize {
        self.bundles[bundle].services.len()
    }

    /// All bundles.
    pub(super) fn all(&self) -> BundleSet {
        BundleSet::first(self.bundles.len())
    }

    fn impossible(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (index, bundle) in self.bundles.iter().enumerate() {
            let names = listed(&bundle.services, "and");
            let one = BundleSet::EMPTY.with(index);
            if self.exclusions.contains(&one) {
                reasons.push(Reason::new(
                    ReasonKind::CantCoexist,
                    format!("a cantcoexist rule of the template keeps {names} off every node"),
                    "change that rule, or the mustcoexist rule that ties these services together",
                ));
            }
            for (kind, noun, field, types) in [
                (ReasonKind::HardwareType, "hardware type", "hardwaretypes", &self.hardware),
                (ReasonKind::ImageType, "image type", "imagetypes", &self.images),
            ] {
                if !types.iter().any(|(_, on)| on.contains(index)) {
                    let usable = listed(types.iter().map(|(name, _)| name), "and");
                    reasons.push(Reason::new(
                        kind,
                        format!("no {noun} suits {names}; usable here: {usable}"),
                        format!(
                            "ask for another {noun}, or allow one of these in constraints.services.*.{field}"
                        ),
                    ));
                }
            }
        }
        reasons
    }

    /// Those that an exclusion of two keeps apart, those that no type suits together, and for a bundle that can be on no node
    /// all others.
    fn all_rivals(&self) -> Vec<BundleSet> {
        let mut rivals = vec![BundleSet::EMPTY; self.bundles.len()];
        let mut nowhere = BundleSet::EMPTY;
        for excluded in &self.exclusions {
            match excluded.len() {
                1 => nowhere = nowhere | *excluded,
                2 => excluded.iter().for_each(|bundle| rivals[bundle] = rivals[bundle] | *excluded),
                _ => {}
            }
        }
        let suiting = |bundle: usize, types: &[(String, BundleSet)]| {
            let of_type = types.iter().map(|(_, on)| *on).filter(|on| on.contains(bundle));
            of_type.fold(BundleSet::EMPTY, |all, on| all | on)
        };
        for (bundle, rivals) in rivals.iter_mut().enumerate() {
            let suited = suiting(bundle, &self.hardware) & suiting(bundle, &self.images);
            *rivals = *rivals | nowhere | (self.all() - suited);
            if nowhere.contains(bundle) {
                *rivals = self.all();
            }
            *rivals = rivals.without(bundle);
        }
        rivals
    }

    fn all_larger_exclusions(&self) -> Vec<Vec<BundleSet>> {
        let larger = |bundle: usize| {
            self.exclusions.iter().copied().filter(|all| all.len() > 2 && all.contains(bundle)).collect()
        };
        (0..self.bundles.len()).map(larger).collect()
    }

    /// Bundles are tied by an exclusion, and all that are choosy about hardware (or about images) are tied together.
    fn all_components(&self) -> Vec<BundleSet> {
        let choosy = |types: &[(String, BundleSet)]| {
            types.iter().fold(BundleSet::EMPTY, |set, (_, on)| set | (self.all() - *on))
        };
        let ties = self.exclusions.iter().copied().chain([choosy(&self.hardware), choosy(&self.images)]);
        tied(ties.filter(|tie| !tie.is_empty()))
    }
}

/// Bundles that are tied together, directly or through others.
fn tied(ties: impl Iterator<Item = BundleSet>) -> Vec<BundleSet> {
    let mut components: Vec<BundleSet> = Vec::new();
    for tie in ties {
        let (touched, rest): (Vec<_>, Vec<_>) =
            components.into_iter().partition(|set| !(*set & tie).is_empty());
        components = rest;
        components.push(touched.into_iter().fold(tie, |all, set| all | set));
    }
    components
}

/// The services some rule mentions (even a rule whose other services are not there), and the others.
fn partition(constraints: &Constraints, services: &BTreeSet<String>) -> (BTreeSet<String>, BTreeSet<String>) {
    let rules = &constraints.layout;
    let in_rules = rules.mustcoexist.iter().chain(&rules.cantcoexist).flatten();
    let ruled: HashSet<&String> = in_rules.chain(constraints.services.keys()).collect();
    services.iter().cloned().partition(|name| ruled.contains(name))
}

fn bundles(constraints: &Constraints, constrained: &BTreeSet<String>) -> Vec<Bundle> {
    let mut groups: Vec<BTreeSet<String>> =
        constrained.iter().map(|name| BTreeSet::from([name.clone()])).collect();
    for rule in &constraints.layout.mustcoexist {
        let (touched, rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| !group.is_disjoint(rule));
        groups = rest;
        let together: BTreeSet<String> = touched.into_iter().flatten().collect();
        if !together.is_empty() {
            groups.push(together);
        }
    }
    groups.sort_unstable();
    groups.into_iter().map(|group| bundle(constraints, group)).collect()
}

fn bundle(constraints: &Constraints, services: BTreeSet<String>) -> Bundle {
    let rules = services.iter().filter_map(|name| constraints.services.get(name));
    let (min, max) = rules
        .map(|rule| (rule.quantities.min, rule.quantities.max))
        .fold((1, u32::MAX), |(min, max), (low, high)| (min.max(low), max.min(high)));
    Bundle { services: services.into_iter().collect(), min, max }
}

/// `cantcoexist` in terms of bundles. A rule that names an absent service forbids nothing, nor does an empty one.
fn exclusions(constraints: &Constraints, bundles: &[Bundle]) -> Vec<BundleSet> {
    // Every service that is there and that a rule names is in a bundle.
    let home: HashMap<&String, usize> = bundles
        .iter()
        .enumerate()
        .flat_map(|(index, bundle)| bundle.services.iter().map(move |name| (name, index)))
        .collect();
    let rules = constraints.layout.cantcoexist.iter().filter(|rule| !rule.is_empty());
    rules.filter_map(|rule| rule.iter().map(|name| home.get(name).copied()).collect()).collect()
}

fn too_many_bundles(count: usize) -> Reason {
    Reason::new(
        ReasonKind::SearchLimit,
        format!("{count} services or groups of services have rules of their own; at most {MAX_BUNDLES} can"),
        "drop rules that do nothing from the template, or tie services together with mustcoexist",
    )
}
