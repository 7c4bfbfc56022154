//! A template merged with what it extends and includes, to be looked at.

use actix_web::{HttpResponse, web};
use cooperage_domain::entity::{ClusterTemplate, Entity, PartialTemplate};
use cooperage_domain::resolve::{Catalog, resolve};

use super::entities;
use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// `POST /v2/resolve`: a template, which need not be stored.
pub async fn post(
    state: web::Data<AppState>,
    identity: Identity,
    body: web::Bytes,
) -> Result<HttpResponse, Problem> {
    let resolved = state
        .blocking(move |state| {
            let template: ClusterTemplate = entities::read(&body)?;
            let templates = state.store.entities::<ClusterTemplate>(&identity.tenant)?;
            let partials = state.store.entities::<PartialTemplate>(&identity.tenant)?;
            let catalog = Catalog {
                templates: templates.into_iter().map(|t| (t.base.name.clone(), t)).collect(),
                partials: partials.into_iter().map(|p| (p.base.name.clone(), p)).collect(),
            };
            let mut resolved = resolve(&template, &catalog)?.template;
            resolved.base_mut().version.get_or_insert(1);
            Ok(resolved)
        })
        .await?;
    Ok(HttpResponse::Ok().json(resolved))
}
