//! Settings of a provisioner for a server elsewhere.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ClientTls;

/// A provisioner for a server elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RemoteProvisioner {
    /// Where the server listens for provisioners.
    pub server: String,
    /// Its id; empty: made at the first start and kept.
    pub id: String,
    /// How many workers it can bring.
    pub capacity: u32,
    /// Where it listens for its server.
    pub listen: SocketAddr,
    /// Name or address under which the server reaches it; empty: found out.
    pub advertise: String,
    /// Where it keeps its id and plugin resources; empty: `provisioner` in the data directory.
    pub data_dir: String,
    /// How often it says that it lives.
    pub heartbeat_seconds: u32,
    /// How long running tasks may take when it is told to stop.
    pub drain_timeout_seconds: u64,
    /// File with its token of the role provisioner; empty: none is sent.
    pub token_file: PathBuf,
    /// How it calls its server with TLS.
    pub tls: ClientTls,
}
