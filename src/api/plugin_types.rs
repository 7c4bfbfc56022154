//! Provider types and automator types: known to every tenant, told by provisioners, removed by the superadmin.

use actix_web::{HttpResponse, web};
use cooperage_domain::entity::{AutomatorType, Entity, Kind, ProviderType};
use cooperage_schema::{Document, SUPERADMIN};
use serde_json::Value;

use super::entities::{self, as_json, version_number};
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes on the port for people. The path with a version is in [`super::resources`], since another resource is read there.
pub fn routes(routes: &mut Routes<'_>) {
    for kind in [Kind::ProviderType, Kind::AutomatorType] {
        let path = format!("/v2/plugins/{}", kind.plural());
        routes.at(&path, |on| on.get(move |s, i| list(kind, s, i)));
        routes.at(&format!("{path}/{{name}}"), |on| {
            on.get(move |s, i, name| get(kind, s, i, name))
                .delete(move |s, i, name: web::Path<String>| delete(kind, s, i, name.into_inner(), None))
        });
    }
}

/// Routes on the port for provisioners.
pub fn task_routes(routes: &mut Routes<'_>) {
    routes.at("/v2/plugins/providertypes/{name}", |on| on.put(put::<ProviderType>));
    routes.at("/v2/plugins/automatortypes/{name}", |on| on.put(put::<AutomatorType>));
}

async fn list(kind: Kind, state: State, _: Identity) -> Answer {
    let found: Vec<Value> = state
        .blocking(move |state| match kind {
            Kind::ProviderType => {
                state.store.entities::<ProviderType>(SUPERADMIN)?.iter().map(as_json).collect()
            }
            _ => state.store.entities::<AutomatorType>(SUPERADMIN)?.iter().map(as_json).collect(),
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn get(kind: Kind, state: State, _: Identity, name: web::Path<String>) -> Answer {
    let name = name.into_inner();
    let found = state
        .blocking(move |state| {
            let found = match kind {
                Kind::ProviderType => {
                    state.store.entity::<ProviderType>(SUPERADMIN, &name, None)?.map(|t| t.0)
                }
                _ => state.store.entity::<AutomatorType>(SUPERADMIN, &name, None)?.map(|t| t.0),
            };
            found.ok_or_else(|| Problem::not_found(kind.noun(), name))
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

/// `DELETE …/{name}`, and of one version.
///
/// # Errors
/// When the version is no number, or the database cannot be written; one that is not there is no fault.
pub async fn delete(kind: Kind, state: State, _: Identity, name: String, version: Option<String>) -> Answer {
    let version = version.map(|text| version_number(&text)).transpose()?;
    state
        .blocking(move |state| Ok(state.store.delete_entity(SUPERADMIN, kind, &name, version).map(drop)?))
        .await?;
    Ok(HttpResponse::Ok().finish())
}

/// A provisioner tells a type. The same type again changes nothing.
async fn put<E: Entity>(state: State, name: web::Path<String>, body: web::Bytes) -> Answer {
    let name = name.into_inner();
    state
        .blocking(move |state| {
            let entity: E = entities::read(&body)?;
            entities::check_same_name(&entity, &name)?;
            state.store.put_entities(SUPERADMIN, vec![Document::new(entity)?], state.clock.now())?;
            Ok(())
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}
