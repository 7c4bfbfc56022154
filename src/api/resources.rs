//! Plugin resources: listed, staged, recalled, deleted, and put to use by a sync. Their bytes come by [`super::upload`] and
//! go by [`super::download`].

use std::sync::PoisonError;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::fleet::Refresh;
use cooperage_domain::entity::{AutomatorType, Kind, PluginType, ProviderType, ResourceFormat};
use cooperage_plugins::resources::{Active, ResourceKey, Side};
use cooperage_schema::{PluginSide, Resource, ResourcePath, ResourceStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::entities::version_number;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::{AppState, owner_of};
use super::{download, plugin_types, upload};

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of plugin resources; and that of a version of a plugin type, which looks like one of them.
pub fn routes(routes: &mut Routes<'_>) {
    for side in [PluginSide::Automator, PluginSide::Provider] {
        let base = format!("/v2/plugins/{}/{{plugin}}/{{kind}}", side.as_str());
        let one = format!("{base}/{{name}}");
        let version = format!("{one}/versions/{{version}}");
        routes.at(&base, |on| {
            on.get(move |s, i, at, query| list(side, s, i, at, query))
                .delete(move |s, i, at| delete_type_version(side, s, i, at))
        });
        routes.at(&one, |on| {
            on.get(move |s, i, at, query| list_one(side, s, i, at, query))
                .post(move |s, i, at, r, p| upload::post(side, s, i, at, r, p))
                .delete(move |s, i, at| delete(side, s, i, at))
        });
        routes.at(&version, |on| {
            on.get(move |s, i, at| download::of_own(side, s, i, at))
                .delete(move |s, i, at| delete_version(side, s, i, at))
        });
        routes
            .at(&format!("{version}/stage"), |on| on.post(move |s, i, at| turn(side, Turn::Stage, s, i, at)));
        routes.at(&format!("{version}/recall"), |on| {
            on.post(move |s, i, at| turn(side, Turn::Recall, s, i, at))
        });
    }
    routes.at("/v2/plugins/sync", |on| on.post(sync));
}

/// Names a kind of resource in a path: plugin and type.
pub(super) type OfPlugin = web::Path<(String, String)>;
/// Names a resource in a path: plugin, type and name.
pub(super) type OfName = web::Path<(String, String, String)>;
/// Names a version of a resource in a path.
pub(super) type OfVersion = web::Path<(String, String, String, String)>;

#[derive(Debug, Default, Deserialize)]
struct ListQuery {
    status: Option<String>,
}

#[derive(Clone, Copy)]
enum Turn {
    Stage,
    Recall,
}

/// The kind of resource, if the plugin has it, and its format. Waits for the database.
///
/// # Errors
/// 404.
pub(super) fn resource_type(
    state: &AppState,
    identity: &Identity,
    side: PluginSide,
    plugin: &str,
    kind: &str,
) -> Result<(ResourcePath, ResourceFormat), Problem> {
    let owner = owner_of(Kind::AutomatorType, &identity.tenant);
    let found: Option<PluginType> = match side {
        PluginSide::Automator => {
            state.store.entity::<AutomatorType>(owner, plugin, None)?.map(|found| found.0)
        }
        PluginSide::Provider => state.store.entity::<ProviderType>(owner, plugin, None)?.map(|found| found.0),
    };
    let found = found.ok_or_else(|| Problem::not_found("plugin", plugin))?;
    let Some(resource_type) = found.resource_types.get(kind) else {
        let known: Vec<&String> = found.resource_types.keys().collect();
        let problem = Problem::not_found("resource type", kind);
        return Err(problem.with_remedy(format!("plugin {plugin} has: {known:?}")));
    };
    let (tenant, plugin, kind) = (identity.tenant.clone(), plugin.to_owned(), kind.to_owned());
    Ok((ResourcePath { tenant, side, plugin, kind }, resource_type.format))
}

fn wanted(query: &ListQuery) -> Result<Option<ResourceStatus>, Problem> {
    let Some(text) = &query.status else { return Ok(None) };
    ResourceStatus::parse(&text.to_lowercase()).map(Some).ok_or_else(|| {
        let detail = format!("status {text:?} is none of a resource");
        Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("use active, inactive, staged or recalled")
    })
}

/// A version as it is answered.
pub(super) fn shown(resource: &Resource) -> Value {
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
    at: OfPlugin,
    query: web::Query<ListQuery>,
) -> Answer {
    let (plugin, kind) = at.into_inner();
    let found = state
        .blocking(move |state| {
            let status = wanted(&query)?;
            let (of, _) = resource_type(state, &identity, side, &plugin, &kind)?;
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
    at: OfName,
    query: web::Query<ListQuery>,
) -> Answer {
    let (plugin, kind, name) = at.into_inner();
    let found: Vec<Value> = state
        .blocking(move |state| {
            let status = wanted(&query)?;
            let (of, _) = resource_type(state, &identity, side, &plugin, &kind)?;
            let versions = state.store.resources(&of, Some(&name))?;
            Ok(versions.iter().filter(|r| status.is_none_or(|s| r.status == s)).map(shown).collect())
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn delete(side: PluginSide, state: State, identity: Identity, at: OfName) -> Answer {
    let (plugin, kind, name) = at.into_inner();
    state
        .blocking(move |state| {
            let (of, _) = resource_type(state, &identity, side, &plugin, &kind)?;
            let versions = state.store.resources(&of, Some(&name))?;
            state.store.delete_resources(&of, &name)?;
            versions.iter().try_for_each(|version| forget_bytes(state, version))
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

/// One that is not there is no fault.
async fn delete_version(side: PluginSide, state: State, identity: Identity, at: OfVersion) -> Answer {
    let (plugin, kind, name, version) = at.into_inner();
    let version = version_number(&version)?;
    state
        .blocking(move |state| {
            let (of, _) = resource_type(state, &identity, side, &plugin, &kind)?;
            let versions = state.store.resources(&of, Some(&name))?;
            let Some(found) = versions.iter().find(|found| found.version == version) else { return Ok(()) };
            state.store.delete_resource(&of, &name, version)?;
            forget_bytes(state, found)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

fn forget_bytes(state: &AppState, version: &Resource) -> Result<(), Problem> {
    Ok(state.resources.remove(&key(version), version.version)?)
}

async fn delete_type_version(side: PluginSide, state: State, identity: Identity, at: OfPlugin) -> Answer {
    let (plugin, version) = at.into_inner();
    let kind = match side {
        PluginSide::Automator => Kind::AutomatorType,
        PluginSide::Provider => Kind::ProviderType,
    };
    plugin_types::delete(kind, state, identity, plugin, Some(version)).await
}

async fn turn(side: PluginSide, turn: Turn, state: State, identity: Identity, at: OfVersion) -> Answer {
    let (plugin, kind, name, version) = at.into_inner();
    let version = version_number(&version)?;
    state
        .blocking(move |state| {
            let (of, _) = resource_type(state, &identity, side, &plugin, &kind)?;
            match turn {
                Turn::Stage => state.store.stage_resource(&of, &name, version)?,
                Turn::Recall => state.store.recall_resource(&of, &name, version)?,
            }
            Ok(())
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

async fn sync(state: State, identity: Identity) -> Answer {
    let tenant = identity.tenant.clone();
    state.blocking(move |state| synchronise(state, &identity.tenant)).await?;
    state.fleet.do_send(Refresh { tenant });
    Ok(HttpResponse::Ok().finish())
}

/// Puts a tenant's staged versions to use and recalled ones out of it. Waits for the database and the disk.
///
/// # Errors
/// When one of them refuses.
pub(super) fn synchronise(state: &AppState, tenant: &str) -> Result<(), Problem> {
    // One after the other: what the database says last must be what the disk says last.
    let _turn = state.sync_turn.lock().unwrap_or_else(PoisonError::into_inner);
    // Every live version before, so that those which end are known.
    let before = state.store.live_resources(tenant)?;
    let active = state.store.sync_resources(tenant)?;
    let still = |old: &Resource| active.iter().any(|new| new.of == old.of && new.name == old.name);
    for ended in before.iter().filter(|old| !still(old)) {
        state.resources.activate(&key(ended), None)?;
    }
    for resource in &active {
        state.resources.activate(&key(resource), Some(&in_use(resource)))?;
    }
    Ok(())
}

/// What tells plugins that a version is in use.
pub fn in_use(resource: &Resource) -> Active {
    Active { version: resource.version, sha256: resource.sha256.clone() }
}

/// Where the bytes of a resource are.
pub fn key(resource: &Resource) -> ResourceKey {
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
