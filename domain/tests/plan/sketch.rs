//! Clusters drawn in a few words.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::entity::{self, ActionSpec, Requirement, Service, ServiceAction};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::coopr::{self, Scope};
use cooperage_domain::plan::graph::build;
use cooperage_domain::plan::{
    AwaitUnplanned, ClusterAction, Graph, Observed, PlanError, PlanInput, PlanNode, Steps, Unit, UnitId,
    Units, Wanted,
};

/// Services and the nodes that carry them.
#[derive(Debug, Clone, Default)]
pub struct Sketch {
    pub services: BTreeMap<String, Service>,
    pub nodes: Vec<PlanNode>,
}

impl Sketch {
    /// Reads lines of two forms: `NODE = SERVICE...` and `SERVICE: ACTION... | KEY NAME...`, where KEY is `install`,
    /// `runtime` (both required), the same with `-node` (on the same machine), `install-uses`, `runtime-uses` or `provides`.
    pub fn new(text: &str) -> Self {
        let mut sketch = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((node, services)) = line.split_once('=') {
                let services = services.split_whitespace().map(str::to_owned).collect();
                sketch.nodes.push(PlanNode { id: node_id(node.trim()), services });
            } else {
                let service = service(line);
                sketch.services.insert(service.name().to_owned(), service);
            }
        }
        sketch
    }

    /// The plan of an action on all nodes; `services` separated by spaces, none for all.
    pub fn coopr(&self, action: ClusterAction, services: &str) -> Result<Graph, PlanError> {
        let named: BTreeSet<String> = services.split_whitespace().map(str::to_owned).collect();
        let scope = Scope { services: (!named.is_empty()).then_some(named), nodes: None };
        coopr::plan(action, &scope, &self.nodes, &self.services)
    }

    /// The plan of steps where it is known what runs.
    pub fn graph(&self, steps: &Steps) -> Result<Graph, PlanError> {
        build(&PlanInput {
            nodes: &self.nodes,
            services: &self.services,
            steps,
            unplanned: AwaitUnplanned::Skip,
        })
    }

    /// All units, wanted and not there yet.
    pub fn units(&self) -> Units {
        let mut units = Units::new();
        for node in &self.nodes {
            units.insert(UnitId::machine(node.id.clone()), Unit::new(Wanted::Present));
            for service in &node.services {
                units.insert(UnitId::service(node.id.clone(), service), Unit::new(Wanted::Running));
            }
        }
        units
    }

    /// All units, there and running.
    pub fn running(&self) -> Units {
        let mut units = self.units();
        for (id, unit) in &mut units {
            unit.observed = if id.is_machine() { Observed::Bootstrapped } else { Observed::Started };
        }
        units
    }
}

pub fn node_id(name: &str) -> NodeId {
    NodeId(name.to_owned())
}

/// `NODE` or `NODE/SERVICE`.
pub fn unit(text: &str) -> UnitId {
    text.parse().unwrap()
}

/// The tasks of a graph as `NODE:TASK[:SERVICE]`.
pub fn names(graph: &Graph) -> Vec<String> {
    graph.tasks().iter().map(ToString::to_string).collect()
}

/// Everything each task waits for, directly or through others.
pub fn ancestors(graph: &Graph) -> Vec<BTreeSet<usize>> {
    let mut ancestors: Vec<BTreeSet<usize>> = Vec::new();
    for task in graph.tasks() {
        let mut all: BTreeSet<usize> = task.after.iter().copied().collect();
        for &awaited in &task.after {
            all.extend(&ancestors[awaited]);
        }
        ancestors.push(all);
    }
    ancestors
}

/// Whether the first task must end before the second may start; both must be in the graph.
pub fn is_before(graph: &Graph, first: &str, second: &str) -> bool {
    let names = names(graph);
    let find = |name: &str| {
        names
            .iter()
            .position(|other| other == name)
            .unwrap_or_else(|| panic!("{name} is not among {names:?}"))
    };
    ancestors(graph)[find(second)].contains(&find(first))
}

fn near(name: String) -> Requirement {
    Requirement { scope: entity::Scope::Node, ..Requirement::plain(name) }
}

fn service(line: &str) -> Service {
    let (name, rest) = line.split_once(':').unwrap();
    let mut service = Service::default();
    name.trim().clone_into(&mut service.base.name);
    let mut parts = rest.split('|');
    for action in parts.next().unwrap().split_whitespace() {
        let action: ServiceAction = serde_json::from_value(action.into()).unwrap();
        let spec = ActionSpec { automator: "shell".to_owned(), ..ActionSpec::default() };
        service.provisioner.actions.insert(action, spec);
    }
    for part in parts {
        let mut words = part.split_whitespace();
        let dependencies = &mut service.dependencies;
        let key = words.next().unwrap();
        let words = words.map(str::to_owned);
        match key {
            "install" => dependencies.install.requires.extend(words),
            "install-node" => dependencies.install.requires.extend(words.map(near)),
            "runtime-node" => dependencies.runtime.requires.extend(words.map(near)),
            "install-uses" => dependencies.install.uses.extend(words),
            "runtime" => dependencies.runtime.requires.extend(words),
            "runtime-uses" => dependencies.runtime.uses.extend(words),
            "provides" => dependencies.provides.extend(words),
            other => panic!("{other} is no key of a service"),
        }
    }
    service
}
