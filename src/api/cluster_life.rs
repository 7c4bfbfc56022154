//! Operations on a cluster that lives: each changes what is wanted of it, and queues the job that closes the difference.
//!
//! Like all changes they may be shown only, saved or drafted; see [`super::asked`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::read_at;
use cooperage_domain::cluster::{Cluster, Command, Resize, Revision, Rollout};
use cooperage_domain::entity::{ClusterTemplate, Service};
use cooperage_domain::id::NodeId;
use cooperage_domain::layout::{Growth, Shrinkage};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::asked::Asked;
use super::body;
use super::cluster_changes::{Answer, Fields, Id, State, missing, operate_with, tell};
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

/// Routes of operations on a cluster that lives.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/units", |on| on.get(units));
    routes.at("/v2/clusters/{id}/resize", |on| on.post(resize));
    routes.at("/v2/clusters/{id}/services/remove", |on| on.post(remove_services));
    routes.at("/v2/clusters/{id}/services/{service}/errands/{errand}", |on| on.post(run_errand));
    routes.at("/v2/clusters/{id}/replace", |on| on.post(replace));
    routes.at("/v2/clusters/{id}/heal", |on| on.post(heal));
    routes.at("/v2/clusters/{id}/reconfigure", |on| on.post(reconfigure));
    routes.at("/v2/clusters/{id}/upgrade", |on| on.post(upgrade));
    routes.at("/v2/clusters/{id}/rollback", |on| on.post(roll_back));
    routes.at("/v2/clusters/{id}/converge", |on| on.post(converge));
    routes.at("/v2/clusters/{id}/cancel", |on| on.post(cancel));
}

/// `GET /v2/clusters/{id}/units`: what is wanted and known of each machine and service.
async fn units(state: State, identity: Identity, id: Id) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    Ok(HttpResponse::Ok().json(cluster.unit_states(state.clock.now())))
}

/// To what a cluster is resized: one of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Size {
    /// So many machines in all.
    machines: Option<u32>,
    /// By name of a service: so many more nodes that carry it, or so many fewer.
    services: BTreeMap<String, i64>,
    /// These nodes go.
    remove: Vec<String>,
    /// The hardware type of new nodes.
    hardwaretype: Option<String>,
    /// The image type of new nodes.
    imagetype: Option<String>,
    #[serde(flatten)]
    fields: Fields,
}

impl Size {
    /// Whether machines are to be made, and how many there are to be then.
    fn resize(&self, cluster: &Cluster) -> Result<Wanted, Problem> {
        let now = u32::try_from(cluster.nodes.len()).unwrap_or(u32::MAX);
        let asked = [self.machines.is_some(), !self.services.is_empty(), !self.remove.is_empty()];
        if asked.iter().filter(|given| **given).count() != 1 {
            let detail =
                "invalid input: machines: exactly one of `machines`, `services` and `remove` says the size";
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail)
                .at("machines", "")
                .with_remedy("give the number of machines, changes by service, or the nodes that go"));
        }
        if !self.remove.is_empty() {
            return Ok(Wanted::Less(Shrinkage::Nodes(named(cluster, &self.remove)?)));
        }
        if let Some(machines) = self.machines {
            let growth = self.growth(machines, BTreeMap::new());
            return Ok(if machines > now {
                Wanted::More(growth)
            } else {
                Wanted::Less(Shrinkage::To(machines))
            });
        }
        let number = |by: i64| u32::try_from(by.unsigned_abs()).unwrap_or(u32::MAX);
        let by: BTreeMap<String, u32> =
            self.services.iter().map(|(name, by)| (name.clone(), number(*by))).collect();
        match (self.services.values().all(|by| *by > 0), self.services.values().all(|by| *by < 0)) {
            (true, _) => Ok(Wanted::More(self.growth(0, by))),
            (_, true) => Ok(Wanted::Less(Shrinkage::Services(by))),
            _ => {
                let detail = "invalid input: services: some numbers are above zero and others are not";
                Err(Problem::new(StatusCode::BAD_REQUEST, detail)
                    .at("services", "")
                    .with_remedy("grow with one request, and shrink with another"))
            }
        }
    }

    fn growth(&self, machines: u32, services: BTreeMap<String, u32>) -> Growth {
        let (hardwaretype, imagetype) = (self.hardwaretype.clone(), self.imagetype.clone());
        Growth { machines, services, hardwaretype, imagetype }
    }
}

enum Wanted {
    More(Growth),
    Less(Shrinkage),
}

/// `POST /v2/clusters/{id}/resize`: more machines, or fewer.
pub async fn resize(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let size: Size = body::parse(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let resize = match size.resize(&cluster)? {
        Wanted::Less(shrinkage) => Resize::Shrink(shrinkage),
        Wanted::More(growth) => {
            let tenant = identity.tenant.clone();
            let catalog = state.blocking(move |state| state.catalog(&tenant)).await?;
            Resize::Grow { growth, hardware: catalog.hardware, images: catalog.images }
        }
    };
    let command = Command::Resize { resize: Box::new(resize), by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), size.fields.provider_fields).await
}

#[derive(Debug, Deserialize)]
struct Services {
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    services: BTreeSet<String>,
    #[serde(flatten)]
    fields: Fields,
}

/// `POST /v2/clusters/{id}/services/remove`: takes services off the cluster.
pub async fn remove_services(
    state: State,
    identity: Identity,
    id: Id,
    on: Asked,
    body: web::Bytes,
) -> Answer {
    let Services { services, fields } = body::parse(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let command = Command::RemoveServices { services, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Machines {
    /// Ids, host names or numbers.
    nodes: Vec<String>,
    rollout: Option<Rollout>,
    #[serde(flatten)]
    fields: Fields,
}

/// `POST /v2/clusters/{id}/replace`: makes machines anew.
pub async fn replace(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    make_anew(state, identity, id, on, body, false).await
}

/// `POST /v2/clusters/{id}/heal`: makes machines anew that are lost.
pub async fn heal(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    make_anew(state, identity, id, on, body, true).await
}

async fn make_anew(
    state: State,
    identity: Identity,
    id: Id,
    on: Asked,
    body: web::Bytes,
    lost: bool,
) -> Answer {
    let Machines { nodes, rollout, fields } = body::parse(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let nodes = named(&cluster, &nodes)?;
    let command = Command::Replace { nodes, lost, rollout, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reconfiguration {
    /// The whole new configuration.
    config: Option<Map<String, Value>>,
    /// What changes in it: a JSON merge patch (RFC 7396).
    patch: Option<Value>,
    /// By id, number or host name: what changes in the configuration of a node, likewise.
    #[serde(default)]
    nodes: BTreeMap<String, Map<String, Value>>,
    rollout: Option<Rollout>,
    #[serde(flatten)]
    fields: Fields,
}

/// Changes of single nodes, by their ids.
fn of_nodes(
    cluster: &Cluster,
    changes: BTreeMap<String, Map<String, Value>>,
) -> Result<BTreeMap<NodeId, Map<String, Value>>, Problem> {
    let mut nodes = BTreeMap::new();
    for (name, change) in changes {
        let twice = nodes.insert(node_named(cluster, "nodes", &name)?, change);
        if twice.is_some() {
            let detail = format!("nodes: {name:?} is a node that is named twice");
            let problem = Problem::new(StatusCode::BAD_REQUEST, detail).at("nodes", &name);
            return Err(problem.with_remedy("name each node once, by its id, number or host name"));
        }
    }
    Ok(nodes)
}

/// `POST /v2/clusters/{id}/reconfigure`: other values, written where they are taken.
pub async fn reconfigure(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Reconfiguration { config, patch, nodes, rollout, fields } = body::parse(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let nodes = of_nodes(&cluster, nodes)?;
    let config = match (config, patch) {
        (Some(config), None) => config,
        (None, None) if !nodes.is_empty() => cluster.config.clone(),
        (None, Some(patch @ Value::Object(_))) => {
            let mut config = Value::Object(cluster.config.clone());
            json_patch::merge(&mut config, &patch);
            config.as_object().cloned().unwrap_or_default()
        }
        _ => {
            return Err(missing(
                "config",
                "either `config`, the whole, or `patch`, what changes in it,",
                "one object",
            ));
        }
    };
    let command = Command::Reconfigure { config, nodes, rollout, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Upgrade {
    /// Whether the template is taken over too; it is unless said otherwise.
    template: Option<bool>,
    /// The services that are brought to newer versions, with the versions where not the newest is meant; all, to the
    /// newest, when there are none.
    services: BTreeMap<String, Option<u64>>,
    rollout: Option<Rollout>,
    #[serde(flatten)]
    fields: Fields,
}

/// `POST /v2/clusters/{id}/upgrade`: newer versions of template and services.
pub async fn upgrade(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Upgrade { template, services, rollout, fields } = body::parse_optional(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    if let Some(unknown) = services.keys().find(|name| !cluster.services.contains(*name)) {
        let detail = format!("services: cluster {} has no service {unknown:?}", cluster.id);
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail)
            .at("services", unknown)
            .with_remedy("name services of the cluster"));
    }
    let (tenant, known) = (identity.tenant.clone(), Arc::clone(&cluster));
    let newer = move |state: &AppState| newer(state, &tenant, &known, template.unwrap_or(true), &services);
    let (template, definitions) = state.blocking(newer).await?;
    let command = Command::Upgrade { template, definitions, rollout, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

type Newer = (Option<Box<ClusterTemplate>>, BTreeMap<String, Service>);

/// The newest of what a cluster is made from, or the versions that are named. Waits for the database.
fn newer(
    state: &AppState,
    tenant: &str,
    cluster: &Cluster,
    template: bool,
    named: &BTreeMap<String, Option<u64>>,
) -> Result<Newer, Problem> {
    let catalog = state.catalog(tenant)?;
    let found = catalog.templates.iter().find(|it| it.base.name == cluster.template.base.name);
    // A template that is gone stays as the cluster knows it.
    let template = found.filter(|_| template).map(|it| catalog.resolved(it)).transpose()?.map(Box::new);
    let mut definitions = BTreeMap::new();
    for name in cluster.services.iter().filter(|name| named.is_empty() || named.contains_key(*name)) {
        let version = named.get(name).copied().flatten();
        let found: Option<Service> = match version {
            None => catalog.services.iter().find(|it| it.name() == name).cloned(),
            Some(version) => state.store.entity(tenant, name, Some(version))?,
        };
        match (found, version) {
            (Some(found), _) => {
                definitions.insert(name.clone(), found);
            }
            (None, Some(version)) => {
                let detail = format!("services: there is no version {version} of service {name:?}");
                return Err(Problem::new(StatusCode::NOT_FOUND, detail)
                    .at("services", name)
                    .with_remedy("name a version that is stored, or none for the newest"));
            }
            (None, None) => {}
        }
    }
    Ok((template, definitions))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Return {
    /// Number of the event up to which it is gone back; absent: before the last change.
    to: Option<u64>,
    rollout: Option<Rollout>,
    #[serde(flatten)]
    fields: Fields,
}

/// `POST /v2/clusters/{id}/rollback`: what was wanted once is wanted again.
pub async fn roll_back(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Return { to, rollout, fields } = body::parse_optional(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let to = match to {
        None => cluster.previous.clone().ok_or_else(|| {
            let detail = format!("nothing of cluster {} was changed that could be gone back on", cluster.id);
            Problem::new(StatusCode::CONFLICT, detail)
                .at("to", "")
                .with_remedy("name a revision: they are listed by its history")
        })?,
        Some(sequence) => {
            let id = cluster.id;
            let then = state.blocking(move |state| Ok(read_at(&state.store, id, sequence)?)).await?;
            Box::new(Revision::of(&then))
        }
    };
    if to.nodes.is_empty() {
        let detail = format!("cluster {} had no nodes then", cluster.id);
        return Err(Problem::new(StatusCode::CONFLICT, detail)
            .at("to", "")
            .with_remedy("name a later revision: they are listed by its history"));
    }
    let command = Command::RollBack { to, rollout, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Convergence {
    /// Whether what is not as wanted is mended; it is unless said otherwise.
    mend: Option<bool>,
    #[serde(flatten)]
    fields: Fields,
}

/// `POST /v2/clusters/{id}/converge`: looks at every service, and mends what is not as wanted.
pub async fn converge(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Convergence { mend, fields } = body::parse_optional(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let command = Command::Converge { mend: mend.unwrap_or(true), by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

/// `POST /v2/clusters/{id}/services/{service}/errands/{errand}`: runs an errand.
async fn run_errand(
    state: State,
    identity: Identity,
    at: web::Path<(String, String, String)>,
    on: Asked,
    body: web::Bytes,
) -> Answer {
    let (id, service, errand) = at.into_inner();
    let Machines { nodes, fields, .. } = body::parse_optional(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let nodes = named(&cluster, &nodes)?;
    let command = Command::RunErrand { service, errand, nodes, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Cancellation {
    /// Whether what was wanted before is wanted again.
    #[serde(deserialize_with = "cooperage_domain::lenient::boolean")]
    undo: bool,
}

/// `POST /v2/clusters/{id}/cancel`: stops whatever is under way.
pub async fn cancel(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Cancellation { undo } = body::parse_optional(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let command = Command::Cancel { undo, by: identity.user.clone() };
    tell(&state, identity, &cluster, command, on).await
}

/// Nodes by id, host name with or without domain, or number.
fn named(cluster: &Cluster, names: &[String]) -> Result<BTreeSet<NodeId>, Problem> {
    names.iter().map(|name| node_named(cluster, "nodes", name)).collect()
}

/// A node by its id, number or host name, given in the field `field`.
pub fn node_named(cluster: &Cluster, field: &str, name: &str) -> Result<NodeId, Problem> {
    let is = |node: &&cooperage_domain::cluster::Node| {
        let host = node.properties.hostname.as_deref().unwrap_or_default();
        node.id.as_str() == name
            || node.properties.nodenum.to_string() == name
            || host == name
            || host.split('.').next() == Some(name)
    };
    cluster.nodes.values().find(is).map(|node| node.id.clone()).ok_or_else(|| {
        let hosts: Vec<&str> = cluster
            .nodes_by_number()
            .into_iter()
            .filter_map(|node| node.properties.hostname.as_deref())
            .take(20)
            .collect();
        let detail = format!("{field}: cluster {} has no node {name:?}", cluster.id);
        Problem::new(StatusCode::BAD_REQUEST, detail)
            .at(field, name)
            .with_remedy(format!("name nodes by id, number or host name; it has {}", hosts.join(", ")))
    })
}
