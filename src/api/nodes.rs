//! Nodes across clusters, as far as the caller may see them: those of clusters, which are read, and those that users made
//! known by themselves, which they also change.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_schema::{NodePlace, NodeRow, RegisteredNode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::body;
use super::cluster_view::NodeDetails;
use super::identity::Identity;
use super::paging::Paging;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;
type Id = web::Path<String>;

/// Name of the list of nodes in its cursors.
const LIST: &str = "nodes";

/// Routes of nodes.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/nodes", |on| on.get(list).post(post));
    routes.at("/v2/nodes/{id}", |on| on.get(get).put(put).delete(delete));
}

/// Nodes of the caller's clusters and those the caller made known; of the whole tenant for its admin.
async fn list(state: State, identity: Identity, part: Paging) -> Answer {
    let place: Option<Place> = part.place(LIST)?;
    let wanted = part.wanted();
    let mut nodes: Vec<(Place, Value)> =
        state.blocking(move |state| behind(state, &identity, place, wanted)).await?;
    let last = part.cut(&mut nodes).map(|(place, _)| place.clone());
    let mut answer = HttpResponse::Ok();
    part.link(&mut answer, LIST, last);
    Ok(answer.json(nodes.into_iter().map(|(_, node)| node).collect::<Vec<_>>()))
}

/// A place in the list: first the nodes of clusters, then those that were made known.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Place {
    OfCluster(u64, u32, String),
    Registered(String),
}

/// So many nodes behind a place. Waits for the database.
fn behind(
    state: &AppState,
    identity: &Identity,
    place: Option<Place>,
    wanted: u32,
) -> Result<Vec<(Place, Value)>, Problem> {
    let (tenant, owner) = (identity.tenant.as_str(), identity.owner_seen());
    let (at, id) = match place {
        None => (Some(None), None),
        Some(Place::OfCluster(cluster, number, id)) => {
            (Some(Some(NodePlace { cluster: ClusterId(cluster), number, id: NodeId(id) })), None)
        }
        Some(Place::Registered(id)) => (None, Some(id)),
    };
    let mut nodes = Vec::new();
    if let Some(at) = at {
        for row in state.store.nodes_behind(tenant, owner.as_deref(), at.as_ref(), wanted)? {
            let place = Place::OfCluster(row.cluster.0, row.number, row.id.to_string());
            nodes.push((place, shown(&row)?));
        }
    }
    let left = wanted.saturating_sub(u32::try_from(nodes.len()).unwrap_or(u32::MAX));
    for node in state.store.registered_nodes_behind(tenant, owner.as_deref(), id.as_deref(), left)? {
        nodes.push((Place::Registered(node.id.clone()), document(&node)?));
    }
    Ok(nodes)
}

fn shown(row: &NodeRow) -> Result<Value, Problem> {
    let properties: Value = serde_json::from_str(&row.document).map_err(Problem::internal)?;
    Ok(json!({ "id": row.id, "clusterId": row.cluster, "status": row.status, "properties": properties }))
}

fn document(node: &RegisteredNode) -> Result<Value, Problem> {
    serde_json::from_str(&node.document).map_err(Problem::internal)
}

async fn get(state: State, identity: Identity, id: Id) -> Answer {
    let id = id.into_inner();
    let (asker, wanted) = (identity.clone(), id.clone());
    let (of_cluster, registered) = state
        .blocking(move |state| {
            let registered = registered(state, &asker, &wanted)?;
            Ok((state.store.node(&NodeId(wanted))?, registered))
        })
        .await?;
    if let Some(node) = registered {
        return Ok(HttpResponse::Ok().json(document(&node)?));
    }
    let unknown = || Problem::not_found("node", &id);
    let row = of_cluster.filter(|row| row.tenant == identity.tenant).ok_or_else(unknown)?;
    // Whoever does not see the cluster does not see its nodes.
    let cluster = state.cluster(&identity, &row.cluster.to_string()).await.map_err(|problem| {
        if problem.status == StatusCode::NOT_FOUND.as_u16() { unknown() } else { problem }
    })?;
    let node = cluster.nodes.get(&row.id).ok_or_else(unknown)?;
    Ok(HttpResponse::Ok().json(NodeDetails::of(&cluster, node)))
}

/// A node that was made known and that the caller sees. Waits for the database.
fn registered(state: &AppState, identity: &Identity, id: &str) -> Result<Option<RegisteredNode>, Problem> {
    let found = state.store.registered_node(&identity.tenant, id)?;
    Ok(found.filter(|node| identity.sees(&node.owner)))
}

/// What is said of a node: an object with its id and its services.
fn read(body: &[u8]) -> Result<(String, Map<String, Value>), Problem> {
    let document: Map<String, Value> = body::parse(body)?;
    let invalid = |field: &str, form: &str| {
        let detail = format!("invalid input: {field}: is missing, or no {form}");
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy(format!("give a {form}"));
        problem.field = Some(field.to_owned());
        problem
    };
    let id = document.get("id").and_then(Value::as_str).filter(|id| !id.is_empty() && !id.contains('\0'));
    let id = id.ok_or_else(|| invalid("id", "text"))?.to_owned();
    if !document.get("services").is_some_and(Value::is_array) {
        return Err(invalid("services", "list"));
    }
    Ok((id, document))
}

async fn post(state: State, identity: Identity, body: web::Bytes) -> Answer {
    let (id, document) = read(&body)?;
    state.blocking(move |state| store(state, identity, id, document)).await?;
    Ok(HttpResponse::Created().finish())
}

async fn put(state: State, identity: Identity, path: Id, body: web::Bytes) -> Answer {
    let (id, document) = read(&body)?;
    if id != *path {
        let detail = format!("mismatch: the path names {:?} and the body {id:?}", *path);
        let problem = Problem::new(StatusCode::BAD_REQUEST, detail).at("id", id);
        return Err(problem.with_remedy("use the same id twice"));
    }
    state.blocking(move |state| store(state, identity, id, document)).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn store(
    state: &AppState,
    identity: Identity,
    id: String,
    document: Map<String, Value>,
) -> Result<(), Problem> {
    refuse_foreign(state, &identity, &id)?;
    let (tenant, owner, document) = (identity.tenant, identity.user, Value::from(document).to_string());
    Ok(state.store.put_registered_node(RegisteredNode { tenant, id, owner, document })?)
}

/// Nodes of clusters change by what is done with the cluster, and those of other users by them.
fn refuse_foreign(state: &AppState, identity: &Identity, id: &str) -> Result<(), Problem> {
    let is_taken = state.store.registered_node(&identity.tenant, id)?.is_some();
    let mine = registered(state, identity, id)?.is_some();
    let of_cluster = state.store.node(&NodeId(id.to_owned()))?.is_some();
    if (is_taken && !mine) || of_cluster {
        let detail =
            format!("node {id:?} is not yours to change: it belongs to a cluster or to another user");
        let problem = Problem::new(StatusCode::FORBIDDEN, detail).at("id", id);
        return Err(problem.with_remedy("change the cluster, or use another id"));
    }
    Ok(())
}

/// One that is not there, or not seen, is no fault.
async fn delete(state: State, identity: Identity, id: Id) -> Answer {
    let id = id.into_inner();
    state
        .blocking(move |state| {
            if registered(state, &identity, &id)?.is_some() {
                state.store.delete_registered_node(&identity.tenant, &id)?;
            }
            Ok(())
        })
        .await?;
    Ok(HttpResponse::NoContent().finish())
}
