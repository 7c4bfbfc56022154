//! Provisioners elsewhere: they register and beat on the port for provisioners; operators look at them on the other.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::fleet::{Beat, Deregister, ListProvisioners, Register};
use cooperage_actors::registry::ListPools;
use cooperage_actors::worker_pool::Dismiss;
use cooperage_domain::provisioner::Provisioner;
use cooperage_domain::worker_protocol::Granted;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes for people.
pub fn user_routes(routes: &mut Routes<'_>) {
    routes.at("/v2/provisioners", |on| on.get(list));
    routes.at("/v2/provisioners/{id}", |on| on.get(get));
}

/// Routes for provisioners.
pub fn task_routes(routes: &mut Routes<'_>) {
    routes.at("/v2/provisioners/{id}", |on| on.put(register).delete(deregister));
    routes.at("/v2/provisioners/{id}/heartbeat", |on| on.post(beat));
}

async fn list(state: State, _: Identity) -> Answer {
    let found = state.fleet.send(ListProvisioners).await.map_err(Problem::internal)?;
    let names = tenant_names(&state).await?;
    let shown: Vec<Value> = found.iter().map(|one| shown(one, &names)).collect();
    Ok(HttpResponse::Ok().json(shown))
}

async fn get(state: State, _: Identity, id: web::Path<String>) -> Answer {
    let found = state.fleet.send(ListProvisioners).await.map_err(Problem::internal)?;
    let one = found.iter().find(|one| one.id == *id).ok_or_else(|| Problem::not_found("provisioner", id))?;
    Ok(HttpResponse::Ok().json(shown(one, &tenant_names(&state).await?)))
}

async fn register(state: State, id: web::Path<String>, body: web::Bytes) -> Answer {
    let provisioner: Provisioner = body::parse(&body)?;
    provisioner.check()?;
    if provisioner.id != *id {
        let detail = format!("mismatch: the path names provisioner {id:?} and the body {:?}", provisioner.id);
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("use the same id twice"));
    }
    let (extensions, draining) = (provisioner.extensions.clone(), provisioner.draining);
    state.fleet.send(Register(provisioner)).await.map_err(Problem::internal)??;
    if draining {
        // Its workers wait for nothing any more.
        for (_, pool) in state.registry.send(ListPools).await.map_err(Problem::internal)? {
            pool.do_send(Dismiss { provisioner: id.clone(), ticket: None });
        }
    }
    if extensions.is_empty() {
        return Ok(HttpResponse::Ok().finish());
    }
    Ok(HttpResponse::Ok().json(Granted { extensions }))
}

async fn deregister(state: State, id: web::Path<String>) -> Answer {
    state.fleet.send(Deregister { id: id.into_inner() }).await.map_err(Problem::internal)??;
    Ok(HttpResponse::Ok().finish())
}

#[derive(Debug, Default, Deserialize)]
struct Heartbeat {
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    usage: BTreeMap<String, u32>,
}

async fn beat(state: State, id: web::Path<String>, body: web::Bytes) -> Answer {
    let heartbeat: Heartbeat = body::parse(&body)?;
    let id = id.into_inner();
    let beat = Beat { id: id.clone(), usage: heartbeat.usage };
    if state.fleet.send(beat).await.map_err(Problem::internal)? {
        return Ok(HttpResponse::Ok().finish());
    }
    Err(Problem::not_found("provisioner", id).with_remedy("register again"))
}

/// A provisioner with tenants by name; an id that belongs to no tenant is shown as it is.
fn shown(one: &Provisioner, names: &BTreeMap<String, String>) -> Value {
    let named = |counts: &BTreeMap<String, u32>| -> BTreeMap<String, u32> {
        counts.iter().map(|(id, n)| (names.get(id).unwrap_or(id).clone(), *n)).collect()
    };
    let mut shown = json!({
        "id": one.id,
        "host": one.host,
        "port": one.port,
        "capacityTotal": one.capacity_total,
        "capacityFree": one.capacity_free(),
        "assignments": named(&one.assignments),
        "usage": named(&one.usage),
    });
    if let (true, Value::Object(fields)) = (one.draining, &mut shown) {
        fields.insert("draining".to_owned(), true.into());
    }
    shown
}

async fn tenant_names(state: &State) -> Result<BTreeMap<String, String>, Problem> {
    let tenants = state.blocking(|state| Ok(state.store.tenants()?)).await?;
    Ok(tenants.into_iter().map(|tenant| (tenant.id, tenant.name)).collect())
}
