//! Plugin resources in a bucket that speaks S3, for servers that share them.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cooperage_domain::invalid::Invalid;
use cooperage_plugins::resources::{PluginResources, ResourceError, ResourceStore};
use futures::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::buffered::BufWriter;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Handle, Runtime};

use super::ServeError;
use crate::config::{Resources, Settings};

/// How long a call is repeated while the service does not answer.
const RETRY_LIMIT: Duration = Duration::from_secs(30);
const RETRIES: usize = 4;
/// Bits of a file's mode that let others read it.
const OTHERS: u32 = 0o077;
/// What a file of credentials may hold.
const KEYS: [(&str, AmazonS3ConfigKey); 3] = [
    ("AWS_ACCESS_KEY_ID", AmazonS3ConfigKey::AccessKeyId),
    ("AWS_SECRET_ACCESS_KEY", AmazonS3ConfigKey::SecretAccessKey),
    ("AWS_SESSION_TOKEN", AmazonS3ConfigKey::Token),
];

/// Opens the bucket of the settings, and looks once whether it can be read. Files that come from it lie in `folder`.
///
/// # Errors
/// When a setting has a fault, or the service refuses or does not answer.
pub fn open(settings: &Settings, folder: &Path, runtime: &Runtime) -> Result<PluginResources, ServeError> {
    let given = &settings.resources;
    if given.bucket.is_empty() {
        let remedy = "name a bucket, or set resources.store = \"local\"";
        return Err(Invalid::new("resources.bucket", "", "is empty", remedy).into());
    }
    let store = builder(given)?.build().map_err(|fault| {
        Invalid::new(
            "resources.endpoint",
            &given.endpoint,
            format!("cannot be used: {fault}"),
            "correct the settings under resources",
        )
    })?;
    let bucket = Bucket::new(Arc::new(store), &given.prefix, folder, runtime.handle().clone());
    bucket.look().map_err(|fault| {
        let remedy = "see that the endpoint answers, that the bucket is there, and that the access key may read and write it";
        Invalid::new("resources.bucket", &given.bucket, format!("cannot be read: {fault}"), remedy)
    })?;
    Ok(PluginResources::new(Arc::new(bucket), folder))
}

fn builder(given: &Resources) -> Result<AmazonS3Builder, Invalid> {
    let mut builder = if given.credentials.is_empty() {
        // Keys in the environment, and the ways in which hosts of a cloud get theirs.
        AmazonS3Builder::from_env()
    } else {
        let pairs = credentials(Path::new(&given.credentials))?;
        pairs
            .into_iter()
            .fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value))
    };
    builder = builder.with_bucket_name(&given.bucket).with_region(&given.region);
    if !given.endpoint.is_empty() {
        let plain = given.endpoint.starts_with("http://");
        builder = builder.with_endpoint(&given.endpoint).with_allow_http(plain);
    }
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_LIMIT, ..RetryConfig::default() };
    Ok(builder.with_retry(retry))
}

/// The lines `NAME=value` of a file that only its owner may read.
fn credentials(file: &Path) -> Result<Vec<(AmazonS3ConfigKey, String)>, Invalid> {
    let refuse =
        |fault: String, remedy: &str| Invalid::new("resources.credentials", file.display(), fault, remedy);
    let unreadable =
        |fault: std::io::Error| refuse(format!("cannot be read: {fault}"), "name a file the server may read");
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(refuse("can be read by others".to_owned(), "chmod 600 it"));
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let pair = line.trim().split_once('=');
        let known = pair.and_then(|(name, value)| {
            let (_, key) = KEYS.iter().find(|(known, _)| *known == name.trim())?;
            Some((*key, value.trim().to_owned()))
        });
        // Never the line itself: it may hold the key.
        let fault = || {
            refuse(
                format!("has a line {} that is none of its own", number + 1),
                "write AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…",
            )
        };
        found.push(known.ok_or_else(fault)?);
    }
    Ok(found)
}

/// Resources in a bucket. Calls wait for it, so they come from threads that may wait.
struct Bucket {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    /// Folder of files that came from the bucket; they have no names.
    folder: PathBuf,
    runtime: Handle,
}

impl fmt::Debug for Bucket {
    /// Without what it logs in with.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bucket({})", self.store)
    }
}

impl Bucket {
    fn new(store: Arc<dyn ObjectStore>, prefix: &str, folder: &Path, runtime: Handle) -> Self {
        let prefix = prefix.trim_matches('/').to_owned();
        Self { store, prefix, folder: folder.to_owned(), runtime }
    }

    fn path(&self, path: &str) -> ObjectPath {
        ObjectPath::from_iter(self.prefix.split('/').chain(path.split('/')).filter(|part| !part.is_empty()))
    }

    fn fault(&self, path: &str, fault: impl fmt::Display) -> ResourceError {
        let (store, path) = (self.store.to_string(), path.to_owned());
        ResourceError::Store { store, path, fault: fault.to_string() }
    }

    /// Whether it can be read at all.
    fn look(&self) -> Result<(), ResourceError> {
        let prefix = self.path("");
        let first = self.runtime.block_on(async { self.store.list(Some(&prefix)).next().await });
        first.transpose().map(drop).map_err(|fault| self.fault("", fault))
    }

    async fn write_file(&self, path: ObjectPath, file: &Path) -> Result<(), std::io::Error> {
        let mut from = tokio::fs::File::open(file).await?;
        let mut to = BufWriter::new(Arc::clone(&self.store), path);
        match tokio::io::copy(&mut from, &mut to).await {
            Ok(_) => to.shutdown().await,
            Err(fault) => {
                // Its parts go by themselves at the service, some day, if this fails as well.
                let _ = to.abort().await;
                Err(fault)
            }
        }
    }

    async fn fetch(&self, path: &ObjectPath, mut to: tokio::fs::File) -> Result<Option<File>, String> {
        let found = match self.store.get(path).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(|fault| fault.to_string())?,
        };
        let mut bytes = found.into_stream();
        while let Some(chunk) = bytes.try_next().await.map_err(|fault| fault.to_string())? {
            to.write_all(&chunk).await.map_err(|fault| fault.to_string())?;
        }
        to.flush().await.map_err(|fault| fault.to_string())?;
        Ok(Some(to.into_std().await))
    }

    async fn all(&self, folder: &str) -> Result<Vec<ObjectPath>, object_store::Error> {
        self.store.list(Some(&self.path(folder))).map_ok(|found| found.location).try_collect().await
    }
}

impl ResourceStore for Bucket {
    fn put(&self, path: &str, file: &Path) -> Result<(), ResourceError> {
        let written = self.runtime.block_on(self.write_file(self.path(path), file));
        written.map_err(|fault| self.fault(path, fault))?;
        // What is left of it here is swept at the next start.
        let _ = std::fs::remove_file(file);
        Ok(())
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), ResourceError> {
        let written = self.runtime.block_on(self.store.put(&self.path(path), bytes.to_vec().into()));
        written.map(drop).map_err(|fault| self.fault(path, fault))
    }

    fn open(&self, path: &str) -> Result<Option<File>, ResourceError> {
        use std::io::Seek;
        std::fs::create_dir_all(&self.folder).map_err(|fault| self.fault(path, fault))?;
        let file = tempfile::tempfile_in(&self.folder).map_err(|fault| self.fault(path, fault))?;
        let fetched = self.runtime.block_on(self.fetch(&self.path(path), tokio::fs::File::from_std(file)));
        let Some(mut file) = fetched.map_err(|fault| self.fault(path, fault))? else { return Ok(None) };
        file.rewind().map_err(|fault| self.fault(path, fault))?;
        Ok(Some(file))
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ResourceError> {
        let read = async { self.store.get(&self.path(path)).await?.bytes().await };
        match self.runtime.block_on(read) {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            read => read.map(|bytes| Some(bytes.to_vec())).map_err(|fault| self.fault(path, fault)),
        }
    }

    fn remove(&self, path: &str) -> Result<(), ResourceError> {
        match self.runtime.block_on(self.store.delete(&self.path(path))) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(|fault| self.fault(path, fault)),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ResourceError> {
        let all = self.runtime.block_on(self.all(folder)).map_err(|fault| self.fault(folder, fault))?;
        let skipped = self.path("").as_ref().len();
        Ok(all.iter().map(|path| path.as_ref()[skipped..].trim_start_matches('/').to_owned()).collect())
    }

    fn copy_all(&self, from: &str, to: &str) -> Result<(), ResourceError> {
        let copy = async {
            for source in self.all(from).await? {
                let rest = source.as_ref()[self.path(from).as_ref().len()..].trim_start_matches('/');
                self.store.copy(&source, &self.path(&format!("{to}/{rest}"))).await?;
            }
            Ok::<(), object_store::Error>(())
        };
        self.runtime.block_on(copy).map_err(|fault| self.fault(to, fault))
    }

    fn remove_all(&self, folder: &str) -> Result<(), ResourceError> {
        let remove = async {
            for path in self.all(folder).await? {
                self.store.delete(&path).await?;
            }
            Ok::<(), object_store::Error>(())
        };
        self.runtime.block_on(remove).map_err(|fault| self.fault(folder, fault))
    }
}

#[cfg(test)]
mod tests;
