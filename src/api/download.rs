//! Giving the bytes of plugin resources to provisioners, and to the admins whose they are.

use std::fs::File;
use std::io;
use std::sync::Arc;

use actix_web::http::header::CONTENT_LENGTH;
use actix_web::{HttpResponse, web};
use cooperage_schema::{PluginSide, ResourcePath};
use futures::{Stream, stream};
use tokio::io::AsyncReadExt;

use super::entities::version_number;
use super::identity::Identity;
use super::problem::Problem;
use super::resources::{OfVersion, key};
use super::routes::Routes;
use super::state::AppState;

/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// The route, on the port for provisioners. Tenants go by their ids there.
pub fn task_routes(routes: &mut Routes<'_>) {
    for side in [PluginSide::Automator, PluginSide::Provider] {
        let path = format!(
            "/v2/tenants/{{tenant}}/{}/{{plugin}}/{{kind}}/{{name}}/versions/{{version}}",
            side.as_str()
        );
        routes.at(&path, |on| on.get(move |state, at| get(side, state, at)));
    }
}

type At = web::Path<(String, String, String, String, String)>;

async fn get(side: PluginSide, state: web::Data<AppState>, at: At) -> Result<HttpResponse, Problem> {
    let (tenant, plugin, kind, name, version) = at.into_inner();
    give(&state, ResourcePath { tenant, side, plugin, kind }, name, &version).await
}

/// `GET …/{plugin}/{kind}/{name}/versions/{version}` on the port for people: the bytes, for the tenant's admin.
pub async fn of_own(
    side: PluginSide,
    state: web::Data<AppState>,
    identity: Identity,
    at: OfVersion,
) -> Result<HttpResponse, Problem> {
    let (plugin, kind, name, version) = at.into_inner();
    give(&state, ResourcePath { tenant: identity.tenant, side, plugin, kind }, name, &version).await
}

async fn give(
    state: &Arc<AppState>,
    of: ResourcePath,
    name: String,
    version: &str,
) -> Result<HttpResponse, Problem> {
    let version = version_number(version)?;
    let (file, size) = state
        .blocking(move |state| {
            let versions = state.store.resources(&of, Some(&name))?;
            let found = versions.iter().find(|found| found.version == version);
            let missing = || Problem::not_found("plugin resource", format!("{name} version {version}"));
            let found = found.ok_or_else(missing)?;
            let file = state.resources.open(&key(found), version, &found.sha256)?.ok_or_else(missing)?;
            let size = file.metadata().map_err(Problem::internal)?.len();
            Ok((file, size))
        })
        .await?;
    Ok(HttpResponse::Ok().insert_header((CONTENT_LENGTH, size)).streaming(chunks(file)))
}

fn chunks(file: File) -> impl Stream<Item = Result<web::Bytes, io::Error>> {
    let file = tokio::fs::File::from_std(file);
    stream::try_unfold(file, |mut file| async move {
        let mut chunk = web::BytesMut::with_capacity(CHUNK);
        let read = file.read_buf(&mut chunk).await?;
        Ok((read > 0).then(|| (chunk.freeze(), file)))
    })
}
