//! What is known of each machine, on disk before anything is made, so that a crash leaves nothing unknown behind.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::address::Network;
use super::fault::{At, LocalError, Refusal};
use super::flavor::Limits;

/// How far a machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Its parts are being put together; it never ran.
    Making,
    /// Its disk is ready: from here on only what the host forgets at a reboot is made again, and its disk, which may hold
    /// anything now, is not written to from outside.
    Ready,
    /// It is being taken apart.
    Deleting,
}

/// All that is needed to make a machine, and to take it apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the machine, of its network namespace and of its control groups.
    pub id: String,
    /// The node it is for.
    pub node: String,
    /// Its host name with domain.
    pub hostname: String,
    /// Base directory of its image.
    pub base: PathBuf,
    /// The bridge it hangs on.
    pub bridge: String,
    /// The network of the bridge.
    pub network: Network,
    /// Its address.
    pub address: Ipv4Addr,
    /// How much of the host it may use.
    pub limits: Limits,
    /// Its ssh host key (ed25519): the public half, base64 as in a known-hosts file.
    pub host_key: String,
    /// How far it is.
    pub stage: Stage,
}

impl Record {
    /// Name of the host's end of its network cable.
    pub(super) fn cable(&self) -> String {
        cable(&self.id)
    }
}

/// Name of the host's end of a machine's network cable: at most 15 characters, as interfaces want.
pub(super) fn cable(id: &str) -> String {
    format!("cv{}", id.trim_start_matches(ID_PREFIX))
}

const ID_PREFIX: &str = "coop-";
const RECORD: &str = "machine.json";
const MACHINES: &str = "machines";
const UNFINISHED: &str = "unfinished";
const TRASH: &str = "trash";

/// The machine id of a node. `installation` keeps two servers on one host apart, even if their nodes have the same ids.
pub(super) fn machine_id(installation: &str, node: &str) -> String {
    format!("{ID_PREFIX}{}", short_hash(&[installation, node], 6))
}

/// The first bytes of a hash over some texts, in hexadecimal digits.
pub(super) fn short_hash(texts: &[&str], bytes: usize) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

/// The records of all machines of one server.
#[derive(Debug, Clone)]
pub(super) struct Records {
    state_dir: PathBuf,
}

impl Records {
    /// Of the server that has this state directory.
    pub(super) fn new(state_dir: impl Into<PathBuf>) -> Self {
        Self { state_dir: state_dir.into() }
    }

    /// The directory with everything of one machine.
    pub(super) fn directory(&self, id: &str) -> PathBuf {
        self.state_dir.join(MACHINES).join(id)
    }

    /// The file that is locked while something is done to a machine.
    pub(super) fn lock_path(&self, id: &str) -> PathBuf {
        self.state_dir.join("locks").join(id)
    }

    /// The machine's record; `None` when there is no such machine.
    pub(super) fn load(&self, id: &str) -> Result<Option<Record>, LocalError> {
        let path = self.directory(id).join(RECORD);
        let text = match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.at("read", &path)?,
        };
        serde_json::from_str(&text).map(Some).map_err(|e| {
            let fault = format!("is not a machine's record ({e})");
            let remedy = "restore it, or delete its node's machine";
            Refusal::new(path.display().to_string(), fault, remedy).into()
        })
    }

    /// The records of all machines, in the order of their ids.
    pub(super) fn all(&self) -> Result<Vec<Record>, LocalError> {
        let mut records = Vec::new();
        for id in self.ids()? {
            records.extend(self.load(&id)?);
        }
        Ok(records)
    }

    /// The ids of all machines, in order.
    pub(super) fn ids(&self) -> Result<Vec<String>, LocalError> {
        let directory = self.state_dir.join(MACHINES);
        let entries = match std::fs::read_dir(&directory) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.at("list", &directory)?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.at("list", &directory)?.file_name();
            ids.extend(name.to_str().filter(|name| name.starts_with(ID_PREFIX)).map(str::to_owned));
        }
        ids.sort();
        Ok(ids)
    }

    /// Puts a new machine on record, with the files that belong to it from the start, all or nothing.
    ///
    /// The caller holds the host's lock, so what is unfinished was left by somebody who died.
    pub(super) fn add(&self, record: &Record, files: &[(&str, &[u8])]) -> Result<(), LocalError> {
        self.empty(UNFINISHED)?;
        let unfinished = self.private(UNFINISHED)?.join(&record.id);
        std::fs::create_dir_all(&unfinished).at("make", &unfinished)?;
        for (name, content) in files {
            write_durably(&unfinished.join(name), content)?;
        }
        write_durably(&unfinished.join(RECORD), &to_json(record))?;
        let directory = self.directory(&record.id);
        let machines = self.private(MACHINES)?;
        std::fs::rename(&unfinished, &directory).at("make", &directory)?;
        sync(&machines)
    }

    /// Notes how far a machine is.
    pub(super) fn set_stage(&self, record: &mut Record, stage: Stage) -> Result<(), LocalError> {
        record.stage = stage;
        write_durably(&self.directory(&record.id).join(RECORD), &to_json(record))
    }

    /// Removes the machine's directory: its record at once, so that there is no machine without one, then the rest.
    pub(super) fn remove(&self, id: &str) -> Result<(), LocalError> {
        let directory = self.directory(id);
        let doomed = self.private(TRASH)?.join(id);
        remove_tree(&doomed)?;
        match std::fs::rename(&directory, &doomed) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed.at("remove", &directory)?,
        }
        sync(&self.private(MACHINES)?)?;
        remove_tree(&doomed)
    }

    /// Removes what an interrupted [`Self::remove`] left.
    pub(super) fn empty_trash(&self) -> Result<(), LocalError> {
        self.empty(TRASH)
    }

    /// A directory of ours that only root may enter: it holds private keys and the disks of machines.
    pub(super) fn private(&self, name: &str) -> Result<PathBuf, LocalError> {
        use std::os::unix::fs::DirBuilderExt;
        let directory = self.state_dir.join(name);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).at("make", &directory)?;
        Ok(directory)
    }

    fn empty(&self, name: &str) -> Result<(), LocalError> {
        let directory = self.private(name)?;
        for entry in std::fs::read_dir(&directory).at("list", &directory)? {
            remove_tree(&entry.at("list", &directory)?.path())?;
        }
        Ok(())
    }
}

fn remove_tree(path: &Path) -> Result<(), LocalError> {
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.at("remove", path),
    }
}

fn to_json(record: &Record) -> Vec<u8> {
    serde_json::to_vec_pretty(record).expect("a record has only text keys and finite numbers")
}

/// Writes a file, readable by root only, so that after a crash it is there whole, or as it was.
pub(super) fn write_durably(path: &Path, content: &[u8]) -> Result<(), LocalError> {
    use std::os::unix::fs::OpenOptionsExt;
    let unfinished = path.with_extension("new");
    let write = || -> std::io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, path)
    };
    write().at("write", path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Makes sure that what was renamed in a directory stays so.
fn sync(directory: &Path) -> Result<(), LocalError> {
    std::fs::File::open(directory).and_then(|file| file.sync_all()).at("write", directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str) -> Record {
        Record {
            id: id.to_owned(),
            node: "node".to_owned(),
            hostname: "one.example".to_owned(),
            base: "/images/debian-12".into(),
            bridge: "br".to_owned(),
            network: "10.77.0.0/24".parse().unwrap(),
            address: Ipv4Addr::new(10, 77, 0, 2),
            limits: Limits::default(),
            host_key: "AAAA".to_owned(),
            stage: Stage::Making,
        }
    }

    #[test]
    fn ids_differ_between_servers_and_nodes_and_fit_interfaces() {
        let id = machine_id("a", "n1");
        assert_eq!(id, machine_id("a", "n1"));
        assert!(id != machine_id("b", "n1") && id != machine_id("a", "n2") && id != machine_id("an", "1"));
        assert_eq!((id.len(), cable(&id).len()), (17, 14));
    }

    #[test]
    fn a_record_is_kept_changed_and_removed() {
        let state = tempfile::tempdir().unwrap();
        let records = Records::new(state.path());
        assert_eq!(records.all().unwrap(), []);
        let mut one = record("coop-1");
        records.add(&one, &[("key", b"secret")]).unwrap();
        records.set_stage(&mut one, Stage::Ready).unwrap();
        assert_eq!(records.all().unwrap(), [one]);
        assert_eq!(std::fs::read(records.directory("coop-1").join("key")).unwrap(), b"secret");
        records.remove("coop-1").unwrap();
        records.remove("coop-1").unwrap();
        assert_eq!(records.load("coop-1").unwrap(), None);
        assert_eq!(std::fs::read_dir(state.path().join("trash")).unwrap().count(), 0);
    }

    #[test]
    fn what_was_left_half_added_or_half_removed_goes() {
        let state = tempfile::tempdir().unwrap();
        let records = Records::new(state.path());
        for left in ["unfinished/coop-9", "trash/coop-9/up"] {
            std::fs::create_dir_all(state.path().join(left)).unwrap();
        }
        records.add(&record("coop-1"), &[]).unwrap();
        records.empty_trash().unwrap();
        assert_eq!(records.ids().unwrap(), ["coop-1"]);
        for directory in ["unfinished", "trash"] {
            assert_eq!(std::fs::read_dir(state.path().join(directory)).unwrap().count(), 0, "{directory}");
        }
    }

    #[test]
    fn a_damaged_record_is_named() {
        let state = tempfile::tempdir().unwrap();
        let records = Records::new(state.path());
        records.add(&record("coop-1"), &[]).unwrap();
        std::fs::write(records.directory("coop-1").join("machine.json"), "{").unwrap();
        let fault = records.all().unwrap_err().to_string();
        assert!(fault.contains("coop-1/machine.json") && fault.contains("restore it"), "{fault}");
    }
}
