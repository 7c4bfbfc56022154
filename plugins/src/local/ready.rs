//! Whether a machine can be used: its ssh answers with the key it was given, lets the server in, and its system is up.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use russh::client::{self, Handle, Handler};
use russh::keys::ssh_key::PrivateKey;
use russh::keys::{PrivateKeyWithHashAlg, PublicKeyBase64, PublicKeyOrCertificate};
use russh::{ChannelMsg, Disconnect};

/// Who to log in to, and how.
#[derive(Clone)]
pub(super) struct Login {
    /// Where.
    pub(super) address: Ipv4Addr,
    /// The host key it must show: the public half, base64.
    pub(super) host_key: String,
    /// The key to show.
    pub(super) identity: Arc<PrivateKey>,
}

/// What a try to log in showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Readiness {
    /// It can be used.
    Ready,
    /// Not yet, and why.
    NotYet(String),
    /// Somebody else answers there: waiting does not help.
    Stranger,
}

/// How long one try may take: a machine that is just starting may accept a connection and then not answer it.
const TRY_LIMIT: Duration = Duration::from_secs(10);
/// Answers when the system has come up, at once if it has. Failed units do not matter here: services are checked by those
/// who start them.
const SYSTEM_STATE: &str = "systemctl is-system-running --wait";
const UP: [&str; 2] = ["running", "degraded"];

/// Tries once.
pub(super) async fn look(login: &Login) -> Readiness {
    match tokio::time::timeout(TRY_LIMIT, try_login(login)).await {
        Err(_) => Readiness::NotYet(format!("no answer within {TRY_LIMIT:?}")),
        Ok(Err(russh::Error::UnknownKey)) => Readiness::Stranger,
        Ok(Err(error)) => Readiness::NotYet(error.to_string()),
        Ok(Ok(state)) if UP.contains(&state.as_str()) => Readiness::Ready,
        Ok(Ok(state)) => Readiness::NotYet(format!("its system is {state:?}")),
    }
}

async fn try_login(login: &Login) -> Result<String, russh::Error> {
    let pinned = Pinned { host_key: login.host_key.clone() };
    let mut session = client::connect(Arc::default(), (login.address, 22), pinned).await?;
    let hash = session.best_supported_rsa_hash().await?.flatten();
    let key = PrivateKeyWithHashAlg::new(login.identity.clone(), hash);
    if !session.authenticate_publickey("root", key).await?.success() {
        return Err(russh::Error::NotAuthenticated);
    }
    let state = run(&session, SYSTEM_STATE).await?;
    session.disconnect(Disconnect::ByApplication, "", "").await?;
    Ok(state)
}

async fn run(session: &Handle<Pinned>, command: &str) -> Result<String, russh::Error> {
    let mut channel = session.channel_open_session().await?;
    channel.exec(true, command).await?;
    let mut printed = Vec::new();
    while let Some(message) = channel.wait().await {
        if let ChannelMsg::Data { data } = message {
            printed.extend_from_slice(&data);
        }
    }
    Ok(String::from_utf8_lossy(&printed).trim().to_owned())
}

/// Goes on only with the one key.
struct Pinned {
    host_key: String,
}

impl Handler for Pinned {
    type Error = russh::Error;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(match shown {
            PublicKeyOrCertificate::PublicKey { key, .. } => key.public_key_base64() == self.host_key,
            PublicKeyOrCertificate::Certificate(_) => false,
        })
    }
}
