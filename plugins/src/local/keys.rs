//! Keys: the one the server logs in with, and each machine's own.

use std::path::Path;

use cooperage_domain::invalid::Invalid;
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::{Algorithm, LineEnding, PrivateKey};

use super::fault::{At, LocalError};
use super::record::write_durably;

/// A new key pair.
pub(super) struct KeyPair {
    /// OpenSSH format.
    pub(super) private: String,
    /// The public half, base64 as in a known-hosts file.
    pub(super) public: String,
}

/// Makes an ed25519 key pair.
pub(super) fn generate(comment: &str) -> Result<KeyPair, LocalError> {
    let make = || -> Result<KeyPair, russh::keys::ssh_key::Error> {
        let mut key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519)?;
        key.set_comment(comment);
        let line = key.public_key().to_openssh()?;
        let public = line.split(' ').nth(1).unwrap_or_default().to_owned();
        Ok(KeyPair { private: key.to_openssh(LineEnding::LF)?.to_string(), public })
    };
    make().map_err(std::io::Error::other).at("make a key for", comment)
}

/// The server's own key, made if it is missing. When two make it at once, both use the one that was first.
pub(crate) fn load_or_make_identity(path: &Path) -> Result<PrivateKey, LocalError> {
    if !path.exists() {
        make_identity(path)?;
    }
    let text = std::fs::read_to_string(path).at("read", path)?;
    let refuse = |fault: String| {
        Invalid::new("identity", path.display(), fault, "use an OpenSSH key without passphrase")
    };
    let key = PrivateKey::from_openssh(&text)
        .map_err(|e| refuse(format!("is not a private key the server can use ({e})")))?;
    if key.is_encrypted() {
        return Err(refuse("is protected by a passphrase".to_owned()).into());
    }
    Ok(key)
}

fn make_identity(path: &Path) -> Result<(), LocalError> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).at("make", directory)?;
    }
    let pair = generate("cooperage")?;
    let unfinished = path.with_extension(format!("{}.tmp", uuid::Uuid::new_v4().simple()));
    write_durably(&unfinished, pair.private.as_bytes())?;
    let linked = std::fs::hard_link(&unfinished, path);
    std::fs::remove_file(&unfinished).at("remove", &unfinished)?;
    match linked {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        linked => linked.at("make", path)?,
    }
    let public = path.with_extension("pub");
    std::fs::write(&public, format!("ssh-ed25519 {} cooperage\n", pair.public)).at("write", &public)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn an_identity_is_made_once_for_root_only_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys/id");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let makers: Vec<_> =
                (0..4).map(|_| scope.spawn(|| load_or_make_identity(&path).unwrap())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap().public_key().to_openssh().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(path.with_extension("pub")).unwrap().trim(), keys[0]);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

    #[test]
    fn something_else_is_refused_by_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let fault = load_or_make_identity(file.path()).unwrap_err().to_string();
        assert!(fault.starts_with("identity: ") && fault.contains("without passphrase"), "{fault}");
    }
}
