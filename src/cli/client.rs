//! Speaking to a server over HTTP.

use std::time::Duration;

use reqwest::{Certificate, Method, RequestBuilder, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use uuid::Uuid;

use super::connection::Connection;
use super::problem::Problem;

/// How long a server may take to accept a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// A WebSocket to the server, by the client's own connection.
pub type WebSocket = WebSocketStream<reqwest::Upgraded>;

/// How long it may take to answer: a layout of many machines takes seconds, an upload may be large.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

/// How long a WebSocket may stay open.
const UPGRADED_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Pauses before a request is sent again.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_millis(1_000),
    Duration::from_millis(2_000),
];

/// Why there is no answer, or none to use.
#[derive(Debug, thiserror::Error)]
pub enum ClientFault {
    /// Nobody answers.
    #[error("no server answers at {server}: {reason}")]
    Unreachable {
        /// Its address.
        server: String,
        /// What the network says.
        reason: String,
    },
    /// Somebody answers whom nobody that we trust vouches for.
    #[error("the server at {server} is not to be trusted: {reason}")]
    Untrusted {
        /// Its address.
        server: String,
        /// What is wrong with its certificate.
        reason: String,
    },
    /// The server refuses.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// The answer is not what this program understands.
    #[error("the answer to {path} is not what was expected: {reason}")]
    NotUnderstood {
        /// What was asked for.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl ClientFault {
    /// The HTTP status of a refusal.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(problem) => Some(problem.status),
            Self::Unreachable { .. } | Self::Untrusted { .. } | Self::NotUnderstood { .. } => None,
        }
    }

    /// Whether the same request may succeed a little later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. }) || self.status() == Some(503)
    }

    /// Whether the same request, sent before, has not been answered yet.
    fn is_under_way(&self) -> bool {
        let of_key =
            |problem: &Problem| problem.status == 409 && problem.field.as_deref() == Some("Idempotency-Key");
        matches!(self, Self::Refused(problem) if of_key(problem))
    }

    /// What to do, where the fault does not say it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Untrusted { .. } => Some(
                "name the file of the authority that vouches for it with --ca-file, or use the name its \
                 certificate is for"
                    .to_owned(),
            ),
            Self::Unreachable { reason, server } => {
                Some(remedy_for(reason, server.starts_with("https:")).to_owned())
            }
            Self::Refused(problem) if problem.status == StatusCode::UNAUTHORIZED.as_u16() => Some(
                "give the token in COOPERAGE_TOKEN, or its file with --token-file (on the server's host: \
                 DATA_DIR/admin.token)"
                    .to_owned(),
            ),
            Self::Refused(_) => None,
            Self::NotUnderstood { .. } => {
                Some("is it a Cooperage server, of the same version as this program?".to_owned())
            }
        }
    }
}

/// What the network says tells what is missing.
fn remedy_for(reason: &str, is_secure: bool) -> &'static str {
    let says = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    if says(&["CertificateRequired", "BadCertificate", "UnknownCA", "CertificateUnknown", "AccessDenied"]) {
        "the server wants a certificate that it trusts: give --client-certificate and --client-key"
    } else if says(&["UnknownIssuer", "CaUsedAsEndEntity", "unknown issuer", "No CA certificates"]) {
        "give the CA of the server's certificate with --ca-file"
    } else if says(&["invalid peer certificate"]) {
        "the server needs another certificate: it is expired, or made for another name"
    } else if says(&["InvalidContentType", "corrupt message", "InvalidMessage"]) {
        "the server speaks no TLS: use http:// in --server"
    } else if is_secure && says(&["connection closed", "reset by peer", "broken pipe", "Broken pipe"]) {
        "it hung up: if the server wants a certificate, give --client-certificate and --client-key"
    } else if says(&["connection closed before", "invalid HTTP", "reset by peer"]) {
        "does the server speak TLS? use https:// in --server then; or start one with `cooperage serve`"
    } else {
        "start one with `cooperage serve`, or name another with --server or --context"
    }
}

/// A server that can be asked.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    connection: Connection,
}

impl Client {
    /// Does not connect yet.
    ///
    /// # Errors
    /// When the system lets no client be made.
    pub fn new(connection: Connection) -> Result<Self, ClientFault> {
        Self::within(connection, ANSWER_LIMIT)
    }

    /// The same, for a server that may take no longer than `limit` to answer.
    ///
    /// # Errors
    /// When the system lets no client be made, or the certificates are none.
    pub fn within(connection: Connection, limit: Duration) -> Result<Self, ClientFault> {
        // As `main` does it; tests come here by themselves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = reqwest::Client::builder().connect_timeout(CONNECT_LIMIT.min(limit)).timeout(limit);
        let builder = if connection.is_local() { builder.no_proxy() } else { builder };
        let failed = |fault| unreachable(&connection, &fault);
        let builder = match &connection.ca {
            Some(pem) => builder.tls_certs_only(Certificate::from_pem_bundle(pem).map_err(failed)?),
            None if connection.is_secure() => builder,
            // Without TLS nobody is to be trusted, and a host without certificates is as good as any.
            None => builder.tls_certs_only([]),
        };
        let builder = match &connection.identity {
            Some(pem) => builder.identity(reqwest::Identity::from_pem(pem).map_err(failed)?),
            None => builder,
        };
        let http = builder.build().map_err(failed)?;
        Ok(Self { http, connection })
    }

    /// Where the server is.
    #[must_use]
    pub fn server(&self) -> String {
        self.connection.server.as_str().trim_end_matches('/').to_owned()
    }

    /// Asks for `path`, such as `/v2/clusters`.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer of another shape.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientFault> {
        let text = self.send(self.request(Method::GET, path)).await?;
        read(path, &text)
    }

    /// Asks for a page of text.
    ///
    /// # Errors
    /// No answer or a refusal.
    pub async fn get_text(&self, path: &str) -> Result<String, ClientFault> {
        self.send(self.request(Method::GET, path)).await
    }

    /// Asks for bytes as they are.
    ///
    /// # Errors
    /// No answer or a refusal.
    pub async fn get_bytes(&self, path: &str) -> Result<Vec<u8>, ClientFault> {
        let failed = |fault: reqwest::Error| unreachable(&self.connection, &fault);
        let response = self.request(Method::GET, path).send().await.map_err(failed)?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(failed)?;
        if status.is_success() {
            return Ok(bytes.to_vec());
        }
        let text = String::from_utf8_lossy(&bytes);
        Err(ClientFault::Refused(Box::new(Problem::read(status.as_u16(), &text))))
    }

    /// Sends a JSON body; an empty answer is `null`. It is sent again when the server is away for a moment: the server knows
    /// by the key that it is the same request, and does nothing twice.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer of another shape.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, ClientFault> {
        let key = Uuid::new_v4().to_string();
        let mut pauses = PAUSES.into_iter();
        let mut is_repeated = false;
        loop {
            let request = self.request(Method::POST, path).header("Idempotency-Key", &key).json(body);
            let fault = match self.send(request).await {
                Ok(text) => return read(path, &text),
                Err(fault) => fault,
            };
            // Behind a lost answer the first request may still be under way, which the server tells with 409.
            let may_pass = fault.is_passing() || is_repeated && fault.is_under_way();
            match pauses.next().filter(|_| may_pass) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(fault),
            }
            is_repeated = true;
        }
    }

    /// Puts a JSON body; an empty answer is `null`.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer of another shape.
    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, ClientFault> {
        let text = self.send(self.request(Method::PUT, path).json(body)).await?;
        read(path, &text)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer of another shape.
    pub async fn upload<T: DeserializeOwned>(&self, path: &str, content: Vec<u8>) -> Result<T, ClientFault> {
        let text = self.send(self.request(Method::POST, path).body(content)).await?;
        read(path, &text)
    }

    /// Deletes what is at `path`.
    ///
    /// # Errors
    /// No answer or a refusal.
    pub async fn delete(&self, path: &str) -> Result<(), ClientFault> {
        self.send(self.request(Method::DELETE, path)).await.map(drop)
    }

    /// Deletes what is at `path`, with a JSON body.
    ///
    /// # Errors
    /// No answer or a refusal.
    pub async fn delete_with(&self, path: &str, body: &Value) -> Result<(), ClientFault> {
        self.send(self.request(Method::DELETE, path).json(body)).await.map(drop)
    }

    /// Asks what deleting with this body would do: `path` says that it is only to be shown.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer of another shape.
    pub async fn show_delete<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, ClientFault> {
        let text = self.send(self.request(Method::DELETE, path).json(body)).await?;
        read(path, &text)
    }

    /// Puts a JSON body in the place of what is in this state.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer of another shape.
    pub async fn put_on<T: DeserializeOwned>(
        &self,
        path: &str,
        state: &str,
        body: &Value,
    ) -> Result<T, ClientFault> {
        let request = self.request(Method::PUT, path).header("If-Match", format!("\"{state}-seen\""));
        let text = self.send(request.json(body)).await?;
        read(path, &text)
    }

    /// Opens a WebSocket.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer that is no WebSocket's.
    pub async fn web_socket(&self, path: &str) -> Result<WebSocket, ClientFault> {
        let failed = |fault: reqwest::Error| unreachable(&self.connection, &fault);
        let key = generate_key();
        let request = self.request(Method::GET, path).timeout(UPGRADED_LIMIT);
        let request = request.header("Connection", "Upgrade").header("Upgrade", "websocket");
        let request = request.header("Sec-WebSocket-Version", "13").header("Sec-WebSocket-Key", &key);
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let accepts = response.headers().get("Sec-WebSocket-Accept").and_then(|value| value.to_str().ok());
        if status == StatusCode::SWITCHING_PROTOCOLS
            && accepts == Some(derive_accept_key(key.as_bytes()).as_str())
        {
            let stream = response.upgrade().await.map_err(failed)?;
            return Ok(WebSocketStream::from_raw_socket(stream, Role::Client, None).await);
        }
        if status.is_client_error() || status.is_server_error() {
            let text = response.text().await.map_err(failed)?;
            return Err(ClientFault::Refused(Box::new(Problem::read(status.as_u16(), &text))));
        }
        let reason = format!("{status} opens no WebSocket");
        Err(ClientFault::NotUnderstood { path: path.to_owned(), reason })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.server()));
        let mut request = request.header("Accept", "application/json, application/problem+json");
        let named = [("Coopr-UserID", &self.connection.user), ("Coopr-TenantID", &self.connection.tenant)];
        for (header, name) in named {
            request = name.iter().fold(request, |request, name| request.header(header, name));
        }
        match &self.connection.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<String, ClientFault> {
        let failed = |fault: reqwest::Error| unreachable(&self.connection, &fault);
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let text = response.text().await.map_err(failed)?;
        if status.is_success() {
            return Ok(text);
        }
        Err(ClientFault::Refused(Box::new(Problem::read(status.as_u16(), &text))))
    }
}

/// An answer that was kept as it came, as what it should be.
///
/// # Errors
/// When it is something else.
pub fn understood<T: DeserializeOwned>(path: &str, answer: &Value) -> Result<T, ClientFault> {
    T::deserialize(answer)
        .map_err(|fault| ClientFault::NotUnderstood { path: path.to_owned(), reason: fault.to_string() })
}

fn read<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, ClientFault> {
    let text = if text.trim().is_empty() { "null" } else { text };
    serde_json::from_str(text)
        .map_err(|fault| ClientFault::NotUnderstood { path: path.to_owned(), reason: fault.to_string() })
}

/// The innermost cause is what helps: "Connection refused", not "error sending request".
fn unreachable(connection: &Connection, fault: &reqwest::Error) -> ClientFault {
    let mut cause: &dyn std::error::Error = fault;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let reason = if fault.is_timeout() { "it takes too long".to_owned() } else { cause.to_string() };
    let server = connection.server.to_string();
    if connection.is_secure() && reason.contains("certificate") {
        return ClientFault::Untrusted { server, reason };
    }
    ClientFault::Unreachable { server, reason }
}

/// One segment of a path: a name may hold what has a meaning there.
#[must_use]
pub fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    text.bytes().fold(String::new(), |mut path, byte| {
        if plain(byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_keep_their_meaning() {
        assert_eq!(segment("web-1.x"), "web-1.x");
        assert_eq!(segment("a/b ?ü"), "a%2Fb%20%3F%C3%BC");
    }

    #[test]
    fn an_empty_answer_is_nothing() {
        assert_eq!(read::<Value>("/x", "").unwrap(), Value::Null);
        let fault = read::<Vec<Value>>("/v2/x", "<html>").unwrap_err();
        assert!(fault.to_string().contains("/v2/x") && fault.remedy().is_some());
    }
}
