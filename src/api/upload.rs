//! Taking a plugin resource: written to disk and hashed as it comes in, and known only when it is complete.

use std::io;

use actix_web::dev::Decompress;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::{HttpRequest, HttpResponse, web};
use cooperage_domain::entity::is_valid_name;
use cooperage_schema::{PluginSide, Resource, ResourcePath, ResourceStatus};
use futures::StreamExt;
use sha2::{Digest, Sha256};
use tempfile::{NamedTempFile, TempPath};
use tokio::io::AsyncWriteExt;

use super::identity::{Identity, hex};
use super::problem::Problem;
use super::resources::{OfName, key, resource_type, shown};
use super::state::AppState;

/// Largest resource that is taken, in bytes.
pub const MAX_RESOURCE: u64 = 1 << 30;

/// `POST …/{plugin}/{type}/{name}`: a new version, inactive.
pub async fn post(
    side: PluginSide,
    state: web::Data<AppState>,
    identity: Identity,
    at: OfName,
    request: HttpRequest,
    body: web::Payload,
) -> Result<HttpResponse, Problem> {
    identity.require_admin()?;
    let (plugin, kind, name) = at.into_inner();
    check_name(&name)?;
    check_announced(&request)?;
    let (of, draft) = state
        .blocking(move |state| {
            let of = resource_type(state, &identity, side, &plugin, &kind)?;
            let drafts = state.resources.drafts()?;
            Ok((of, NamedTempFile::new_in(drafts).map_err(Problem::internal)?))
        })
        .await?;
    let body = Decompress::from_headers(body, request.headers());
    let received = receive(draft, body).await?;
    let stored = state.blocking(move |state| keep(state, of, name, &received)).await?;
    Ok(HttpResponse::Ok().json(shown(&stored)))
}

fn check_name(name: &str) -> Result<(), Problem> {
    if is_valid_name(name) && !name.starts_with('.') {
        return Ok(());
    }
    Err(Problem::new(StatusCode::BAD_REQUEST, format!("resource name {name:?} is not a valid name"))
        .at("name", name)
        .with_remedy("use letters, digits, '_', '.' or '-', and no '.' first"))
}

/// Refuses at once what says itself that it is too large.
fn check_announced(request: &HttpRequest) -> Result<(), Problem> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > MAX_RESOURCE) { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> Problem {
    let detail = format!("the resource is larger than {MAX_RESOURCE} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
        .with_remedy("split it, or let it be fetched by a script")
}

/// A complete body on disk; removed unless it is kept.
struct Received {
    file: TempPath,
    sha256: String,
    size: u64,
}

async fn receive(draft: NamedTempFile, mut body: Decompress<web::Payload>) -> Result<Received, Problem> {
    let (file, path) = draft.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|fault| {
            Problem::new(StatusCode::BAD_REQUEST, format!("the resource did not arrive completely: {fault}"))
                .with_remedy("send it again")
        })?;
        size += chunk.len() as u64;
        if size > MAX_RESOURCE {
            return Err(too_large());
        }
        hash.update(&chunk);
        file.write_all(&chunk).await.map_err(|fault| not_written(&fault))?;
    }
    file.sync_all().await.map_err(|fault| not_written(&fault))?;
    Ok(Received { file: path, sha256: hex(&hash.finalize()), size })
}

fn not_written(fault: &io::Error) -> Problem {
    let detail = format!("the resource cannot be kept: {fault}");
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail).with_remedy("free some space in data_dir")
}

/// The bytes are in their place before anybody can know of the version.
fn keep(state: &AppState, of: ResourcePath, name: String, received: &Received) -> Result<Resource, Problem> {
    let version = state.store.number_resource(&of, &name)?;
    let resource = Resource {
        of,
        name,
        version,
        status: ResourceStatus::Inactive,
        sha256: received.sha256.clone(),
        size: received.size,
    };
    state.resources.place(&key(&resource), version, &received.file)?;
    state.store.add_resource(resource.clone())?;
    Ok(resource)
}
