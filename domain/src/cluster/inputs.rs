//! The values that services take, by their hashes: which services were brought up with others than they would get now.
//!
//! A host name among the values stands for its node's addresses: whoever has one is brought up again when the node gets
//! another machine.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::named::{Host, Names};
use super::order::view;
use super::outputs;
use super::state::{Cluster, Node};
use super::values::{Layer, Layered, effective};
use crate::entity::{Input, Members, OnChange, Output, Service, ServiceAction};
use crate::id::NodeId;
use crate::macros::{self, ClusterView};
use crate::plan::{Observed, Unit, UnitId, Wanted, defines};
use crate::task::TaskName;

/// How a value is named that another service gives.
pub(super) const OUTPUTS: &str = "outputs.";
/// How the list of a service's members is named: the host names of the nodes that carry it.
pub(super) const MEMBERS: &str = "members.";

/// Which step of a service takes its values: the one that writes its configuration, or else its first.
pub(super) fn taking_step(service: &Service) -> Option<TaskName> {
    let steps = [TaskName::Configure, TaskName::Install, TaskName::Initialize, TaskName::Start];
    steps.into_iter().find(|step| defines(service, *step))
}

/// Hash of the values that a unit would be brought up with now, if `step` is one that takes them: the one that writes its
/// configuration, and its start, when all it needs runs; `None` also when some are not known yet.
pub(super) fn hash_at(cluster: &Cluster, unit: &UnitId, step: TaskName) -> Option<String> {
    let service = cluster.definitions.get(unit.service.as_ref()?)?;
    if taking_step(service) != Some(step) && step != TaskName::Start {
        return None;
    }
    Reading::of(cluster).hash(service, &unit.node, Unknown::Missing)
}

/// What each unit that was brought up with other values than it would get now does once more.
pub(super) fn stale(cluster: &Cluster) -> BTreeMap<UnitId, BTreeSet<TaskName>> {
    stale_since(cluster, cluster)
}

/// The same, when of units that nobody noted the values of it is taken that they were brought up as `before` says.
pub(super) fn stale_since(before: &Cluster, cluster: &Cluster) -> BTreeMap<UnitId, BTreeSet<TaskName>> {
    let (now, earlier) = (Reading::of(cluster), Reading::of(before));
    let mut renew = BTreeMap::new();
    for (id, unit) in &cluster.units {
        let Some(service) = id.service.as_ref().and_then(|name| cluster.definitions.get(name)) else {
            continue;
        };
        let brought_up = unit.observed >= Observed::Configured && unit.wanted >= Wanted::Configured;
        if !brought_up || service.once {
            continue;
        }
        let then = || {
            let service = before.definitions.get(id.service.as_ref()?)?;
            earlier.hash(service, &id.node, Unknown::Stands)
        };
        let Some(known) = unit.inputs.clone().or_else(then) else { continue };
        if now.hash(service, &id.node, Unknown::Stands).is_some_and(|now| now != known) {
            renew.insert(id.clone(), steps(service));
        }
    }
    renew
}

/// Units that have steps to take once more although they are as they would be brought up now: what asked for these steps
/// has been taken back.
pub(super) fn settled(cluster: &Cluster) -> BTreeSet<UnitId> {
    let now = Reading::of(cluster);
    let as_wanted = |id: &UnitId, unit: &Unit| {
        let service = cluster.definitions.get(id.service.as_ref()?)?;
        let known = unit.inputs.as_ref().filter(|_| !unit.renew.is_empty())?;
        Some(now.hash(service, &id.node, Unknown::Missing)? == *known)
    };
    let units = cluster.units.iter().filter(|(id, unit)| as_wanted(id, unit) == Some(true));
    units.map(|(id, _)| id.clone()).collect()
}

/// What a service does to take up other values.
pub(super) fn steps(service: &Service) -> BTreeSet<TaskName> {
    match service.onchange {
        OnChange::Configure if defines(service, TaskName::Configure) => BTreeSet::from([TaskName::Configure]),
        OnChange::Reload => BTreeSet::from([TaskName::Configure, TaskName::Start]),
        OnChange::Configure | OnChange::Restart => {
            BTreeSet::from([TaskName::Configure, TaskName::Stop, TaskName::Start])
        }
    }
}

/// What becomes of an address that is not known yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// It stands for itself: it is another one than any that is known.
    Stands,
    /// Without it nothing can be said.
    Missing,
}

/// A cluster as its services read it.
struct Reading<'a> {
    cluster: &'a Cluster,
    view: ClusterView<'a>,
    /// Put together when the first text is looked at.
    names: OnceCell<Names<'a>>,
}

impl<'a> Reading<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        Self { cluster, view: view(cluster), names: OnceCell::new() }
    }

    /// Of everything a service is brought up with on a node: its values, the addresses behind them, and the fields of its
    /// actions that bring it up.
    fn hash(&self, service: &Service, node: &NodeId, unknown: Unknown) -> Option<String> {
        let values = match &service.inputs {
            // Who takes the whole configuration takes its members beside it.
            None => {
                let config = effective(self.cluster, self.cluster.nodes.get(node), Some(service));
                let mut values = macros::expand_map(&config, &self.view, Some(node)).ok()?;
                values.extend(members_of_all(self.cluster, service));
                values
            }
            Some(_) => values(self.cluster, &self.view, service, node)?,
        };
        let mut fields = BTreeMap::new();
        for action in [
            ServiceAction::Install,
            ServiceAction::Configure,
            ServiceAction::Initialize,
            ServiceAction::Start,
        ] {
            for (key, text) in service.provisioner.actions.get(&action).iter().flat_map(|spec| &spec.fields) {
                let expanded = macros::expand(text, &self.view, Some(node)).unwrap_or_else(|_| text.clone());
                fields.insert(format!("{action:?}.{key}"), expanded);
            }
        }
        let values = sorted(&Value::Object(values));
        let addresses = self.addresses(&values, fields.values());
        let values = serde_json::to_string(&(values, fields)).ok()?;
        if unknown == Unknown::Missing && addresses.values().any(Option::is_none) {
            return None;
        }
        let digest = Sha256::digest(serde_json::to_vec(&(values, addresses)).ok()?);
        Some(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    /// The addresses of the nodes that a value or one of the texts names; `None` for those whose machines are not there yet.
    fn addresses<'t>(
        &self,
        value: &'t Value,
        texts: impl Iterator<Item = &'t String>,
    ) -> BTreeMap<&'a str, Option<&'a BTreeMap<String, String>>> {
        let mut texts = texts.peekable();
        if value.as_object().is_some_and(Map::is_empty) && texts.peek().is_none() {
            return BTreeMap::new();
        }
        let names = self.names.get_or_init(|| Names::of(self.cluster));
        let mut named = names.in_value(value);
        named.extend(texts.flat_map(|text| names.in_text(text)));
        let of_host = |(name, host): (&'a str, Host<'a>)| {
            let is_there = match host.own {
                Some(id) => is_there(self.cluster, id),
                None => !host.properties.ipaddresses.is_empty(),
            };
            (name, is_there.then_some(&host.properties.ipaddresses))
        };
        named.into_iter().map(of_host).collect()
    }
}

/// Whether a node's machine is there, with its addresses.
fn is_there(cluster: &Cluster, node: &NodeId) -> bool {
    let machine = cluster.units.get(&UnitId::machine(node.clone()));
    machine.is_some_and(|machine| machine.observed >= Observed::Confirmed)
}

/// The same value with the keys of its objects in order, so that the same values give the same text.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let ordered: BTreeMap<&String, &Value> = entries.iter().collect();
            Value::Object(ordered.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        plain => plain.clone(),
    }
}

/// The values a service takes beside the configuration, by the names it gives them: those that it declares, and for each
/// service that it requires with all its members the list of these. Nothing while one is not known yet.
pub(super) fn values(
    cluster: &Cluster,
    view: &ClusterView<'_>,
    service: &Service,
    node: &NodeId,
) -> Option<Map<String, Value>> {
    let mut values = members_of_all(cluster, service);
    let config = effective(cluster, cluster.nodes.get(node), Some(service));
    for input in service.inputs.iter().flatten() {
        let place = input.place();
        let value = match (place.strip_prefix(OUTPUTS), place.strip_prefix(MEMBERS)) {
            (Some(output), _) => given(cluster, output),
            (None, Some(service)) => members_of(cluster, service),
            (None, None) => {
                let found = in_config(&config, input.place()).cloned().unwrap_or(Value::Null);
                macros::expand_tree(&found, view, Some(node)).ok()?
            }
        };
        values.insert(input.name.clone(), value);
    }
    Some(values)
}

/// What the services of a node take from others, by its place: `outputs`, the service and the name. Secrets are masked.
#[must_use]
pub fn taken_outputs(cluster: &Cluster, node: &Node) -> Vec<Layered> {
    let services = node.properties.services.iter().filter_map(|name| cluster.definitions.get(name));
    let places: BTreeSet<&str> =
        services.flat_map(|service| service.inputs.iter().flatten()).map(Input::place).collect();
    let named = places.into_iter().filter_map(|place| place.strip_prefix(OUTPUTS));
    let taken = named.filter_map(|output| {
        let (service, name) = output.split_once('.')?;
        let place = ["outputs", service, name].map(str::to_owned).to_vec();
        let mut value = given(cluster, output);
        outputs::mask_tokens(&mut value);
        Some(Layered { place, value, layer: Layer::Output, service: Some(service.to_owned()) })
    });
    taken.collect()
}

/// A place in the configuration: keys with dots between them, the longest key first where keys hold dots themselves.
pub(super) fn in_config<'a>(config: &'a Map<String, Value>, place: &str) -> Option<&'a Value> {
    if let Some(value) = config.get(place) {
        return Some(value);
    }
    let ends = place.char_indices().filter(|(_, c)| *c == '.').map(|(at, _)| at);
    ends.rev().find_map(|at| in_config(config.get(&place[..at])?.as_object()?, &place[at + 1..]))
}

/// The lists of members that a service is given because it requires all of them, by `members.` and what it requires.
fn members_of_all(cluster: &Cluster, service: &Service) -> Map<String, Value> {
    let needs = &service.dependencies;
    let required = needs.install.requires.each().chain(needs.runtime.requires.each());
    let all = required.filter(|required| required.members == Members::All);
    all.map(|required| {
        let answering = cluster.definitions.values().filter(|other| other.satisfies(&required.name));
        let answering: BTreeSet<&str> = answering.map(Service::name).collect();
        let ancestor = cluster.kin.origins.satisfying(&required.name).filter(|_| answering.is_empty());
        let members = match ancestor {
            Some(ancestor) => ancestor.members(&ancestor.answering(&required.name)),
            None => members(cluster, &answering),
        };
        (format!("{MEMBERS}{}", required.name), members)
    })
    .collect()
}

/// Host names of the nodes that carry a service: the cluster's own, or else those of the nearest ancestor that has it.
fn members_of(cluster: &Cluster, service: &str) -> Value {
    let services = BTreeSet::from([service]);
    match cluster.ancestor_with(service) {
        Some(ancestor) => ancestor.members(&services),
        None => members(cluster, &services),
    }
}

/// Host names of the nodes that carry one of these services and stay, by number.
fn members(cluster: &Cluster, services: &BTreeSet<&str>) -> Value {
    let carrying = cluster.nodes_by_number().into_iter().filter(|node| {
        services.iter().any(|service| node.properties.services.contains(*service))
            && !cluster.is_leaving(&node.id)
    });
    carrying.map(host).collect()
}

/// The nodes that carry a service and stay, by number.
fn carrying<'a>(cluster: &'a Cluster, service: &'a str) -> impl Iterator<Item = &'a Node> {
    let nodes = cluster.nodes_by_number().into_iter();
    nodes.filter(move |node| node.properties.services.contains(service) && !cluster.is_leaving(&node.id))
}

fn host(node: &Node) -> String {
    node.properties.hostname.clone().unwrap_or_else(|| node.id.to_string())
}

/// What the units of a service give under a name: by host name of their nodes, those that stay. Of a service that the cluster
/// does not have it is what the nearest ancestor with it published.
fn given(cluster: &Cluster, output: &str) -> Value {
    let Some((service, name)) = output.split_once('.') else { return Value::Null };
    if let Some(ancestor) = cluster.ancestor_with(service) {
        let published = ancestor.services.get(service).and_then(|offered| offered.outputs.get(name));
        return published.cloned().map_or(Value::Null, Value::Object);
    }
    let declared = cluster.definitions.get(service);
    match declared.and_then(|it| it.outputs.iter().find(|output| output.name == name)) {
        Some(output) => Value::Object(given_by_hosts(cluster, service, output)),
        None => Value::Null,
    }
}

/// What the tasks of a service reported as an output, or else its default, by host name of the nodes that stay.
pub(super) fn given_by_hosts(cluster: &Cluster, service: &str, output: &Output) -> Map<String, Value> {
    let value = |node: &Node| node.results.get(output.reported()).or(output.default.as_ref()).cloned();
    let given = |node: &Node| Some((host(node), value(node)?));
    carrying(cluster, service).filter_map(given).collect()
}
