//! Services that wait for each other in a circle: none of them could ever come first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::entity::{PhaseDependencies, Service};

/// When a dependency counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// While services are installed.
    Install,
    /// While services are initialized, started and stopped.
    Runtime,
}

impl Phase {
    /// Both phases.
    pub const ALL: [Self; 2] = [Self::Install, Self::Runtime];

    /// What `service` waits for in this phase.
    #[must_use]
    pub fn dependencies(self, service: &Service) -> &PhaseDependencies {
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

/// Services that wait for each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{phase} dependencies run in a circle: {}", circle(services))]
pub struct DependencyCycle {
    /// In which phase.
    pub phase: Phase,
    /// Each waits for the next one, the last for the first; starts with the alphabetically first.
    pub services: Vec<String>,
}

fn circle(services: &[String]) -> String {
    let back = services.first().map_or("", String::as_str);
    services.iter().map(String::as_str).chain([back]).collect::<Vec<_>>().join(" → ")
}

/// The circles among `services`: per phase, a shortest one through each service that is in no circle listed before.
///
/// Both `requires` and `uses` make a service wait. A name stands for the service called so and for every other service
/// that provides it; names that nothing here satisfies make nobody wait.
pub fn dependency_cycles<'a>(services: impl IntoIterator<Item = &'a Service>) -> Vec<DependencyCycle> {
    let services: Vec<&Service> = services.into_iter().collect();
    let mut cycles = Vec::new();
    for phase in Phase::ALL {
        let edges = edges(&services, phase);
        let mut covered: BTreeSet<&str> = BTreeSet::new();
        for &start in edges.keys() {
            if covered.contains(start) {
                continue;
            }
            if let Some(path) = shortest_circle(&edges, start) {
                covered.extend(&path);
                cycles.push(DependencyCycle { phase, services: from_first(&path) });
            }
        }
    }
    cycles
}

type Edges<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn edges<'a>(services: &[&'a Service], phase: Phase) -> Edges<'a> {
    let mut satisfying: Edges<'a> = BTreeMap::new();
    for service in services {
        for name in service.dependencies.provides.iter().chain([&service.base.name]) {
            satisfying.entry(name).or_default().insert(service.name());
        }
    }
    let waits_for = |service: &'a Service| {
        let wanted = phase.dependencies(service).all();
        let found = wanted.filter_map(|name| satisfying.get(name.as_str())).flatten().copied();
        found.filter(|&other| other != service.name()).collect()
    };
    services.iter().map(|&service| (service.name(), waits_for(service))).collect()
}

/// The first shortest way from `start` back to itself.
fn shortest_circle<'a>(edges: &Edges<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(at) = waiting.pop_front() {
        for &next in edges.get(at).into_iter().flatten() {
            if next == start {
                let mut path = vec![at];
                while let Some(&before) = path.last().and_then(|name| came_from.get(name)) {
                    path.push(before);
                }
                path.reverse();
                return Some(path);
            }
            if !came_from.contains_key(next) {
                came_from.insert(next, at);
                waiting.push_back(next);
            }
        }
    }
    None
}

/// The circle turned so that it starts with its alphabetically first service.
fn from_first(path: &[&str]) -> Vec<String> {
    let first = path.iter().enumerate().min_by_key(|(_, name)| **name).map_or(0, |(index, _)| index);
    path[first..].iter().chain(&path[..first]).map(|&name| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(name: &str, provides: &[&str], runtime_requires: &[&str], runtime_uses: &[&str]) -> Service {
        let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        let mut service = Service::default();
        service.base.name = name.to_owned();
        service.dependencies.provides = names(provides);
        service.dependencies.runtime.requires = names(runtime_requires).into();
        service.dependencies.runtime.uses = names(runtime_uses);
        service
    }

    fn texts(services: &[Service]) -> Vec<String> {
        dependency_cycles(services).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_chain_is_no_circle() {
        let services =
            [service("a", &[], &["b"], &[]), service("b", &[], &["c"], &[]), service("c", &[], &[], &["x"])];
        assert!(texts(&services).is_empty());
    }

    #[test]
    fn requires_and_uses_close_a_circle_which_is_named() {
        let services = [
            service("c", &[], &["a"], &[]),
            service("a", &[], &[], &["b"]),
            service("b", &[], &["c"], &[]),
            service("outside", &[], &["a"], &[]),
        ];
        assert_eq!(texts(&services), ["runtime dependencies run in a circle: a → b → c → a"]);
    }

    #[test]
    fn a_provided_name_closes_a_circle_but_not_with_its_own_provider() {
        let services = [service("app", &[], &["sql"], &[]), service("pg", &["sql"], &[], &["app", "sql"])];
        assert_eq!(texts(&services), ["runtime dependencies run in a circle: app → pg → app"]);
    }

    #[test]
    fn circles_of_both_phases_and_apart_from_each_other_are_all_found() {
        let mut services = vec![
            service("a", &[], &["b"], &[]),
            service("b", &[], &["a"], &[]),
            service("y", &[], &["z"], &[]),
            service("z", &[], &["y"], &[]),
        ];
        services[0].dependencies.install.requires.insert("y".to_owned());
        services[2].dependencies.install.uses.insert("a".to_owned());
        assert_eq!(
            texts(&services),
            [
                "install dependencies run in a circle: a → y → a",
                "runtime dependencies run in a circle: a → b → a",
                "runtime dependencies run in a circle: y → z → y",
            ]
        );
    }
}
