//! Which services wait for which, in one phase of their life.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::entity::{PhaseDependencies, Requirement, Scope, Service};
use crate::plan::error::PlanError;
use crate::plan::order;

/// The two phases that have dependencies of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// INSTALL and REMOVE.
    Install,
    /// INITIALIZE, START and STOP.
    Runtime,
}

/// Which way to look along dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Towards {
    /// From a service to what it depends on.
    Dependencies,
    /// From a service to what depends on it.
    Dependents,
}

/// How far one service waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// On its own node: all requirements on the way have the scope `node`.
    Node,
    /// On every node.
    Cluster,
}

/// Who depends on whom in one phase, over a set of services. A service is meant by its place in the set, sorted by name.
///
/// A service depends on everything it `requires` or `uses`. A name stands for the service called so and for all that
/// provide it; one that nobody answers to has no effect. A service that answers to a name itself waits for no other that
/// provides it, only for the one that is really called so.
///
/// What is required with the scope `node` only is waited for on the same node.
#[derive(Debug, Clone)]
pub struct Needs<'a> {
    phase: Phase,
    names: Vec<&'a str>,
    dependencies: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
    /// From each service to those of its dependencies that are waited for on the same node only.
    near: BTreeSet<(usize, usize)>,
}

impl<'a> Needs<'a> {
    /// The dependencies of one phase between `services`; of several with one name the last counts.
    pub fn new(phase: Phase, services: impl IntoIterator<Item = &'a Service>) -> Self {
        let services: BTreeMap<&str, &Service> =
            services.into_iter().map(|service| (service.name(), service)).collect();
        let names: Vec<&str> = services.keys().copied().collect();
        let answering = answering(&services);
        let mut dependents = vec![Vec::new(); names.len()];
        let mut dependencies = Vec::with_capacity(names.len());
        let mut near = BTreeSet::new();
        for (index, service) in services.values().enumerate() {
            let mut all = BTreeMap::new();
            for (name, reach) in awaited(phase.of(service)) {
                let Some(them) = answering.get(name.as_str()) else { continue };
                let real = || names.binary_search(&name.as_str()).ok().filter(|&real| real != index);
                let them: Vec<usize> = if them.contains(&index) {
                    real().into_iter().collect()
                } else {
                    them.iter().copied().collect()
                };
                for one in them {
                    let known = all.entry(one).or_insert(reach);
                    *known = (*known).max(reach);
                }
            }
            for (&one, &reach) in &all {
                dependents[one].push(index);
                if reach == Reach::Node {
                    near.insert((index, one));
                }
            }
            dependencies.push(all.into_keys().collect());
        }
        Self { phase, names, dependencies, dependents, near }
    }

    /// The names of the services, sorted.
    #[must_use]
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// The place of the service called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.binary_search(&name).ok()
    }

    /// That no service waits for itself through others.
    ///
    /// # Errors
    /// [`PlanError::Cycle`] names one circle.
    pub fn check(&self) -> Result<(), PlanError> {
        order::topological(&self.dependencies).map(drop).map_err(|circle| PlanError::Cycle {
            phase: self.phase,
            services: circle.into_iter().map(|service| self.names[service].to_owned()).collect(),
        })
    }

    /// Each service with what it directly depends on: without what follows from its other dependencies.
    #[must_use]
    pub fn direct(&self) -> Vec<(&'a str, &'a str)> {
        let mut pairs = Vec::new();
        for service in 0..self.names.len() {
            let awaited = self.nearest(service, Towards::Dependencies, |_| true);
            pairs.extend(awaited.into_iter().map(|one| (self.names[service], self.names[one])));
        }
        pairs
    }

    /// The services of `from` and everything that way, to any depth. Names that are not in the set are left out.
    #[must_use]
    pub fn closure<'n>(
        &self,
        from: impl IntoIterator<Item = &'n String>,
        towards: Towards,
    ) -> BTreeSet<&'a str> {
        let from = from.into_iter().filter_map(|name| self.find(name)).collect();
        self.reach(from, towards).into_iter().map(|service| self.names[service]).collect()
    }

    /// The services that are reached that way, to any depth, without those they are reached from, and how far: one that
    /// is reached in both ways counts for the whole cluster.
    #[must_use]
    pub fn reached(&self, from: &str, towards: Towards) -> BTreeMap<&'a str, Reach> {
        let found = self.find(from).map(|from| self.within(from, towards, |_| true)).unwrap_or_default();
        found.into_iter().map(|(service, reach)| (self.names[service], reach)).collect()
    }

    /// The nearest services that way of which `counts` is true, and how far each is waited for.
    #[must_use]
    pub fn nearest_with_reach(
        &self,
        of: usize,
        towards: Towards,
        counts: impl Fn(usize) -> bool,
    ) -> Vec<(usize, Reach)> {
        if self.near.is_empty() {
            return self.nearest(of, towards, counts).into_iter().map(|one| (one, Reach::Cluster)).collect();
        }
        let found = self.within(of, towards, |service| !counts(service));
        let found: BTreeMap<usize, Reach> =
            found.into_iter().filter(|(service, _)| counts(*service)).collect();
        // One is left out behind another that waits for it on every node, or on the node where this one is waited for.
        let behind = |one: usize, reach: Reach| {
            found.iter().filter(|(other, _)| **other != one).any(|(&other, &others)| {
                let beyond = self.within(other, towards, |_| true).get(&one).copied();
                beyond == Some(Reach::Cluster)
                    || (beyond.is_some() && (others, reach) == (Reach::Node, Reach::Node))
            })
        };
        found.iter().map(|(&one, &reach)| (one, reach)).filter(|&(one, reach)| !behind(one, reach)).collect()
    }

    /// What is reached from a service, and how far, looking on only from it and from those that are `open`.
    fn within(&self, from: usize, towards: Towards, open: impl Fn(usize) -> bool) -> BTreeMap<usize, Reach> {
        let mut reached: BTreeMap<usize, Reach> = BTreeMap::new();
        let mut waiting = vec![(from, Reach::Node)];
        while let Some((service, reach)) = waiting.pop() {
            for &next in self.next(service, towards) {
                let edge = match towards {
                    Towards::Dependencies => (service, next),
                    Towards::Dependents => (next, service),
                };
                let reach = if self.near.contains(&edge) { reach } else { Reach::Cluster };
                if next != from && reached.get(&next).is_none_or(|known| *known < reach) {
                    reached.insert(next, reach);
                    waiting.extend(open(next).then_some((next, reach)));
                }
            }
        }
        reached
    }

    /// The nearest services that way of which `counts` is true: a service of which it is not true is looked through.
    /// Those behind another one found are left out, because that one waits for them itself.
    #[must_use]
    pub fn nearest(&self, of: usize, towards: Towards, counts: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::from([of]);
        let mut open = self.next(of, towards).to_vec();
        while let Some(service) = open.pop() {
            if !seen.insert(service) {
                continue;
            }
            if counts(service) {
                found.insert(service);
            } else {
                open.extend(self.next(service, towards));
            }
        }
        let beyond = found.iter().flat_map(|&service| self.next(service, towards)).copied().collect();
        let behind = self.reach(beyond, towards);
        found.difference(&behind).copied().collect()
    }

    fn next(&self, service: usize, towards: Towards) -> &[usize] {
        match towards {
            Towards::Dependencies => &self.dependencies[service],
            Towards::Dependents => &self.dependents[service],
        }
    }

    fn reach(&self, mut open: Vec<usize>, towards: Towards) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        while let Some(service) = open.pop() {
            if reached.insert(service) {
                open.extend(self.next(service, towards));
            }
        }
        reached
    }
}

/// What a service waits for, and how far.
fn awaited(needs: &PhaseDependencies) -> impl Iterator<Item = (&String, Reach)> {
    let reach = |one: &Requirement| if one.scope == Scope::Node { Reach::Node } else { Reach::Cluster };
    let required = needs.requires.each().map(move |one| (&one.name, reach(one)));
    required.chain(needs.uses.iter().map(|name| (name, Reach::Cluster)))
}

/// For each name the places of the services that answer to it.
fn answering<'a>(services: &BTreeMap<&'a str, &'a Service>) -> BTreeMap<&'a str, BTreeSet<usize>> {
    let mut answering: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (index, (own, service)) in services.iter().enumerate() {
        for name in service.dependencies.provides.iter().map(String::as_str).chain([*own]) {
            answering.entry(name).or_default().insert(index);
        }
    }
    answering
}

impl Phase {
    fn of(self, service: &Service) -> &PhaseDependencies {
        match self {
            Self::Install => &service.dependencies.install,
            Self::Runtime => &service.dependencies.runtime,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Install => "install",
            Self::Runtime => "runtime",
        })
    }
}
