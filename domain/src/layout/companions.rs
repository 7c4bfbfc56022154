//! Services that others require on the same machine: they go wherever those go.
//!
//! They are no part of the question that the search answers. Before it, each is taken out and its rules become rules of
//! its *hosts*, the services that need it; afterwards it is put on every node with one of them.

use std::collections::{BTreeMap, BTreeSet};

use super::node_group::{NodeGroup, nodes_with};
use super::reason::{Reason, ReasonKind, counted, listed};
use crate::dependency_cycle::Phase;
use crate::entity::{Constraints, Requirement, Scope, Service};

/// Which services go with which.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Companions {
    /// The services of a cluster that are placed for themselves.
    pub hosts: BTreeSet<String>,
    /// By host: all that goes with it, to any depth. Hosts that go alone are left out.
    of: BTreeMap<String, BTreeSet<String>>,
}

/// The services of a cluster for which `services` are asked: these, and all that they require on the same machine. Where
/// it cannot be said who that is, `services` alone; looking for a layout tells why.
#[must_use]
pub fn with_companions(known: &[Service], services: &BTreeSet<String>) -> BTreeSet<String> {
    Companions::find(known, services).map_or_else(|_| services.clone(), |companions| companions.all())
}

/// What nodes with these services lack: what one of them requires on the same machine and is not there.
pub fn lacking<'a>(
    definitions: &'a BTreeMap<String, Service>,
    carried: &BTreeSet<String>,
) -> BTreeSet<(&'a str, &'a str)> {
    let here = || carried.iter().filter_map(|name| definitions.get(name));
    let lacks = |service: &'a Service| {
        let required = on_same_machine(service).filter(|name| !here().any(|other| other.satisfies(name)));
        required.map(|name| (service.name(), name)).collect::<Vec<_>>()
    };
    here().flat_map(lacks).collect()
}

/// What a service requires on its own machine, but for what it provides itself.
fn on_same_machine(service: &Service) -> impl Iterator<Item = &str> {
    let needs = Phase::ALL.into_iter().flat_map(|phase| phase.dependencies(service).requires.each());
    let near = needs.filter(|one: &&Requirement| one.scope == Scope::Node);
    near.map(|one| one.name.as_str()).filter(|name| !service.satisfies(name))
}

/// Whether `other` requires `service` on the same machine.
#[must_use]
pub fn requires_beside(other: &Service, service: &str) -> bool {
    on_same_machine(other).any(|name| name == service)
}

impl Companions {
    /// Those of a cluster with `services`. One that is required and not among them joins them.
    ///
    /// # Errors
    /// For every requirement that several services could meet: that one has to be named.
    pub(super) fn find(known: &[Service], services: &BTreeSet<String>) -> Result<Self, Vec<Reason>> {
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut open: Vec<String> = services.iter().cloned().collect();
        let mut doubtful = BTreeMap::new();
        while let Some(name) = open.pop() {
            if needs.contains_key(&name) {
                continue;
            }
            let mut needed = BTreeSet::new();
            let service = known.iter().find(|service| service.name() == name);
            for required in service.into_iter().flat_map(on_same_machine) {
                match chosen(known, services, required) {
                    Ok(companion) => needed.extend(companion.map(str::to_owned)),
                    Err(candidates) => {
                        doubtful.insert((name.clone(), required), candidates);
                    }
                }
            }
            open.extend(needed.iter().cloned());
            needs.insert(name, needed);
        }
        if !doubtful.is_empty() {
            return Err(doubtful
                .into_iter()
                .map(|((name, required), of)| doubt(&name, required, &of))
                .collect());
        }
        Ok(Self::of_needs(&needs))
    }

    /// From each service's direct needs. Of services that need each other on one machine the first in the alphabet is
    /// the host.
    fn of_needs(needs: &BTreeMap<String, BTreeSet<String>>) -> Self {
        let reach = |name: &String| {
            let mut reached = BTreeSet::new();
            let mut open: Vec<&String> = needs[name].iter().collect();
            while let Some(next) = open.pop() {
                if next != name && reached.insert(next.clone()) {
                    open.extend(&needs[next]);
                }
            }
            reached
        };
        let reached: BTreeMap<&String, BTreeSet<String>> =
            needs.keys().map(|name| (name, reach(name))).collect();
        let is_host = |name: &String| {
            needs.keys().filter(|other| reached[other].contains(name)).all(|other| {
                // Whoever needs it is needed by it too, and comes later in the alphabet.
                reached[name].contains(other) && name < other
            })
        };
        let hosts: BTreeSet<String> = needs.keys().filter(|name| is_host(name)).cloned().collect();
        let of = hosts.iter().map(|host| (host.clone(), reached[host].clone()));
        let of = of.filter(|(_, companions)| !companions.is_empty()).collect();
        Self { hosts, of }
    }

    /// Whether every service goes for itself.
    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// All services: hosts, and those that go with them.
    pub(super) fn all(&self) -> BTreeSet<String> {
        self.hosts.iter().chain(self.of.values().flatten()).cloned().collect()
    }

    /// What goes with a service.
    pub(super) fn of(&self, host: &str) -> impl Iterator<Item = &String> {
        self.of.get(host).into_iter().flatten()
    }

    /// A service with all that goes with it.
    pub(super) fn bunch(&self, host: &str) -> BTreeSet<String> {
        self.of(host).cloned().chain([host.to_owned()]).collect()
    }

    /// The services with which one goes; none if it goes for itself.
    pub(super) fn hosts_of(&self, companion: &str) -> BTreeSet<&String> {
        self.of.iter().filter(|(_, of)| of.contains(companion)).map(|(host, _)| host).collect()
    }

    /// Those that go with others.
    pub(super) fn each(&self) -> BTreeSet<&String> {
        self.of.values().flatten().collect()
    }

    /// Puts on a node what goes with what it carries.
    pub(super) fn join(&self, services: &mut BTreeSet<String>) {
        let joining: Vec<String> = services.iter().flat_map(|host| self.of(host)).cloned().collect();
        services.extend(joining);
    }

    /// How many more nodes are to carry each host, by what was asked for: one that goes with others stands for them.
    ///
    /// # Errors
    /// One that goes with several was asked for, or with a host of which another number was.
    pub(super) fn asked(
        &self,
        services: &BTreeMap<String, u32>,
    ) -> Result<BTreeMap<String, u32>, Vec<Reason>> {
        let mut asked = BTreeMap::new();
        let mut reasons = Vec::new();
        for (name, &more) in services {
            let hosts = self.hosts_of(name);
            let host = *hosts.first().unwrap_or(&name);
            if hosts.len() > 1 {
                let fault = format!("{name} goes with each of {}", listed(&hosts, "and"));
                let remedy = format!("say on how many more nodes {} are to be", listed(&hosts, "and"));
                reasons.push(Reason::new(ReasonKind::NoPlace, fault, remedy));
            } else if services.get(host).is_some_and(|other| *other != more) {
                let fault =
                    format!("{name} goes with {host}, but each was asked for on another number of nodes");
                let remedy = format!("ask for the same number of both, or name only {host}");
                reasons.push(Reason::new(ReasonKind::MustCoexist, fault, remedy));
            } else {
                asked.insert(host.clone(), more);
            }
        }
        if reasons.is_empty() { Ok(asked) } else { Err(reasons) }
    }

    /// Every companion that is on too few or too many of these nodes: its hosts were placed without regard to that, where
    /// there are several.
    pub(super) fn check_quantities(&self, constraints: &Constraints, groups: &[NodeGroup]) -> Vec<Reason> {
        let limited =
            self.each().into_iter().filter_map(|name| Some((name, constraints.services.get(name)?)));
        let faults = limited.filter_map(|(name, rule)| {
            let (limits, count) = (rule.quantities, nodes_with(groups, name));
            let hosts = listed(self.hosts_of(name), "and");
            let together = format!("{name} goes with {hosts}, which are on {}", counted(count, "node"));
            if count < limits.min {
                let fault = format!("{together}, below its minimum of {}", limits.min);
                let remedy = format!("raise min of one of {hosts}, or lower min of {name} to {count}");
                return Some(Reason::new(ReasonKind::Minimum, fault, remedy));
            }
            (count > limits.max).then(|| {
                let fault = format!("{together}, above its maximum of {}", limits.max);
                let remedy = format!(
                    "let {hosts} share nodes (mustcoexist), lower max of one of them, or raise max of {name} to \
                     {count}"
                );
                Reason::new(ReasonKind::Maximum, fault, remedy)
            })
        });
        faults.collect()
    }
}

/// Who meets a requirement on the same machine: of the services asked for the one called so, or the only one that
/// provides it; if none does, of all that there are. Nobody, if there is none.
fn chosen<'a>(
    known: &'a [Service],
    services: &BTreeSet<String>,
    required: &str,
) -> Result<Option<&'a str>, Vec<&'a str>> {
    let able = || known.iter().filter(|service| service.satisfies(required)).map(Service::name);
    let asked: Vec<&str> = able().filter(|name| services.contains(*name)).collect();
    let candidates = if asked.is_empty() { able().collect() } else { asked };
    match candidates[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => candidates.iter().find(|name| **name == required).map(|name| Some(*name)).ok_or(candidates),
    }
}

fn doubt(name: &str, required: &str, candidates: &[&str]) -> Reason {
    Reason::new(
        ReasonKind::UnmetRequirement,
        format!(
            "{name} requires {required} on the same machine, which {} provide",
            listed(candidates, "and")
        ),
        format!("ask for {}, or let {name} require one by its own name", listed(candidates, "or")),
    )
}
