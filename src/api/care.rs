//! How clusters are cared for: their health, and what is left alone for maintenance.

use actix_web::{HttpResponse, web};
use cooperage_actors::health::{ClusterHealth, GetHealth};
use cooperage_domain::cluster::{CareChange, Cluster, Command, Node};
use cooperage_domain::health::{HealMode, Health, Policy, Watch};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::UnitId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::asked::Asked;
use super::body;
use super::cluster_changes::operate;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;
type Id = web::Path<String>;
type OfNode = web::Path<(String, String)>;

/// Routes of health and maintenance.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/health", |on| on.get(health).put(switch));
    routes.at("/v2/clusters/{id}/maintenance", |on| on.put(begin).delete(end));
    routes.at("/v2/clusters/{id}/nodes/{node}/maintenance", |on| on.put(begin_node).delete(end_node));
}

async fn health(state: State, identity: Identity, id: Id) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    let ask = GetHealth { cluster: cluster.id };
    let found = state.health.send(ask).await.map_err(Problem::unavailable)?.unwrap_or_default();
    let policy = cluster.health_policy(state.settings.health.settings().policy);
    Ok(HttpResponse::Ok().json(report(&cluster, &found, &policy)))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Switch {
    heal: Option<HealMode>,
}

/// What happens when machines of this cluster are down; without a word, as its template says.
async fn switch(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Switch { heal } = body::parse(&body)?;
    care(&state, identity, &id, on, CareChange::Healing { heal }).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reason {
    #[serde(deserialize_with = "cooperage_domain::lenient::null_as_default")]
    reason: String,
}

async fn begin(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Reason { reason } = body::parse_optional(&body)?;
    care(&state, identity, &id, on, CareChange::Maintenance { node: None, reason: Some(reason) }).await
}

async fn end(state: State, identity: Identity, id: Id, on: Asked) -> Answer {
    care(&state, identity, &id, on, CareChange::Maintenance { node: None, reason: None }).await
}

async fn begin_node(state: State, identity: Identity, of: OfNode, on: Asked, body: web::Bytes) -> Answer {
    let Reason { reason } = body::parse_optional(&body)?;
    let (id, node) = of.into_inner();
    let change = CareChange::Maintenance { node: Some(NodeId(node)), reason: Some(reason) };
    care(&state, identity, &id, on, change).await
}

async fn end_node(state: State, identity: Identity, of: OfNode, on: Asked) -> Answer {
    let (id, node) = of.into_inner();
    care(&state, identity, &id, on, CareChange::Maintenance { node: Some(NodeId(node)), reason: None }).await
}

async fn care(state: &State, identity: Identity, id: &str, on: Asked, change: CareChange) -> Answer {
    operate(state, identity, id, on, |by| Command::Care { changes: vec![change], by }).await
}

/// What is known of a cluster's health: from its journal, and from the probes of this process.
fn report(cluster: &Cluster, found: &ClusterHealth, policy: &Policy) -> Value {
    let nodes: Vec<Value> =
        cluster.nodes_by_number().into_iter().map(|node| of_node(cluster, node, found)).collect();
    json!({
        "id": cluster.id,
        "heal": policy.heal,
        "intervalSeconds": policy.interval / 1_000,
        "failuresBeforeDown": policy.failures_before_down,
        "successesBeforeUp": policy.successes_before_up,
        "meltdownPercent": policy.meltdown_percent,
        "healsPerHour": policy.heals_per_hour,
        "maintenance": cluster.care.maintenance,
        "alarm": found.alarm,
        "nextProbe": (found.next > 0).then_some(found.next),
        "nodes": nodes,
    })
}

fn of_node(cluster: &Cluster, node: &Node, found: &ClusterHealth) -> Value {
    let services = cluster.units.keys().filter(|unit| unit.node == node.id);
    let services: Map<String, Value> =
        services.filter_map(|unit| Some((unit.service.clone()?, of_unit(cluster, unit, found)))).collect();
    json!({
        "id": node.id,
        "hostname": node.properties.hostname,
        "nodenum": node.properties.nodenum,
        "maintenance": cluster.care.nodes.get(&node.id),
        "machine": of_unit(cluster, &UnitId::machine(node.id.clone()), found),
        "services": services,
    })
}

fn of_unit(cluster: &Cluster, unit: &UnitId, found: &ClusterHealth) -> Value {
    let remembered = || match cluster.care.health.get(unit) {
        Some(known) => Watch::known(known.health, known.since, &known.reason),
        None => Watch::default(),
    };
    // Where there is no machine any more, what was found of it last says nothing.
    let is_there = cluster.nodes.get(&unit.node).is_some_and(Node::may_have_machine);
    let watch = found.units.get(unit).cloned().filter(|_| is_there);
    let watch = watch.unwrap_or_else(|| if is_there { remembered() } else { Watch::default() });
    json!({
        "health": watch.health,
        "since": (watch.since > 0).then_some(watch.since),
        "reason": watch.reason,
        "probed": watch.probed,
        "unknown": watch.unknown,
    })
}

/// What is said of a node where all of it is told: only what is not as it should be.
pub fn notes(cluster: &Cluster, node: &NodeId) -> Map<String, Value> {
    let mut notes = Map::new();
    if let Some(maintenance) = cluster.in_maintenance(node) {
        notes.insert("maintenance".to_owned(), json!(maintenance));
    }
    let down =
        cluster.care.health.iter().filter(|(unit, known)| unit.node == *node && known.health == Health::Down);
    let down: Vec<Value> = down
        .map(|(unit, known)| json!({"service": unit.service, "since": known.since, "reason": known.reason}))
        .collect();
    if !down.is_empty() {
        notes.insert("down".to_owned(), down.into());
    }
    notes
}
