//! Plugin resources: uploaded, staged, recalled, and put to use by a sync.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::entity::{AutomatorType, Kind, PluginType, ProviderType, is_valid_name};
use cooperage_plugins::resources::{ResourceKey, Side};
use cooperage_schema::{PluginSide, Resource, ResourcePath, ResourceStatus};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::identity::Identity;
use super::problem::Problem;
use super::state::{AppState, owner_of};

/// Largest resource that is taken, in bytes.
pub const MAX_RESOURCE: usize = 64 * 1024 * 1024;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of plugin resources.
pub fn routes(config: &mut web::ServiceConfig) {
    for side in [PluginSide::Automator, PluginSide::Provider] {
        let base = format!("/v2/plugins/{}/{{plugin}}/{{kind}}", side.as_str());
        let one = format!("{base}/{{name}}");
        let version = format!("{one}/versions/{{version}}");
        config
            .route(
                &base,
                web::get().to(move |state, identity, at, query| list(side, state, identity, at, query)),
            )
            .service(
                web::resource(&one)
                    .app_data(web::PayloadConfig::new(MAX_RESOURCE))
                    .route(
                        web::get()
                            .to(move |state, identity, at, query| list_one(side, state, identity, at, query)),
                    )
                    .route(
                        web::post()
                            .to(move |state, identity, at, body| upload(side, state, identity, at, body)),
                    ),
            )
            .route(
                &format!("{version}/stage"),
                web::post().to(move |s, i, at| turn(side, Turn::Stage, s, i, at)),
            )
            .route(
                &format!("{version}/recall"),
                web::post().to(move |s, i, at| turn(side, Turn::Recall, s, i, at)),
            );
    }
    config.route("/v2/plugins/sync", web::post().to(sync));
}

#[derive(Debug, Default, Deserialize)]
struct ListQuery {
    status: Option<String>,
}

#[derive(Clone, Copy)]
enum Turn {
    Stage,
    Recall,
}

/// The kind of resource, if the plugin has it.
fn resource_type(
    state: &AppState,
    identity: &Identity,
    side: PluginSide,
    plugin: &str,
    kind: &str,
) -> Result<ResourcePath, Problem> {
    let owner = owner_of(Kind::AutomatorType, &identity.tenant);
    let found: Option<PluginType> = match side {
        PluginSide::Automator => {
            state.store.entity::<AutomatorType>(owner, plugin, None)?.map(|found| found.0)
        }
        PluginSide::Provider => state.store.entity::<ProviderType>(owner, plugin, None)?.map(|found| found.0),
    };
    let found = found.ok_or_else(|| Problem::not_found("plugin", plugin))?;
    if !found.resource_types.contains_key(kind) {
        let known: Vec<&String> = found.resource_types.keys().collect();
        let problem = Problem::not_found("resource type", kind);
        return Err(problem.with_remedy(format!("plugin {plugin} has: {known:?}")));
    }
    Ok(ResourcePath {
        tenant: identity.tenant.clone(),
        side,
        plugin: plugin.to_owned(),
        kind: kind.to_owned(),
    })
}

fn wanted(query: &ListQuery) -> Result<Option<ResourceStatus>, Problem> {
    let Some(text) = &query.status else { return Ok(None) };
    ResourceStatus::parse(&text.to_lowercase()).map(Some).ok_or_else(|| {
        let detail = format!("status {text:?} is none of a resource");
        Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("use active, inactive, staged or recalled")
    })
}

fn shown(resource: &Resource) -> Value {
    json!({
        "name": resource.name,
        "version": resource.version,
        "status": resource.status.as_str(),
        "sha256": resource.sha256,
        "size": resource.size,
    })
}

async fn list(
    side: PluginSide,
    state: State,
    identity: Identity,
    at: web::Path<(String, String)>,
    query: web::Query<ListQuery>,
) -> Answer {
    identity.require_admin()?;
    let (plugin, kind) = at.into_inner();
    let found = state
        .blocking(move |state| {
            let status = wanted(&query)?;
            let of = resource_type(state, &identity, side, &plugin, &kind)?;
            let mut by_name = serde_json::Map::new();
            for resource in
                state.store.resources(&of, None)?.iter().filter(|r| status.is_none_or(|s| r.status == s))
            {
                let versions = by_name.entry(resource.name.clone()).or_insert_with(|| json!([]));
                if let Value::Array(versions) = versions {
                    versions.push(shown(resource));
                }
            }
            Ok(by_name)
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn list_one(
    side: PluginSide,
    state: State,
    identity: Identity,
    at: web::Path<(String, String, String)>,
    query: web::Query<ListQuery>,
) -> Answer {
    identity.require_admin()?;
    let (plugin, kind, name) = at.into_inner();
    let found: Vec<Value> = state
        .blocking(move |state| {
            let status = wanted(&query)?;
            let of = resource_type(state, &identity, side, &plugin, &kind)?;
            let versions = state.store.resources(&of, Some(&name))?;
            Ok(versions.iter().filter(|r| status.is_none_or(|s| r.status == s)).map(shown).collect())
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn upload(
    side: PluginSide,
    state: State,
    identity: Identity,
    at: web::Path<(String, String, String)>,
    body: web::Bytes,
) -> Answer {
    identity.require_admin()?;
    let (plugin, kind, name) = at.into_inner();
    if !is_valid_name(&name) || name.starts_with('.') {
        let detail = format!("resource name {name:?} is not a valid name");
        return Err(
            Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("use letters, digits, '_', '.' or '-'")
        );
    }
    let stored = state
        .blocking(move |state| {
            let of = resource_type(state, &identity, side, &plugin, &kind)?;
            let sha256 = super::identity::hex(&Sha256::digest(&body));
            let resource = state.store.add_resource(&of, &name, &sha256, body.len() as u64)?;
            state.resources.write(&key(&resource), resource.version, &body)?;
            Ok(resource)
        })
        .await?;
    Ok(HttpResponse::Ok().json(shown(&stored)))
}

async fn turn(
    side: PluginSide,
    turn: Turn,
    state: State,
    identity: Identity,
    at: web::Path<(String, String, String, String)>,
) -> Answer {
    identity.require_admin()?;
    let (plugin, kind, name, version) = at.into_inner();
    let version: u64 = version.parse().map_err(|_| {
        Problem::new(StatusCode::BAD_REQUEST, format!("version {version:?} is not a number"))
            .with_remedy("use a number")
    })?;
    state
        .blocking(move |state| {
            let of = resource_type(state, &identity, side, &plugin, &kind)?;
            match turn {
                Turn::Stage => state.store.stage_resource(&of, &name, version)?,
                Turn::Recall => state.store.recall_resource(&of, &name, version)?,
            }
            Ok(())
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

/// Puts staged versions to use and recalled ones out of it.
async fn sync(state: State, identity: Identity) -> Answer {
    identity.require_admin()?;
    state
        .blocking(move |state| {
            // Every live version before, so that those which end are known.
            let before = state.store.live_resources(&identity.tenant)?;
            let active = state.store.sync_resources(&identity.tenant)?;
            let still = |old: &Resource| active.iter().any(|new| new.of == old.of && new.name == old.name);
            for ended in before.iter().filter(|old| !still(old)) {
                state.resources.activate(&key(ended), None)?;
            }
            for resource in &active {
                state.resources.activate(&key(resource), Some(resource.version))?;
            }
            Ok(())
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

fn key(resource: &Resource) -> ResourceKey {
    ResourceKey {
        tenant: resource.of.tenant.clone(),
        side: match resource.of.side {
            PluginSide::Automator => Side::Automator,
            PluginSide::Provider => Side::Provider,
        },
        plugin: resource.of.plugin.clone(),
        kind: resource.of.kind.clone(),
        name: resource.name.clone(),
    }
}
