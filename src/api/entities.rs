//! The entities: six kinds a tenant owns, all versioned, with the same routes.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::entity::{
    AutomatorType, ClusterTemplate, Entity, HardwareType, ImageType, Kind, PartialTemplate, Provider,
    ProviderType, Service,
};
use serde::Deserialize;
use serde_json::Value;

use super::audit::about;
use super::body;
use super::edge::{IfMatch, Keyed, StateTag};
use super::identity::Identity;
use super::paging::Paging;
use super::presence::check_presence;
use super::problem::Problem;
use super::routes::Routes;
use super::secret_fields::SecretFields;
use super::state::AppState;

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

/// Routes of the kinds that tenants own.
pub fn routes(routes: &mut Routes<'_>) {
    for kind in Kind::OWNED {
        let all = format!("/v2/{}", kind.plural());
        routes.at(&all, |on| {
            on.get(move |s, i, query, part| list(kind, s, i, query, part))
                .post(move |s, i, key, body| create(kind, s, i, key, body))
        });
        routes.at(&format!("{all}/{{name}}"), |on| {
            on.get(move |s, i, name, query| get(kind, s, i, name, query))
                .put(move |s, i, name, on, body| put(kind, s, i, name, on, body))
                .delete(move |s, i, name, on| delete(kind, s, i, name, on))
        });
        routes.at(&format!("{all}/{{name}}/{{version}}"), |on| {
            on.get(move |s, i, at, query| get_version(kind, s, i, at, query))
                .delete(move |s, i, at, on| delete_version(kind, s, i, at, on))
        });
    }
}

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Whether an admin wants to see secrets.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct SecretsQuery {
    #[serde(default)]
    secrets: bool,
}

impl SecretsQuery {
    /// The fields to hide from this caller. Waits for the database.
    fn hidden_from(self, state: &AppState, identity: &Identity) -> Result<SecretFields, Problem> {
        if !self.secrets {
            return SecretFields::load(state);
        }
        identity.require_admin()?;
        Ok(SecretFields::default())
    }
}

type Query = web::Query<SecretsQuery>;

async fn list(kind: Kind, state: State, identity: Identity, query: Query, part: Paging) -> Answer {
    let behind: Option<String> = part.place(kind.plural())?;
    let mut found: Vec<Value> = state
        .blocking(move |state| {
            let tenant = &identity.tenant;
            if kind == Kind::Provider {
                return providers(state, &identity, *query)?.iter().map(as_json).collect();
            }
            for_kind!(kind, E => state.store.entities::<E>(tenant)?.iter().map(as_json).collect())
        })
        .await?;
    let name = |entity: &Value| entity["name"].as_str().unwrap_or_default().to_owned();
    // They come by name.
    found.retain(|entity| behind.as_deref().is_none_or(|behind| name(entity).as_str() > behind));
    let last = part.cut(&mut found).map(name);
    let mut answer = HttpResponse::Ok();
    part.link(&mut answer, kind.plural(), last);
    Ok(answer.json(found))
}

/// The providers of the caller's tenant, as the caller may see them. Waits for the database.
///
/// # Errors
/// 403 for secrets that others than an admin ask for.
pub(super) fn providers(
    state: &AppState,
    identity: &Identity,
    query: SecretsQuery,
) -> Result<Vec<Provider>, Problem> {
    let hidden = query.hidden_from(state, identity)?;
    let all = state.store.entities::<Provider>(&identity.tenant)?;
    Ok(all.into_iter().map(|provider| hidden.hidden(provider)).collect())
}

async fn get(kind: Kind, state: State, identity: Identity, name: web::Path<String>, query: Query) -> Answer {
    find(kind, state, identity, name.into_inner(), None, *query).await
}

async fn get_version(
    kind: Kind,
    state: State,
    identity: Identity,
    at: web::Path<(String, String)>,
    query: Query,
) -> Answer {
    let (name, version) = at.into_inner();
    let version = version_number(&version)?;
    find(kind, state, identity, name, Some(version), *query).await
}

async fn find(
    kind: Kind,
    state: State,
    identity: Identity,
    name: String,
    version: Option<u64>,
    query: SecretsQuery,
) -> Answer {
    let (found, tag) = state
        .blocking(move |state| {
            let tenant = &identity.tenant;
            let found: Option<(Value, String)> = if kind == Kind::Provider {
                let hidden = query.hidden_from(state, &identity)?;
                let found = state.store.entity_with_state::<Provider>(tenant, &name, version)?;
                found
                    .map(|(provider, tag)| Ok::<_, Problem>((as_json(&hidden.hidden(provider))?, tag)))
                    .transpose()?
            } else {
                for_kind!(kind, E => {
                    let found = state.store.entity_with_state::<E>(tenant, &name, version)?;
                    found.map(|(entity, tag)| Ok::<_, Problem>((as_json(&entity)?, tag))).transpose()?
                })
            };
            found.ok_or_else(|| Problem::not_found(kind.noun(), name))
        })
        .await?;
    Ok(StateTag(tag).on(&mut HttpResponse::Ok()).json(found))
}

async fn create(kind: Kind, state: State, identity: Identity, key: Keyed, body: web::Bytes) -> Answer {
    let name = state
        .blocking(move |state| {
            let store = key.answering(state, StatusCode::OK, None);
            if kind == Kind::Provider {
                // Nothing is known yet that a mask could stand for.
                SecretFields::load(state)?.restored(read(&body)?, None)?;
            }
            for_kind!(kind, E => {
                let entity: E = read(&body)?;
                let name = entity.base().name.clone();
                store.create_entity(&identity.tenant, entity, state.clock.now())?;
                Ok(name)
            })
        })
        .await?;
    Ok(about(HttpResponse::Ok().finish(), format!("/v2/{}/{name}", kind.plural())))
}

async fn put(
    kind: Kind,
    state: State,
    identity: Identity,
    name: web::Path<String>,
    on: IfMatch,
    body: web::Bytes,
) -> Answer {
    let (name, IfMatch(expected)) = (name.into_inner(), on);
    state
        .blocking(move |state| {
            let (tenant, now) = (&identity.tenant, state.clock.now());
            if kind == Kind::Provider {
                let provider: Provider = read(&body)?;
                check_same_name(&provider, &name)?;
                let before = state.store.entity::<Provider>(tenant, &name, None)?;
                let provider = SecretFields::load(state)?.restored(provider, before.as_ref())?;
                return Ok(state.store.put_entity_expecting(tenant, provider, now, expected).map(drop)?);
            }
            for_kind!(kind, E => {
                let entity: E = read(&body)?;
                check_same_name(&entity, &name)?;
                Ok(state.store.put_entity_expecting(tenant, entity, now, expected).map(drop)?)
            })
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

/// Refuses an entity that the path names otherwise.
///
/// # Errors
/// 400.
pub(super) fn check_same_name<E: Entity>(entity: &E, name: &str) -> Result<(), Problem> {
    let said = &entity.base().name;
    if said == name {
        return Ok(());
    }
    let detail = format!("mismatch: the path names {name:?} and the body {said:?}");
    Err(Problem::new(StatusCode::BAD_REQUEST, detail).at("name", said).with_remedy("use the same name twice"))
}

async fn delete(
    kind: Kind,
    state: State,
    identity: Identity,
    name: web::Path<String>,
    on: IfMatch,
) -> Answer {
    remove(kind, state, identity, (name.into_inner(), None), on).await
}

async fn delete_version(
    kind: Kind,
    state: State,
    identity: Identity,
    at: web::Path<(String, String)>,
    on: IfMatch,
) -> Answer {
    let (name, version) = at.into_inner();
    let version = version_number(&version)?;
    remove(kind, state, identity, (name, Some(version)), on).await
}

/// All versions of an entity, or one.
async fn remove(
    kind: Kind,
    state: State,
    identity: Identity,
    (name, version): (String, Option<u64>),
    IfMatch(expected): IfMatch,
) -> Answer {
    state
        .blocking(move |state| {
            let (store, tenant) = (&state.store, &identity.tenant);
            Ok(store.delete_entity_expecting(tenant, kind, &name, version, expected).map(drop)?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

/// Reads an entity that keeps the rules of its kind, and those of Coopr.
///
/// # Errors
/// 400 with the first fault.
pub(super) fn read<E: Entity>(body: &[u8]) -> Result<E, Problem> {
    read_value(body::value(body)?)
}

/// As [`read`], from JSON that has been read.
///
/// # Errors
/// 400 with the first fault.
pub(super) fn read_value<E: Entity>(document: Value) -> Result<E, Problem> {
    let invalid = |fault| {
        let mut problem = Problem::from(fault);
        problem.detail = format!("invalid input: {}", problem.detail);
        problem
    };
    check_presence(E::KIND, &document).map_err(invalid)?;
    let entity: E = body::from_value(document)?;
    entity.check().map_err(invalid)?;
    Ok(entity)
}

/// As it is answered.
///
/// # Errors
/// When it cannot be written as JSON.
pub(super) fn as_json<E: Entity>(entity: &E) -> Result<Value, Problem> {
    serde_json::to_value(entity).map_err(Problem::internal)
}

/// A version as it stands in a path.
///
/// # Errors
/// 400 when it is no number from 1.
pub(super) fn version_number(text: &str) -> Result<u64, Problem> {
    text.parse().ok().filter(|version| *version > 0).ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, format!("version {text:?} is not a number from 1"))
            .at("version", text)
            .with_remedy("use a version as printed, from 1")
    })
}
