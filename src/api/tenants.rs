//! Tenants: made, changed and removed by the superadmin.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::fleet::SetWorkers;
use cooperage_domain::quota::Usage;
use cooperage_domain::tenant::TenantSpec;
use cooperage_schema::{SUPERADMIN, Store, Tenant};
use serde::Deserialize;
use uuid::Uuid;

use super::body;
use super::capacity::{free_of, total_capacity};
use super::edge::Keyed;
use super::identity::Identity;
use super::problem::Problem;
use super::resources::synchronise;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of tenants.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/tenants", |on| on.get(list).post(post));
    routes.at("/v2/tenants/{name}", |on| on.get(get).put(put).delete(delete));
}

/// What is sent: the specification lies one level down.
#[derive(Debug, Deserialize)]
struct Wrapper {
    tenant: Option<TenantSpec>,
    /// Whether the tenant begins with what the superadmin's describes.
    #[serde(default, deserialize_with = "cooperage_domain::lenient::boolean")]
    bootstrap: bool,
}

fn read(body: &[u8]) -> Result<(TenantSpec, bool), Problem> {
    let wrapper: Wrapper = body::parse(body)?;
    let spec = wrapper.tenant.ok_or_else(|| {
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, "invalid input: tenant: is missing");
        problem.field = Some("tenant".to_owned());
        problem.with_remedy("put the specification under the key 'tenant'")
    })?;
    spec.check()?;
    Ok((spec, wrapper.bootstrap))
}

/// The specification that is stored of a tenant.
///
/// # Errors
/// When it cannot be read.
pub fn specification(tenant: &Tenant) -> Result<TenantSpec, Problem> {
    serde_json::from_str(&tenant.document).map_err(Problem::internal)
}

async fn list(state: State, _: Identity) -> Answer {
    let all: Vec<TenantSpec> =
        state.blocking(|state| state.store.tenants()?.iter().map(specification).collect()).await?;
    Ok(HttpResponse::Ok().json(all))
}

async fn get(state: State, _: Identity, name: web::Path<String>) -> Answer {
    let name = name.into_inner();
    let found = state
        .blocking(move |state| {
            let found = state.store.tenant(&name)?.ok_or_else(|| Problem::not_found("tenant", name))?;
            specification(&found)
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn post(state: State, _: Identity, key: Keyed, body: web::Bytes) -> Answer {
    let total = total_capacity(&state).await?;
    let set = state
        .blocking(move |state| {
            let (spec, bootstrap) = read(&body)?;
            if state.store.tenant(&spec.name)?.is_some() {
                let detail = format!("tenant {:?} already exists", spec.name);
                let problem = Problem::new(StatusCode::CONFLICT, detail).at("name", &spec.name);
                return Err(problem.with_remedy("use PUT to change it, or another name"));
            }
            check_capacity(state, total, 0, spec.workers)?;
            create(state, &key.answering(state, StatusCode::OK, None), &spec, bootstrap)
        })
        .await?;
    state.fleet.do_send(set);
    Ok(HttpResponse::Ok().finish())
}

/// A new tenant; with the bytes of the superadmin's plugin resources in their place before it is there. Gives what the
/// provisioners are to know. The tenant is stored in `store`.
fn create(
    state: &AppState,
    store: &Store,
    spec: &TenantSpec,
    bootstrap: bool,
) -> Result<SetWorkers, Problem> {
    let (id, now) = (Uuid::new_v4().to_string(), state.clock.now());
    let document = serde_json::to_string(spec).map_err(Problem::internal)?;
    let tenant = Tenant { id: id.clone(), name: spec.name.clone(), document };
    let set = SetWorkers { tenant: id.clone(), workers: spec.workers };
    if !bootstrap {
        store.create_tenant(tenant, None, now)?;
        return Ok(set);
    }
    let created = state
        .resources
        .copy_tenant(SUPERADMIN, &id)
        .map_err(Problem::from)
        .and_then(|()| Ok(store.create_tenant(tenant, Some(SUPERADMIN), now)?));
    if created.is_err() {
        // Best effort: nobody knows of these files.
        let _ = state.resources.remove_tenant(&id);
    }
    created?;
    synchronise(state, &id)?;
    Ok(set)
}

async fn put(state: State, _: Identity, name: web::Path<String>, body: web::Bytes) -> Answer {
    let name = name.into_inner();
    let total = total_capacity(&state).await?;
    let set = state
        .blocking(move |state| {
            let (spec, _) = read(&body)?;
            if spec.name != name {
                let detail = format!("mismatch: the path names {name:?} and the body {:?}", spec.name);
                let problem = Problem::new(StatusCode::BAD_REQUEST, detail).at("name", &spec.name);
                return Err(problem.with_remedy("use the same name twice"));
            }
            let Some(found) = state.store.tenant(&name)? else {
                check_capacity(state, total, 0, spec.workers)?;
                return create(state, &state.store, &spec, false);
            };
            check_capacity(state, total, specification(&found)?.workers, spec.workers)?;
            let used = used(state, &found.id)?;
            spec.quota().check(used, Usage::default())?;
            let document = serde_json::to_string(&spec).map_err(Problem::internal)?;
            let set = SetWorkers { tenant: found.id.clone(), workers: spec.workers };
            state.store.put_tenant(Tenant { document, ..found })?;
            Ok(set)
        })
        .await?;
    state.fleet.do_send(set);
    Ok(HttpResponse::Ok().finish())
}

fn used(state: &AppState, id: &str) -> Result<Usage, Problem> {
    state.reservations.used(id, || Ok(state.store.nodes_of_live_clusters(id)?))
}

/// More workers than before must be free.
fn check_capacity(state: &AppState, total: u64, before: u32, wanted: u32) -> Result<(), Problem> {
    let more = u64::from(wanted.saturating_sub(before));
    if more == 0 {
        return Ok(());
    }
    let free = free_of(total, state)?;
    if more <= free {
        return Ok(());
    }
    let detail = format!("workers: {more} more are asked for, and the provisioners' free capacity is {free}");
    let problem = Problem::new(StatusCode::CONFLICT, detail).at("workers", wanted.to_string());
    Err(problem.with_remedy("ask for fewer, or add a provisioner"))
}

async fn delete(state: State, _: Identity, name: web::Path<String>) -> Answer {
    let name = name.into_inner();
    if name == SUPERADMIN {
        let detail = format!("tenant {name:?} is the operators' own and cannot be deleted");
        return Err(Problem::new(StatusCode::FORBIDDEN, detail).with_remedy("keep it"));
    }
    state
        .blocking(move |state| {
            let Some(found) = state.store.tenant(&name)? else { return Ok(()) };
            refuse_busy(state, &found)?;
            state.store.delete_tenant(&name)?;
            Ok(state.resources.remove_tenant(&found.id)?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

fn refuse_busy(state: &AppState, tenant: &Tenant) -> Result<(), Problem> {
    let (name, workers) = (&tenant.name, specification(tenant)?.workers);
    let refuse = |detail: String, remedy| Err(Problem::new(StatusCode::CONFLICT, detail).with_remedy(remedy));
    if workers > 0 {
        let detail = format!("tenant {name:?} still has {workers} workers assigned");
        return refuse(detail, "set its workers to 0 first");
    }
    let used = used(state, &tenant.id)?;
    if used.clusters > 0 {
        let detail = format!("tenant {name:?} still has {} clusters", used.clusters);
        return refuse(detail, "delete its clusters first");
    }
    Ok(())
}
