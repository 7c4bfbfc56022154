//! Settings of the HTTP edge: TLS, and limits on connections and requests.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// TLS on the two ports, each by itself.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// For people and their programs.
    pub user: TlsFiles,
    /// For provisioners.
    pub tasks: TlsFiles,
    /// Trusted for the server's own calls to provisioners.
    pub provisioners: ClientTls,
}

/// What a port needs for TLS; without a certificate it speaks plain HTTP. All are PEM files.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The server's certificate, with those between it and its CA.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// CAs of clients; connections without a certificate of theirs are refused.
    pub client_ca: PathBuf,
}

/// How others are called with TLS. All are PEM files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClientTls {
    /// CAs that their certificates must come from.
    pub ca: PathBuf,
    /// What they are shown.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Limits on connections and requests, for each port.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// Most connections at once.
    pub max_connections: usize,
    /// Most clients that follow events at once.
    pub max_event_streams: usize,
    /// How long a connection may be idle between two requests, in seconds; 0: closed after each.
    pub keep_alive_seconds: u64,
    /// How long the head of a request, or a TLS handshake, may take, in seconds.
    pub request_timeout_seconds: u64,
    /// How long a body may pause, in seconds; all of it may take that and a second for each KiB.
    pub body_timeout_seconds: u64,
    /// Largest head of a request: path and headers, in bytes.
    pub max_header_bytes: usize,
    /// How long open requests may take when the server stops, in seconds.
    pub stop_seconds: u64,
    /// How long the answer to a request with an `Idempotency-Key` is kept, in hours.
    pub idempotency_hours: u32,
}

impl Http {
    /// How long a body may pause.
    #[must_use]
    pub const fn body_timeout(&self) -> Duration {
        Duration::from_secs(self.body_timeout_seconds)
    }

    /// How long answers are kept for repeated requests, in milliseconds.
    #[must_use]
    pub fn idempotency_ms(&self) -> i64 {
        i64::from(self.idempotency_hours) * 3_600_000
    }
}
