//! Where plugin resources are kept, as the settings say.

use cooperage_plugins::resources::PluginResources;
use cooperage_schema::{SUPERADMIN, Store};
use slog::{Logger, info};
use tokio::runtime::Runtime;

use super::ServeError;
#[cfg(feature = "s3")]
use super::bucket::open as bucket;
use crate::api::{in_use, resource_key};
use crate::config::{ResourcePlace, Settings};

/// Opens it, and removes drafts of uploads that a server which was killed left.
///
/// # Errors
/// When a setting has a fault, or the place cannot be used.
pub fn open(
    settings: &Settings,
    store: &Store,
    runtime: &Runtime,
    logger: &Logger,
) -> Result<PluginResources, ServeError> {
    let folder = settings.data_dir.join("resources");
    let resources = match settings.resources.store {
        ResourcePlace::Local => PluginResources::local(&folder),
        ResourcePlace::S3 => bucket(settings, &folder, runtime)?,
    };
    let swept = resources.sweep_drafts()?;
    if swept > 0 {
        info!(logger, "uploads that were broken off were removed"; "files" => swept);
    }
    if settings.resources.store == ResourcePlace::Local {
        mark_active(store, &resources)?;
    }
    Ok(resources)
}

/// Builds without buckets say so.
#[cfg(not(feature = "s3"))]
fn bucket(_: &Settings, _: &std::path::Path, _: &Runtime) -> Result<PluginResources, ServeError> {
    let remedy = "use \"local\", or a build with the feature s3";
    Err(cooperage_domain::invalid::Invalid::new("resources.store", "s3", "is not part of this build", remedy)
        .into())
}

/// Tells again which versions are in use: the database knows, also after the folder came back from a backup or was written
/// by an earlier version.
fn mark_active(store: &Store, resources: &PluginResources) -> Result<(), ServeError> {
    let tenants = store.tenants()?.into_iter().map(|tenant| tenant.id);
    for tenant in tenants.chain([SUPERADMIN.to_owned()]) {
        for resource in store.live_resources(&tenant)? {
            let (key, wanted) = (resource_key(&resource), in_use(&resource));
            // What cannot be read there is written anew.
            if resources.active(&key).ok().flatten().as_ref() != Some(&wanted) {
                resources.activate(&key, Some(&wanted))?;
            }
        }
    }
    Ok(())
}
