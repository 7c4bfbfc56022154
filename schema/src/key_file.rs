//! The file with the master keys, which lies outside the database and belongs to the server's user alone.
//!
//! One line for each key: its id, a blank, and its 32 bytes in base64. The first is the current one; there are more only while
//! a rotation is under way. Earlier releases wrote the bare 32 bytes of one key, which is understood too.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::seal::{KEY_LENGTH, SecretKey, new_key};
use crate::secrets_error::SecretsError;

/// First line of the file.
const HEADING: &str = "# Master keys of Cooperage's secrets. Without this file they are lost: back it up, apart from the database.";
/// Bytes of a key's hash that make its id.
const ID_LENGTH: usize = 8;
/// Access by anybody but the owner.
const OTHERS: u32 = 0o077;

/// A master key. Never printed.
#[derive(Clone)]
pub(crate) struct MasterKey {
    /// Says which one it is and nothing about it.
    pub(crate) id: String,
    pub(crate) key: SecretKey,
}

impl MasterKey {
    pub(crate) fn random() -> Self {
        Self::new(new_key())
    }

    fn new(key: SecretKey) -> Self {
        let hash = Sha256::new().chain_update("cooperage master key").chain_update(key.as_slice()).finalize();
        let id = hash[..ID_LENGTH].iter().map(|byte| format!("{byte:02x}")).collect();
        Self { id, key }
    }
}

/// The keys of a file; the first is the current one.
#[derive(Clone)]
pub(crate) struct MasterKeys(Vec<MasterKey>);

impl MasterKeys {
    /// No key at all.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// `current` in front of these.
    pub(crate) fn behind(&self, current: MasterKey) -> Self {
        Self([current].into_iter().chain(self.0.iter().cloned()).collect())
    }

    /// The current one alone.
    pub(crate) fn newest(&self) -> Self {
        Self(self.0.iter().take(1).cloned().collect())
    }

    /// The one that wraps what is new.
    pub(crate) fn current(&self) -> Option<&MasterKey> {
        self.0.first()
    }

    pub(crate) fn find(&self, id: &str) -> Option<&MasterKey> {
        self.0.iter().find(|key| key.id == id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &MasterKey> {
        self.0.iter()
    }
}

/// Where the master keys are.
#[derive(Debug, Clone)]
pub(crate) struct KeyFile(PathBuf);

impl KeyFile {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The keys; `None` when there is no file.
    pub(crate) fn read(&self) -> Result<Option<MasterKeys>, SecretsError> {
        let fault = |cause: io::Error| SecretsError::file(&self.0, &cause);
        let about = match fs::metadata(&self.0) {
            Ok(about) => about,
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(other) => return Err(fault(other)),
        };
        let (mode, owner) = (about.permissions().mode() & 0o7777, about.uid());
        let user = rustix::process::geteuid().as_raw();
        if mode & OTHERS != 0 {
            return Err(SecretsError::Exposed { path: self.0.clone(), mode });
        }
        if owner != user {
            return Err(SecretsError::Foreign { path: self.0.clone(), owner, user });
        }
        let bytes = Zeroizing::new(fs::read(&self.0).map_err(fault)?);
        parse(&bytes).map(Some).map_err(|cause| SecretsError::file(&self.0, &cause))
    }

    /// Puts these keys in place of those that are there, at once and durably: whatever happens, the file holds one or the
    /// other.
    pub(crate) fn write(&self, keys: &MasterKeys) -> Result<(), SecretsError> {
        self.replace(keys).map_err(|cause| SecretsError::file(&self.0, &cause))
    }

    /// Puts these keys there if there is no file. One that another program has just made stays.
    pub(crate) fn create(&self, keys: &MasterKeys) -> Result<(), SecretsError> {
        let create = || match self.staged(keys)?.persist_noclobber(&self.0) {
            Ok(_) => fs::File::open(self.folder())?.sync_all(),
            Err(fault) if fault.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(fault) => Err(fault.error),
        };
        create().map_err(|cause| SecretsError::file(&self.0, &cause))
    }

    fn replace(&self, keys: &MasterKeys) -> io::Result<()> {
        self.staged(keys)?.persist(&self.0)?;
        fs::File::open(self.folder())?.sync_all()
    }

    fn folder(&self) -> &Path {
        let folder = self.0.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or_else(|| Path::new("."))
    }

    /// The keys in a file beside the one they are for, durable, and gone when it is not put in its place.
    fn staged(&self, keys: &MasterKeys) -> io::Result<tempfile::NamedTempFile> {
        let mut file = tempfile::Builder::new().prefix(".secrets").tempfile_in(self.folder())?;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
        let mut text = Zeroizing::new(format!("{HEADING}\n"));
        for key in keys.iter() {
            text.push_str(&key.id);
            text.push(' ');
            text.push_str(&Zeroizing::new(STANDARD.encode(key.key.as_slice())));
            text.push('\n');
        }
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

fn parse(bytes: &[u8]) -> Result<MasterKeys, String> {
    if let Ok(key) = <[u8; KEY_LENGTH]>::try_from(bytes) {
        return Ok(MasterKeys(vec![MasterKey::new(Zeroizing::new(key))]));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|_| format!("it has {} bytes and is no key file", bytes.len()))?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'));
    let keys = lines.map(|(line, number)| key(line).ok_or_else(|| format!("line {number} is no key")));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    if keys.is_empty() { Err("it holds no key".to_owned()) } else { Ok(MasterKeys(keys)) }
}

fn key(line: &str) -> Option<MasterKey> {
    let (id, encoded) = line.trim().split_once(' ')?;
    let bytes = Zeroizing::new(STANDARD.decode(encoded.trim()).ok()?);
    let key = MasterKey::new(Zeroizing::new(<[u8; KEY_LENGTH]>::try_from(bytes.as_slice()).ok()?));
    (key.id == id).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (tempfile::TempDir, KeyFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::new(folder.path().join("secrets.key"));
        (folder, file)
    }

    fn ids(keys: &MasterKeys) -> Vec<&str> {
        keys.iter().map(|key| key.id.as_str()).collect()
    }

    #[test]
    fn keys_are_read_as_they_were_written() {
        let (_folder, file) = file();
        assert!(file.read().unwrap().is_none());
        let one = MasterKeys(vec![MasterKey::random()]);
        file.write(&one).unwrap();
        let two = one.behind(MasterKey::random());
        file.write(&two).unwrap();
        let read = file.read().unwrap().unwrap();
        assert_eq!((ids(&read), read.iter().count()), (ids(&two), 2));
        assert!(read.iter().zip(two.iter()).all(|(a, b)| a.key == b.key));
        assert_eq!(fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn the_bare_key_of_earlier_releases_is_understood() {
        let (_folder, file) = file();
        fs::write(file.path(), [7; KEY_LENGTH]).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(*file.read().unwrap().unwrap().current().unwrap().key, [7; KEY_LENGTH]);
    }

    #[test]
    fn what_is_wrong_with_the_file_is_told() {
        let (_folder, file) = file();
        let good = STANDARD.encode([1; KEY_LENGTH]);
        for (text, words) in [
            ("short".to_owned(), "line 1 is no key"),
            ("# only this\n".to_owned(), "holds no key"),
            (format!("0000000000000000 {good}\n"), "line 1 is no key"),
        ] {
            fs::write(file.path(), text).unwrap();
            fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
            let fault = file.read().map(drop).unwrap_err().to_string();
            assert!(fault.contains(words) && fault.contains("secrets.key"), "{fault}");
        }
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o640)).unwrap();
        let fault = file.read().map(drop).unwrap_err().to_string();
        assert!(fault.contains("chmod 600") && fault.contains("640"), "{fault}");
    }
}
