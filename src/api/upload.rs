//! Taking a plugin resource: written to disk and hashed as it comes in, and known only when it is complete.

use std::fs::File;
use std::io;

use actix_web::dev::Decompress;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::{HttpRequest, HttpResponse, web};
use cooperage_domain::entity::{ResourceFormat, is_valid_name};
use cooperage_plugins::resources::{ArchiveLimits, archive};
use cooperage_schema::{PluginSide, Resource, ResourcePath, ResourceStatus};
use futures::StreamExt;
use sha2::{Digest, Sha256};
use tempfile::{NamedTempFile, TempPath};
use tokio::io::AsyncWriteExt;

use super::identity::{Identity, hex};
use super::problem::Problem;
use super::resources::{OfName, key, resource_type, shown};
use super::state::AppState;

/// `POST …/{plugin}/{type}/{name}`: a new version, inactive.
pub async fn post(
    side: PluginSide,
    state: web::Data<AppState>,
    identity: Identity,
    at: OfName,
    request: HttpRequest,
    body: web::Payload,
) -> Result<HttpResponse, Problem> {
    let (plugin, kind, name) = at.into_inner();
    check_name(&name)?;
    let limit = state.settings.resources.max_upload_bytes();
    check_announced(&request, limit)?;
    let (of, format, draft) = state
        .blocking(move |state| {
            let (of, format) = resource_type(state, &identity, side, &plugin, &kind)?;
            let drafts = state.resources.drafts()?;
            Ok((of, format, NamedTempFile::new_in(drafts).map_err(Problem::internal)?))
        })
        .await?;
    let body = Decompress::from_headers(body, request.headers());
    let received = receive(draft, body, limit).await?;
    let stored = state.blocking(move |state| {
        if format == ResourceFormat::Archive {
            check_archive(&received, &state.settings.resources.archives())?;
        }
        keep(state, of, name, &received)
    });
    let stored = stored.await?;
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
fn check_announced(request: &HttpRequest, limit: u64) -> Result<(), Problem> {
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match length {
        Some(length) if length > limit => Err(too_large(&length.to_string(), limit)),
        _ => Ok(()),
    }
}

fn too_large(size: &str, limit: u64) -> Problem {
    let detail = format!("the resource has {size} bytes, {limit} are allowed");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail).at("size", size).with_remedy(
        "split it, let a script fetch it, or have the administrator raise resources.max_upload_mb",
    )
}

/// Refuses archives that are none, that would leave their folder, or that unpack to too much.
fn check_archive(received: &Received, limits: &ArchiveLimits) -> Result<(), Problem> {
    let file = File::open(&received.file).map_err(Problem::internal)?;
    archive::check(file, limits).map(drop).map_err(|fault| {
        let entry = fault.entry.clone().unwrap_or_default();
        Problem::new(StatusCode::BAD_REQUEST, fault.to_string())
            .at("archive", entry)
            .with_remedy(fault.remedy)
    })
}

/// A complete body on disk; removed unless it is kept.
struct Received {
    file: TempPath,
    sha256: String,
    size: u64,
}

async fn receive(
    draft: NamedTempFile,
    mut body: Decompress<web::Payload>,
    limit: u64,
) -> Result<Received, Problem> {
    let (file, path) = draft.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|fault| {
            Problem::new(StatusCode::BAD_REQUEST, format!("the resource did not arrive completely: {fault}"))
                .with_remedy("send it again")
        })?;
        size += chunk.len() as u64;
        if size > limit {
            return Err(too_large(&format!("more than {limit}"), limit));
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
