//! Encryption of what may not be read in the database: ChaCha20-Poly1305, with a key that is not in it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};

/// Length of a key, in bytes.
const KEY_LEN: usize = 32;

/// A key. Cheap to clone.
#[derive(Clone)]
pub struct Seal(Arc<LessSafeKey>);

impl Seal {
    /// The key in this file; a new one when there is none yet. Only the server's user may read it.
    ///
    /// # Errors
    /// When the file cannot be read or written, or holds no key.
    pub fn open(path: &Path) -> io::Result<Self> {
        let bytes = match fs::read(path) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => create(path)?,
            read => read?,
        };
        Self::from_bytes(&bytes).map_err(|Unspecified| {
            let text =
                format!("{} holds no key of {KEY_LEN} bytes; restore it from a backup", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, Unspecified> {
        Ok(Self(Arc::new(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, bytes)?))))
    }

    /// Encrypts a text that belongs to `owner`: nobody can put it in the place of another's.
    pub(crate) fn close(&self, owner: &str, text: &str) -> Result<String, Unspecified> {
        let mut nonce = [0; NONCE_LEN];
        // A nonce may never come twice with one key; 96 random bits do not, for as long as clusters are made.
        SystemRandom::new().fill(&mut nonce)?;
        let mut sealed = text.as_bytes().to_vec();
        let aad = Aad::from(owner.as_bytes());
        self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)?;
        Ok(BASE64.encode([&nonce[..], &sealed].concat()))
    }

    /// The text, if it was encrypted with this key for this owner and has not been touched.
    pub(crate) fn reveal(&self, owner: &str, sealed: &str) -> Option<String> {
        let bytes = BASE64.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let mut text = sealed.to_vec();
        let aad = Aad::from(owner.as_bytes());
        let length = self.0.open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut text).ok()?.len();
        text.truncate(length);
        String::from_utf8(text).ok()
    }
}

fn create(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = vec![0; KEY_LEN];
    SystemRandom::new()
        .fill(&mut key)
        .map_err(|Unspecified| io::Error::other("the system gives no random numbers"))?;
    let mut file = fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    file.write_all(&key)?;
    file.sync_all()?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_and_the_owner_open_what_was_closed() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::open(&folder.path().join("key")).unwrap();
        let sealed = seal.close("7", "secret").unwrap();
        assert!(!sealed.contains("secret"));
        assert_ne!(sealed, seal.close("7", "secret").unwrap());
        let again = Seal::open(&folder.path().join("key")).unwrap();
        assert_eq!(again.reveal("7", &sealed).as_deref(), Some("secret"));
        assert_eq!(again.reveal("8", &sealed), None);
        let other = Seal::open(&folder.path().join("other")).unwrap();
        assert_eq!(other.reveal("7", &sealed), None);
        assert_eq!(again.reveal("7", "AAAA"), None);
    }

    #[test]
    fn what_is_no_key_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, b"short").unwrap();
        assert!(Seal::open(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"short");
    }
}
