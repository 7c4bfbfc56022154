//! The key by which a machine proves that it is the one we know.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cooperage_domain::invalid::Invalid;
use russh::client;
use russh::keys::{Algorithm, HashAlg, PublicKey, PublicKeyOrCertificate};

use super::dial::{dial, within};
use super::error::SshError;
use super::russh_backend::CLIENT_CONFIG;

/// Name of the one kind of host key that is pinned.
const KIND: &str = "ssh-ed25519";

/// A pinned ed25519 host key; printed as `ssh-ed25519 AAAA…`.
///
/// It is learned once, when a machine is confirmed ([`scan`]), and must be the same ever after.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostKey(PublicKey);

impl HostKey {
    /// `SHA256:…`, as `ssh-keygen -l` prints it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }

    /// The base64 part alone, as results of tasks carry it.
    #[must_use]
    pub fn body(&self) -> String {
        let line = self.to_string();
        line.split_whitespace().nth(1).unwrap_or_default().to_owned()
    }

    /// The key in what a server offered, if it is of the kind that is pinned.
    pub(super) fn from_offer(offer: &PublicKeyOrCertificate) -> Option<Self> {
        match offer {
            PublicKeyOrCertificate::PublicKey { key, .. } if key.algorithm() == Algorithm::Ed25519 => {
                Some(Self(PublicKey::from(key.key_data().clone())))
            }
            _ => None,
        }
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_openssh().map_err(|_| fmt::Error)?)
    }
}

impl FromStr for HostKey {
    type Err = Invalid;

    /// From the base64 part alone or from a line `ssh-ed25519 AAAA… comment`.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = text.trim();
        let line = if text.starts_with("AAAA") { format!("{KIND} {text}") } else { text.to_owned() };
        match PublicKey::from_openssh(&line) {
            Ok(key) if key.algorithm() == Algorithm::Ed25519 => {
                Ok(Self(PublicKey::from(key.key_data().clone())))
            }
            _ => Err(Invalid::new(
                "ssh_host_keys.ed25519",
                text,
                "is not an ed25519 host key",
                "give the content of the machine's /etc/ssh/ssh_host_ed25519_key.pub",
            )),
        }
    }
}

/// Asks whoever answers at `host:port` for its host key and believes it. Only for the first confirm of a machine that
/// was just made: later the answer must be compared, which every connection does by itself.
///
/// # Errors
/// When nobody answers within `limit` (which covers everything), or what answers has no ed25519 host key.
pub async fn scan(host: &str, port: u16, limit: Duration) -> Result<HostKey, SshError> {
    let address = format!("{host}:{port}");
    let work = async {
        let stream = dial(host, port).await?;
        let offered = Arc::default();
        let listener = Listener { offered: Arc::clone(&offered) };
        let outcome = client::connect_stream(Arc::clone(&CLIENT_CONFIG), stream, listener).await;
        let key = offered.lock().unwrap_or_else(PoisonError::into_inner).take();
        key.ok_or_else(|| match outcome {
            Err(russh::Error::NoCommonAlgo { theirs, .. }) => SshError::HostKeyUnknown {
                address: address.clone(),
                reason: format!("it offers {} and no {KIND}", theirs.join(", ")),
            },
            Err(error) => SshError::Handshake { address: address.clone(), reason: error.to_string() },
            Ok(_) => SshError::Handshake { address: address.clone(), reason: "it offered no key".into() },
        })
    };
    within(limit, &address, "reading the host key", work).await
}

/// Notes the key and hangs up.
struct Listener {
    offered: Arc<Mutex<Option<HostKey>>>,
}

impl client::Handler for Listener {
    type Error = russh::Error;

    async fn check_server_key(&mut self, offer: &PublicKeyOrCertificate) -> Result<bool, russh::Error> {
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = HostKey::from_offer(offer);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    #[test]
    fn body_and_line_are_the_same_key() {
        let body: HostKey = BODY.parse().unwrap();
        let line: HostKey = format!("ssh-ed25519 {BODY} root@machine\n").parse().unwrap();
        assert_eq!(body, line);
        assert_eq!(line.to_string(), format!("ssh-ed25519 {BODY}"));
        assert_eq!(line.body(), BODY);
        assert!(line.fingerprint().starts_with("SHA256:"));
    }

    #[test]
    fn another_kind_of_key_is_refused_with_the_remedy() {
        let fault = "ssh-rsa AAAAB3NzaC1yc2E=".parse::<HostKey>().unwrap_err().to_string();
        assert!(fault.contains("ssh_host_ed25519_key.pub"), "{fault}");
    }
}
