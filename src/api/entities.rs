//! The entities: six kinds a tenant owns, all versioned, with the same routes; and the two plugin types, which are read.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::entity::{
    AutomatorType, ClusterTemplate, Entity, HardwareType, ImageType, Kind, PartialTemplate, Provider,
    ProviderType, Service,
};
use serde_json::Value;

use super::body;
use super::identity::Identity;
use super::problem::Problem;
use super::state::{AppState, owner_of};

/// Does the same for whichever kind is meant.
macro_rules! for_kind {
    ($kind:expr, $entity:ident => $body:expr) => {
        match $kind {
            Kind::ProviderType => {
                type $entity = ProviderType;
                $body
            }
            Kind::AutomatorType => {
                type $entity = AutomatorType;
                $body
            }
            Kind::Provider => {
                type $entity = Provider;
                $body
            }
            Kind::HardwareType => {
                type $entity = HardwareType;
                $body
            }
            Kind::ImageType => {
                type $entity = ImageType;
                $body
            }
            Kind::Service => {
                type $entity = Service;
                $body
            }
            Kind::ClusterTemplate => {
                type $entity = ClusterTemplate;
                $body
            }
            Kind::PartialTemplate => {
                type $entity = PartialTemplate;
                $body
            }
        }
    };
}
pub(super) use for_kind;

/// Routes of all kinds.
pub fn routes(config: &mut web::ServiceConfig) {
    let owned = [
        Kind::Provider,
        Kind::HardwareType,
        Kind::ImageType,
        Kind::Service,
        Kind::ClusterTemplate,
        Kind::PartialTemplate,
    ];
    for kind in owned {
        config.service(
            web::scope(&format!("/v2/{}", kind.plural()))
                .route("", web::get().to(move |state, identity| list(kind, state, identity)))
                .route("", web::post().to(move |state, identity, body| create(kind, state, identity, body)))
                .route(
                    "/{name}",
                    web::get().to(move |state, identity, name| get(kind, state, identity, name)),
                )
                .route(
                    "/{name}",
                    web::put().to(move |state, identity, name, body| put(kind, state, identity, name, body)),
                )
                .route(
                    "/{name}",
                    web::delete().to(move |state, identity, name| delete(kind, state, identity, name)),
                )
                .route(
                    "/{name}/{version}",
                    web::get().to(move |state, identity, at| get_version(kind, state, identity, at)),
                )
                .route(
                    "/{name}/{version}",
                    web::delete().to(move |state, identity, at| delete_version(kind, state, identity, at)),
                ),
        );
    }
    for kind in [Kind::ProviderType, Kind::AutomatorType] {
        let path = format!("/v2/plugins/{}", kind.plural());
        config.route(&path, web::get().to(move |state, identity| list(kind, state, identity))).route(
            &format!("{path}/{{name}}"),
            web::get().to(move |state, identity, name| get(kind, state, identity, name)),
        );
    }
}

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

async fn list(kind: Kind, state: State, identity: Identity) -> Answer {
    let found: Vec<Value> = state
        .blocking(move |state| {
            let owner = owner_of(kind, &identity.tenant);
            for_kind!(kind, E => state.store.entities::<E>(owner)?.iter().map(as_json).collect())
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn get(kind: Kind, state: State, identity: Identity, name: web::Path<String>) -> Answer {
    find(kind, state, identity, name.into_inner(), None).await
}

async fn get_version(
    kind: Kind,
    state: State,
    identity: Identity,
    at: web::Path<(String, String)>,
) -> Answer {
    let (name, version) = at.into_inner();
    let version = number(&version)?;
    find(kind, state, identity, name, Some(version)).await
}

async fn find(kind: Kind, state: State, identity: Identity, name: String, version: Option<u64>) -> Answer {
    let found = state
        .blocking(move |state| {
            let owner = owner_of(kind, &identity.tenant);
            let found: Option<Value> = for_kind!(kind, E => {
                state.store.entity::<E>(owner, &name, version)?.as_ref().map(as_json).transpose()?
            });
            found.ok_or_else(|| Problem::not_found(kind.noun(), name))
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn create(kind: Kind, state: State, identity: Identity, body: web::Bytes) -> Answer {
    identity.require_admin()?;
    state
        .blocking(move |state| {
            for_kind!(kind, E => {
                let entity: E = read(&body)?;
                state.store.create_entity(&identity.tenant, entity, state.clock.now()).map_err(conflict)
            })
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

async fn put(
    kind: Kind,
    state: State,
    identity: Identity,
    name: web::Path<String>,
    body: web::Bytes,
) -> Answer {
    identity.require_admin()?;
    let name = name.into_inner();
    state
        .blocking(move |state| {
            for_kind!(kind, E => {
                let entity: E = read(&body)?;
                if entity.base().name != name {
                    let detail = format!("mismatch: the path names {name:?} and the body {:?}", entity.base().name);
                    return Err(Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("use the same name twice"));
                }
                Ok(state.store.put_entity(&identity.tenant, entity, state.clock.now()).map(drop)?)
            })
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

async fn delete(kind: Kind, state: State, identity: Identity, name: web::Path<String>) -> Answer {
    remove(kind, state, identity, name.into_inner(), None).await
}

async fn delete_version(
    kind: Kind,
    state: State,
    identity: Identity,
    at: web::Path<(String, String)>,
) -> Answer {
    identity.require_admin()?;
    let (name, version) = at.into_inner();
    let version = number(&version)?;
    remove(kind, state, identity, name, Some(version)).await
}

async fn remove(kind: Kind, state: State, identity: Identity, name: String, version: Option<u64>) -> Answer {
    identity.require_admin()?;
    state
        .blocking(move |state| {
            Ok(state.store.delete_entity(&identity.tenant, kind, &name, version).map(drop)?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

/// An entity that keeps the rules of its kind.
fn read<E: Entity>(body: &[u8]) -> Result<E, Problem> {
    let entity: E = body::parse(body)?;
    entity.check()?;
    Ok(entity)
}

fn as_json<E: Entity>(entity: &E) -> Result<Value, Problem> {
    serde_json::to_value(entity).map_err(Problem::internal)
}

fn number(text: &str) -> Result<u64, Problem> {
    text.parse().ok().filter(|version| *version > 0).ok_or_else(|| {
        let mut problem =
            Problem::new(StatusCode::BAD_REQUEST, format!("version {text:?} is not a number from 1"));
        problem.field = Some("version".to_owned());
        problem.with_remedy("use a version as printed, from 1")
    })
}

fn conflict(fault: cooperage_schema::StoreError) -> Problem {
    match fault {
        cooperage_schema::StoreError::AlreadyExists { .. } => {
            Problem::new(StatusCode::CONFLICT, fault.to_string())
                .with_remedy("use PUT to store a new version, or another name")
        }
        other => other.into(),
    }
}
