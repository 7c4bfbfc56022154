//! Telling provisioners, over HTTP, how many workers to bring: Coopr's `PUT /v2/tenants/{id}`.

use std::collections::BTreeMap;
use std::time::Duration;

use cooperage_actors::fleet::WorkerControl;
use cooperage_domain::entity::{AutomatorType, Entity, PluginType, ProviderType, ResourceFormat};
use cooperage_domain::invalid::Invalid;
use cooperage_domain::provisioner::Provisioner;
use cooperage_domain::worker_protocol::Extension;
use cooperage_schema::{PluginSide, SUPERADMIN, Store, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use slog::{Logger, warn};
use tokio::runtime::Handle;

use crate::client_tls::{ClientFiles, with_tls};
use crate::config::ClientTls;

/// Tries before a provisioner counts as gone.
const TRIES: u32 = 2;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(500);
/// How long one try may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Reaches provisioners over HTTP.
pub struct HttpWorkerControl {
    store: Store,
    client: reqwest::Client,
    /// `http` or `https`.
    scheme: &'static str,
    runtime: Handle,
    logger: Logger,
}

impl HttpWorkerControl {
    /// Reads plugin resources from `store`; calls are made on `runtime`, with TLS when `tls` names a CA.
    ///
    /// # Errors
    /// The setting at fault.
    pub fn new(store: Store, tls: &ClientTls, runtime: Handle, logger: Logger) -> Result<Self, Invalid> {
        let names = ["tls.provisioners.ca", "tls.provisioners.certificate", "tls.provisioners.key"];
        let files = ClientFiles::of(tls, names, !tls.ca.as_os_str().is_empty());
        let builder = reqwest::Client::builder().timeout(LIMIT).connect_timeout(LIMIT).no_proxy();
        let client = with_tls(builder, files)?.build().map_err(|fault| {
            Invalid::new("tls.provisioners", "", fault.to_string(), "check its three settings")
        })?;
        let scheme = if files.is_https { "https" } else { "http" };
        Ok(Self { store, client, scheme, runtime, logger })
    }
}

impl WorkerControl for HttpWorkerControl {
    fn assign(&self, provisioner: Provisioner, tenant: String, workers: u32) -> BoxFuture<'static, bool> {
        let (store, client, logger) = (self.store.clone(), self.client.clone(), self.logger.clone());
        let scheme = self.scheme;
        let call = async move {
            let of = tenant.clone();
            let hashes = provisioner.extensions.contains(&Extension::ResourceHashes);
            let resources = tokio::task::spawn_blocking(move || resources(&store, &of, hashes)).await;
            let resources = match resources {
                Ok(Ok(resources)) => resources,
                Ok(Err(fault)) => {
                    // The provisioner is not at fault; it keeps what it has.
                    warn!(logger, "a tenant's resources cannot be read"; "tenant" => tenant, "fault" => fault.to_string());
                    return true;
                }
                Err(_) => return true,
            };
            let url = format!("{scheme}://{}:{}/v2/tenants/{tenant}", provisioner.host, provisioner.port);
            let body = json!({ "workers": workers, "resources": resources });
            put(&client, &url, &body, &logger).await
        };
        let task = self.runtime.spawn(call);
        async move { task.await.unwrap_or(true) }.boxed()
    }
}

async fn put(client: &reqwest::Client, url: &str, body: &Value, logger: &Logger) -> bool {
    for attempt in 1..=TRIES {
        let fault = match client.put(url).json(body).send().await {
            Ok(answer) if answer.status().is_success() => return true,
            Ok(answer) => format!("it answered {}", answer.status()),
            Err(fault) => fault.to_string(),
        };
        warn!(logger, "a provisioner does not take its workers"; "url" => url, "fault" => fault);
        if attempt < TRIES {
            tokio::time::sleep(PAUSE).await;
        }
    }
    false
}

/// A tenant's live plugin resources, in the shape provisioners read: side, plugin, kind, and the versions in use, with
/// their hashes for those who know what to do with them.
fn resources(store: &Store, tenant: &str, hashes: bool) -> Result<Value, StoreError> {
    let active = store.live_resources(tenant)?;
    let providers = store.entities::<ProviderType>(SUPERADMIN)?;
    let automators = store.entities::<AutomatorType>(SUPERADMIN)?;
    let of = |side: PluginSide, plugin: &PluginType| -> Map<String, Value> {
        let kind = |(name, kind): (&String, &cooperage_domain::entity::ResourceType)| {
            let live: Vec<Value> = active
                .iter()
                .filter(|one| {
                    one.of.side == side && one.of.plugin == plugin.base.name && one.of.kind == *name
                })
                .map(|one| match hashes {
                    true => json!({ "name": one.name, "version": one.version, "sha256": one.sha256 }),
                    false => json!({ "name": one.name, "version": one.version }),
                })
                .collect();
            let format = match kind.format {
                ResourceFormat::File => "file",
                ResourceFormat::Archive => "archive",
            };
            let mut shown = json!({ "format": format, "active": live });
            if let (Some(permissions), Value::Object(fields)) = (&kind.permissions, &mut shown) {
                fields.insert("permissions".to_owned(), permissions.clone().into());
            }
            (name.clone(), shown)
        };
        plugin.resource_types.iter().map(kind).collect()
    };
    let mut sides: BTreeMap<&str, BTreeMap<String, Map<String, Value>>> =
        BTreeMap::from([("automatortypes", BTreeMap::new()), ("providertypes", BTreeMap::new())]);
    for plugin in automators {
        let kinds = of(PluginSide::Automator, &plugin.0);
        sides.entry("automatortypes").or_default().insert(plugin.base().name.clone(), kinds);
    }
    for plugin in providers {
        let kinds = of(PluginSide::Provider, &plugin.0);
        sides.entry("providertypes").or_default().insert(plugin.base().name.clone(), kinds);
    }
    for plugins in sides.values_mut() {
        plugins.retain(|_, kinds| !kinds.is_empty());
    }
    Ok(json!(sides))
}
