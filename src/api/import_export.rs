//! Everything a tenant describes, as one document: written out, and put in place of what is there.

use std::collections::BTreeMap;

use actix_web::{HttpResponse, web};
use cooperage_domain::entity::{
    AutomatorType, ClusterTemplate, HardwareType, ImageType, Kind, PartialTemplate, Provider, ProviderType,
    Service,
};
use cooperage_schema::Document;
use serde_json::{Map, Value};

use super::body;
use super::entities::{self, SecretsQuery, as_json, for_kind, read_value};
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::secret_fields::SecretFields;
use super::state::AppState;

/// Routes of both.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/export", |on| on.get(export));
    routes.at("/v2/import", |on| on.post(import));
}

/// `GET /v2/export[?secrets=true]`: the newest version of everything, by kind.
async fn export(
    state: web::Data<AppState>,
    identity: Identity,
    query: web::Query<SecretsQuery>,
) -> Result<HttpResponse, Problem> {
    let exported = state
        .blocking(move |state| {
            let mut all = Map::new();
            for kind in Kind::OWNED {
                let found: Result<Vec<Value>, Problem> = if kind == Kind::Provider {
                    entities::providers(state, &identity, *query)?.iter().map(as_json).collect()
                } else {
                    for_kind!(kind, E => {
                        state.store.entities::<E>(&identity.tenant)?.iter().map(as_json).collect()
                    })
                };
                all.insert(kind.plural().to_owned(), found?.into());
            }
            Ok(all)
        })
        .await?;
    Ok(HttpResponse::Ok().json(exported))
}

/// `POST /v2/import`: an export. A kind that is not in it is emptied.
async fn import(
    state: web::Data<AppState>,
    identity: Identity,
    body: web::Bytes,
) -> Result<HttpResponse, Problem> {
    state
        .blocking(move |state| {
            let mut given: BTreeMap<String, Option<Vec<Value>>> = body::parse(&body)?;
            let mut documents = Vec::new();
            for kind in Kind::OWNED {
                let entities = given.remove(kind.plural()).flatten().unwrap_or_default();
                for (index, entity) in entities.into_iter().enumerate() {
                    let document = document(state, &identity.tenant, kind, entity);
                    documents.push(document.map_err(|mut problem| {
                        problem.detail = format!("{}[{index}]: {}", kind.plural(), problem.detail);
                        problem
                    })?);
                }
            }
            Ok(state.store.replace_entities(&identity.tenant, documents, state.clock.now())?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

fn document(state: &AppState, tenant: &str, kind: Kind, entity: Value) -> Result<Document, Problem> {
    if kind == Kind::Provider {
        let provider: Provider = read_value(entity)?;
        let before = state.store.entity::<Provider>(tenant, &provider.base.name, None)?;
        let provider = SecretFields::load(state)?.restored(provider, before.as_ref())?;
        return Ok(Document::new(provider)?);
    }
    for_kind!(kind, E => Ok(Document::new(read_value::<E>(entity)?)?))
}
