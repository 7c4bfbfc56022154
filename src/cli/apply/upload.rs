//! Resources of automators: those whose content differs from the active version are uploaded, staged and put to use.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use console::style;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cli::client::{Client, ClientFault, segment};
use crate::documents::ResourceFile;

/// A resource that is to be uploaded.
#[derive(Debug)]
pub struct Pending<'a> {
    file: &'a ResourceFile,
    /// Whether there is an active version, of other content.
    replaces: bool,
}

/// One version of a resource, as the server lists it.
#[derive(Debug, Deserialize)]
struct Version {
    version: u64,
    #[serde(default)]
    status: String,
    /// Of its content, in hexadecimal.
    #[serde(default)]
    sha256: Option<String>,
}

impl fmt::Display for Pending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.replaces { style("~").yellow() } else { style("+").green() };
        write!(
            f,
            "{sign} {} {} bytes",
            style(format!("resource {}", self.file)).bold(),
            self.file.content.len()
        )
    }
}

impl Serialize for Pending<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.file)
    }
}

impl Pending<'_> {
    /// `PLUGIN/KIND/NAME`.
    pub fn name(&self) -> String {
        self.file.to_string()
    }
}

fn base(plugin: &str, kind: &str) -> String {
    format!("/v2/plugins/automatortypes/{}/{}", segment(plugin), segment(kind))
}

/// The resources whose content is not that of the active version.
///
/// # Errors
/// When a plugin or its kind of resource does not exist.
pub async fn pending<'a>(
    files: &'a [ResourceFile],
    client: &Client,
) -> Result<Vec<Pending<'a>>, ClientFault> {
    let mut listed: BTreeMap<(&str, &str), BTreeMap<String, Vec<Version>>> = BTreeMap::new();
    for file in files {
        if let Entry::Vacant(entry) = listed.entry((&file.plugin, &file.kind)) {
            entry.insert(client.get(&base(&file.plugin, &file.kind)).await?);
        }
    }
    Ok(files
        .iter()
        .filter_map(|file| {
            let versions =
                listed.get(&(&*file.plugin, &*file.kind)).and_then(|listed| listed.get(&file.name));
            let active = versions.into_iter().flatten().find(|version| version.status == "active");
            let same = active.is_some_and(|active| active.sha256.as_deref() == Some(&*sha256(&file.content)));
            (!same).then_some(Pending { file, replaces: active.is_some() })
        })
        .collect())
}

/// Uploads and stages each, then puts all to use at once.
///
/// # Errors
/// When the server refuses one; those before it are uploaded but not in use.
pub async fn carry_out(pending: &[Pending<'_>], client: &Client) -> Result<(), ClientFault> {
    for Pending { file, .. } in pending {
        let path = format!("{}/{}", base(&file.plugin, &file.kind), segment(&file.name));
        let stored: Version = client.upload(&path, file.content.clone()).await?;
        let stage = format!("{path}/versions/{}/stage", stored.version);
        let _: Value = client.post(&stage, &Value::Null).await?;
    }
    if pending.is_empty() {
        return Ok(());
    }
    client.post::<Value>("/v2/plugins/sync", &Value::Null).await.map(drop)
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_told_by_its_hash() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
