//! What a server does once, or sees to at every start: its plugins are known, and somebody can log in.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use cooperage_actors::clock::Clock;
use cooperage_domain::access::Role;
use cooperage_plugins::PluginSet;
use cooperage_schema::{Document, SUPERADMIN, Store, StoreError, Token};
use slog::{Logger, info, warn};
use uuid::Uuid;

use super::ServeError;
use crate::api::{hash, new_secret};

/// Stores the descriptors of the plugins, for forms and checks.
///
/// # Errors
/// When the database refuses.
pub fn register(store: &Store, plugins: &PluginSet, clock: &dyn Clock) -> Result<(), StoreError> {
    let providers = plugins.provider_types().into_iter().map(Document::new);
    let automators = plugins.automator_types().into_iter().map(Document::new);
    let documents = providers.chain(automators).collect::<Result<Vec<_>, _>>()?;
    store.put_entities(SUPERADMIN, documents, clock.now()).map(drop)
}

/// Seals secrets that are stored in clear: those of earlier releases, and of fields that a plugin has only now marked.
///
/// # Errors
/// When the database refuses, or the key file is the wrong one.
pub fn seal_stored(store: &Store, logger: &Logger) -> Result<(), StoreError> {
    let sealed = store.seal_stored()?;
    if let Some(fault) = &sealed.unscrubbed {
        warn!(logger, "files of the database may still hold secrets in clear; the next start tries again to scrub them";
            "fault" => fault.to_string());
    }
    if sealed.providers + sealed.clusters + sealed.journals > 0 {
        info!(logger, "secrets that were stored in clear are sealed now"; "providers" => sealed.providers,
            "clusters" => sealed.clusters, "journals" => sealed.journals);
    }
    Ok(())
}

/// Makes a token for the superadmin when there is none, and keeps it in a file that only the server's user may read.
///
/// # Errors
/// When the database or the disk refuses.
pub fn make_admin_token(
    store: &Store,
    data_dir: &Path,
    clock: &dyn Clock,
    logger: &Logger,
) -> Result<(), ServeError> {
    if !store.tokens(SUPERADMIN)?.is_empty() {
        return Ok(());
    }
    let path = data_dir.join("admin.token");
    let secret = new_secret();
    let write = || {
        let mut file =
            fs::OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path)?;
        writeln!(file, "{secret}")?;
        file.sync_all()
    };
    write().map_err(|source| ServeError::DataDir { path: path.clone(), source })?;
    store.add_token(Token {
        id: Uuid::now_v7().to_string(),
        hash: hash(&secret),
        tenant: SUPERADMIN.to_owned(),
        user: "admin".to_owned(),
        role: Role::Superadmin,
        created_ms: clock.now(),
        expires_ms: None,
        revoked_ms: None,
        label: "made by the first start".to_owned(),
        scopes: BTreeSet::new(),
    })?;
    info!(logger, "a token for the superadmin was made"; "file" => path.display().to_string());
    Ok(())
}
