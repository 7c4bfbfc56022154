//! Plugin resources from the server: each version is downloaded once, checked, and kept under its hash.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cooperage_actors::agent::{Prepared, Supplies};
use cooperage_domain::worker_protocol::{Resources, WantedResource};
use cooperage_plugins::PluginSet;
use cooperage_plugins::resources::{PluginResources, ResourceKey, Side};
use cooperage_plugins::snapshots::{Pinned, SnapshotError, SnapshotStore};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use slog::{Logger, info};
use uuid::Uuid;

use super::http_link::HttpLink;
use crate::server::plugins::Installed;

/// Downloads at the same time.
const AT_ONCE: usize = 4;

/// Names one resource of a tenant: side, plugin, kind, name.
type Name = (String, String, String, String);

/// Gets plugin resources from the server.
#[derive(Clone)]
pub struct Downloads(Arc<Inner>);

struct Inner {
    link: HttpLink,
    store: SnapshotStore,
    plugins: Installed,
    logger: Logger,
    /// Blobs this process has found undamaged.
    checked: Mutex<HashSet<String>>,
    /// What each tenant's last snapshot held: used on when something newer cannot be had.
    last: Mutex<HashMap<String, BTreeMap<Name, Pinned>>>,
}

impl Downloads {
    /// From the server behind `link`, into `store`.
    pub fn new(link: HttpLink, store: SnapshotStore, plugins: Installed, logger: Logger) -> Self {
        let (checked, last) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { link, store, plugins, logger, checked, last }))
    }

    /// Plugins without resources, for tenants nothing is known of.
    #[must_use]
    pub fn bare_plugins(&self) -> Arc<PluginSet> {
        self.0.bare_plugins()
    }
}

impl Supplies for Downloads {
    fn prepare(&self, tenant: String, wanted: Resources) -> BoxFuture<'static, Prepared> {
        let inner = Arc::clone(&self.0);
        async move { inner.prepare(tenant, wanted.versions()).await }.boxed()
    }
}

impl Inner {
    fn bare_plugins(&self) -> Arc<PluginSet> {
        self.plugins.with_resources(&PluginResources::local(&self.store.drafts().join("none")))
    }

    async fn prepare(self: Arc<Self>, tenant: String, wanted: Vec<WantedResource>) -> Prepared {
        let gets = wanted.into_iter().map(|one| {
            let (inner, tenant) = (Arc::clone(&self), tenant.clone());
            async move {
                let got = inner.get(&tenant, &one).await;
                (one, got)
            }
        });
        let got: Vec<_> = stream::iter(gets).buffer_unordered(AT_ONCE).collect().await;
        let mut faults = Vec::new();
        let mut pinned = BTreeMap::new();
        let before = lock(&self.last).get(&tenant).cloned().unwrap_or_default();
        for (one, got) in got {
            let name = name(&one);
            let kept = got.map(Some).unwrap_or_else(|fault| {
                let earlier = before.get(&name).cloned();
                faults.push(told(&one, &fault, earlier.as_ref()));
                earlier
            });
            pinned.extend(kept.map(|kept| (name, kept)));
        }
        match self.snapshot(&tenant, pinned).await {
            Ok(plugins) => Prepared { plugins, faults },
            Err(fault) => {
                faults.push(fault);
                let earlier = self.snapshot(&tenant, before).await;
                Prepared { plugins: earlier.unwrap_or_else(|_| self.bare_plugins()), faults }
            }
        }
    }

    /// The bytes of a version are there, and are what was announced.
    async fn get(&self, tenant: &str, wanted: &WantedResource) -> Result<Pinned, String> {
        let pinned =
            |sha256| Ok(Pinned { key: key(tenant, wanted)?, version: wanted.version.version, sha256 });
        if let Some(sha256) = &wanted.version.sha256
            && self.holds(sha256).await?
        {
            return pinned(sha256.clone());
        }
        let draft = self.store.drafts().join(Uuid::new_v4().to_string());
        let kept = match self.link.download(tenant, wanted, &draft).await {
            Ok(()) => self.keep(draft.clone(), wanted.version.sha256.clone()).await,
            Err(fault) => Err(fault),
        };
        if kept.is_err() {
            // It may never have been made.
            let _ = tokio::fs::remove_file(&draft).await;
        }
        let sha256 = kept?;
        info!(self.logger, "plugin resource downloaded"; "tenant" => tenant, "plugin" => &wanted.plugin,
            "kind" => &wanted.kind, "name" => &wanted.version.name, "version" => wanted.version.version,
            "sha256" => &sha256);
        lock(&self.checked).insert(sha256.clone());
        pinned(sha256)
    }

    /// Blobs are looked at once in the life of the process.
    async fn holds(&self, sha256: &str) -> Result<bool, String> {
        if lock(&self.checked).contains(sha256) {
            return Ok(true);
        }
        let (store, hash) = (self.store.clone(), sha256.to_owned());
        let holds = blocking(move || store.holds(&hash)).await?;
        if holds {
            lock(&self.checked).insert(sha256.to_owned());
        }
        Ok(holds)
    }

    async fn keep(&self, draft: PathBuf, announced: Option<String>) -> Result<String, String> {
        let store = self.store.clone();
        blocking(move || store.keep(&draft, announced.as_deref())).await
    }

    async fn snapshot(&self, tenant: &str, pinned: BTreeMap<Name, Pinned>) -> Result<Arc<PluginSet>, String> {
        let (store, all) = (self.store.clone(), pinned.values().cloned().collect::<Vec<_>>());
        let resources = blocking(move || store.snapshot(&all)).await?;
        lock(&self.last).insert(tenant.to_owned(), pinned);
        Ok(self.plugins.with_resources(&resources))
    }
}

/// Whoever panicked while it was held left whole entries behind.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SnapshotError> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|fault| fault.to_string()),
        Err(fault) => Err(format!("it broke off: {fault}")),
    }
}

fn name(wanted: &WantedResource) -> Name {
    let WantedResource { side, plugin, kind, version } = wanted;
    (side.clone(), plugin.clone(), kind.clone(), version.name.clone())
}

fn key(tenant: &str, wanted: &WantedResource) -> Result<ResourceKey, String> {
    let sides = [Side::Automator, Side::Provider];
    let side = sides.into_iter().find(|side| side.as_str() == wanted.side);
    let side = side.ok_or_else(|| format!("{:?} is no side of plugins", wanted.side))?;
    let (plugin, kind, name) = (wanted.plugin.clone(), wanted.kind.clone(), wanted.version.name.clone());
    Ok(ResourceKey { tenant: tenant.to_owned(), side, plugin, kind, name })
}

/// What is wrong with a version, and what tasks get instead.
fn told(wanted: &WantedResource, fault: &str, instead: Option<&Pinned>) -> String {
    let WantedResource { plugin, kind, version, .. } = wanted;
    let instead = match instead {
        Some(earlier) if earlier.version == version.version => "its earlier copy stays in use".to_owned(),
        Some(earlier) => format!("version {} stays in use", earlier.version),
        None => "tasks that need it fail".to_owned(),
    };
    format!("{plugin}/{kind}/{} version {}: {fault}; {instead}", version.name, version.version)
}
