//! The way to the server, over HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cooperage_actors::agent::{LinkFault, Reply, ServerLink};
use cooperage_domain::invalid::Invalid;
use cooperage_domain::task::TaskOrder;
use cooperage_domain::worker_protocol::{
    Extension, Finished, Granted, LinesTaken, OutputBatch, OutputTaken, TakeBatch, Taken, TakenTask,
    Unwanted, WantedResource, Watch,
};
use futures::{FutureExt, StreamExt};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::client_tls::{ClientFiles, with_tls};
use crate::config::RemoteProvisioner;

/// Longest time an ordinary answer may take.
const LIMIT: Duration = Duration::from_secs(20);
/// Longest time the server may take to make a report durable.
const FINISH_LIMIT: Duration = Duration::from_secs(60);
/// Longest time between two pieces of an answer. Longer than the server waits for tasks.
const SILENCE: Duration = Duration::from_secs(40);
/// Connections are not used again after this pause, so that none is that the server is just closing.
const IDLE: Duration = Duration::from_secs(3);
/// How much of a refusal is shown, in characters.
const SHOWN: usize = 300;

/// The server, for one provisioner.
#[derive(Clone)]
pub struct HttpLink {
    client: Client,
    base: String,
    id: String,
    host: String,
    port: u16,
}

/// The client for everything this provisioner asks its server: it tells the server from others, and shows who it is.
///
/// # Errors
/// The setting at fault.
pub fn client(own: &RemoteProvisioner) -> Result<Client, Invalid> {
    let names = ["provisioner.tls.ca", "provisioner.tls.certificate", "provisioner.tls.key"];
    let files = ClientFiles::of(&own.tls, names, own.server.starts_with("https:"));
    let builder = Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(SILENCE)
        .pool_idle_timeout(IDLE)
        .tcp_keepalive(Duration::from_secs(15))
        .default_headers(token(&own.token_file)?)
        .no_proxy();
    let broken = |fault: reqwest::Error| {
        Invalid::new("provisioner.tls", "", fault.to_string(), "check its three settings")
    };
    with_tls(builder, files)?.build().map_err(broken)
}

/// The header with the token in a file, if one is named.
fn token(file: &Path) -> Result<HeaderMap, Invalid> {
    let mut headers = HeaderMap::new();
    if !file.as_os_str().is_empty() {
        let wrong = |fault: String| {
            let remedy = "name a file that holds a token of the role provisioner";
            Invalid::new("provisioner.token_file", file.display(), fault, remedy)
        };
        let text =
            std::fs::read_to_string(file).map_err(|fault| wrong(format!("cannot be read: {fault}")))?;
        let mut value = HeaderValue::from_str(&format!("Bearer {}", text.trim()))
            .map_err(|_| wrong("holds no token".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

impl HttpLink {
    /// To the server at `base`, in the name of the provisioner `id`, which listens at `host` and `port`.
    pub fn new(client: Client, base: &str, id: String, host: String, port: u16) -> Self {
        Self { client, base: base.trim_end_matches('/').to_owned(), id, host, port }
    }

    /// Only Coopr's servers look at the headers.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base));
        request.header("Coopr-UserID", "admin").timeout(LIMIT)
    }

    fn own_path(&self) -> String {
        format!("/v2/provisioners/{}", self.id)
    }

    /// Writes the bytes of a plugin resource to `draft`.
    ///
    /// # Errors
    /// When they cannot be had, in words.
    pub async fn download(
        &self,
        tenant: &str,
        wanted: &WantedResource,
        draft: &PathBuf,
    ) -> Result<(), String> {
        let WantedResource { side, plugin, kind, version } = wanted;
        let (name, number) = (&version.name, version.version);
        let path = format!("/v2/tenants/{tenant}/{side}/{plugin}/{kind}/{name}/versions/{number}");
        // However long it takes, as long as something comes.
        let request =
            self.request(Method::GET, &path).timeout(Duration::MAX).header("Coopr-TenantID", tenant);
        let answer = checked(request).await.map_err(|fault| fault.to_string())?;
        let in_words = |fault: std::io::Error| format!("{}: {fault}", draft.display());
        let mut file = tokio::fs::File::create(draft).await.map_err(in_words)?;
        let mut bytes = answer.bytes_stream();
        while let Some(piece) = bytes.next().await {
            let piece = piece.map_err(|fault| format!("the download broke off: {fault}"))?;
            file.write_all(&piece).await.map_err(in_words)?;
        }
        file.sync_all().await.map_err(in_words)
    }
}

/// Asks, and sorts out what is no success.
async fn checked(request: RequestBuilder) -> Result<Response, LinkFault> {
    let answer = request.send().await.map_err(|fault| LinkFault::Away(chain(&fault)))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let text = answer.text().await.unwrap_or_default();
    let said = format!("{status}: {}", text.trim().chars().take(SHOWN).collect::<String>());
    let later = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS].contains(&status);
    Err(if status.is_server_error() || later { LinkFault::Away(said) } else { LinkFault::Refused(said) })
}

/// A fault with what caused it, which alone often says nothing.
fn chain(fault: &dyn std::error::Error) -> String {
    let mut text = fault.to_string();
    let mut source = fault.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Asks as a registered provisioner: 403 and 404 say that it is none (any more).
async fn known(request: RequestBuilder) -> Result<Response, LinkFault> {
    checked(request).await.map_err(|fault| match fault {
        LinkFault::Refused(said) if said.starts_with("403") || said.starts_with("404") => {
            LinkFault::Forgotten
        }
        fault => fault,
    })
}

async fn read<T: serde::de::DeserializeOwned>(answer: Response) -> Result<T, LinkFault> {
    answer.json().await.map_err(|fault| LinkFault::Away(chain(&fault)))
}

impl ServerLink for HttpLink {
    fn register(&self, capacity: u32, draining: bool) -> Reply<BTreeSet<Extension>> {
        let mut body = json!({
            "id": self.id, "host": self.host, "port": self.port, "capacityTotal": capacity,
            "extensions": Extension::ALL,
        });
        if let (true, Value::Object(fields)) = (draining, &mut body) {
            fields.insert("draining".to_owned(), true.into());
        }
        let request = self.request(Method::PUT, &self.own_path()).json(&body);
        async move {
            let answer = checked(request).await?;
            let text = answer.text().await.map_err(|fault| LinkFault::Away(chain(&fault)))?;
            // A server that knows of no extensions answers with nothing, or with something of its own.
            Ok(serde_json::from_str::<Granted>(&text).unwrap_or_default().extensions)
        }
        .boxed()
    }

    fn beat(&self, usage: BTreeMap<String, u32>) -> Reply<()> {
        let path = format!("{}/heartbeat", self.own_path());
        let request = self.request(Method::POST, &path).json(&json!({ "usage": usage }));
        async move { known(request).await.map(drop) }.boxed()
    }

    fn deregister(&self) -> Reply<()> {
        let request = self.request(Method::DELETE, &self.own_path());
        async move { checked(request).await.map(drop) }.boxed()
    }

    fn take(&self, tenant: String, worker: String) -> Reply<Option<TaskOrder>> {
        let body = json!({"provisionerId": self.id, "workerId": worker, "tenantId": tenant});
        let request = self.request(Method::POST, "/v2/tasks/take").json(&body);
        async move {
            let answer = known(request).await?;
            if answer.status() == StatusCode::NO_CONTENT {
                return Ok(None);
            }
            read(answer).await.map(Some)
        }
        .boxed()
    }

    fn take_batch(&self, batch: TakeBatch) -> Reply<Vec<TakenTask>> {
        let limit = LIMIT + Duration::from_secs(batch.wait_seconds.into());
        let request = self.request(Method::POST, "/v2/tasks/take/batch").timeout(limit).json(&batch);
        async move { Ok(read::<Taken>(known(request).await?).await?.tasks) }.boxed()
    }

    fn finish(&self, finished: Finished) -> Reply<()> {
        let request = self.request(Method::POST, "/v2/tasks/finish").timeout(FINISH_LIMIT).json(&finished);
        async move {
            match checked(request).await {
                Err(LinkFault::Refused(said)) if said.starts_with("403") => Err(LinkFault::Forgotten),
                answer => answer.map(drop),
            }
        }
        .boxed()
    }

    fn output(&self, batch: OutputBatch) -> Reply<Vec<LinesTaken>> {
        let request = self.request(Method::POST, "/v2/tasks/output").json(&batch);
        async move { Ok(read::<OutputTaken>(known(request).await?).await?.taken) }.boxed()
    }

    fn watch(&self, watch: Watch) -> Reply<Unwanted> {
        let limit = LIMIT + Duration::from_secs(watch.wait_seconds.into());
        let request = self.request(Method::POST, "/v2/tasks/watch").timeout(limit).json(&watch);
        async move { read(known(request).await?).await }.boxed()
    }
}
