//! A provider of its own for one test, and a look at what it leaves on the host.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
use cooperage_domain::task::{NodeProperties, TaskConfig, TaskName, TaskOrder, TaskReport};
use cooperage_plugins::local::{LocalProvider, LocalSettings, images, preflight};
use cooperage_plugins::{Context, Provider};
use serde_json::{Map, Value};
use slog::{Discard, Logger, o};
use tokio_util::sync::CancellationToken;

/// The image all tests use.
pub const IMAGE: &str = "debian-12";

/// One provider with its directories. When dropped, also by a failing test, all its machines go.
pub struct Lab {
    pub provider: Arc<LocalProvider>,
    pub settings: LocalSettings,
    /// Ids of all machines it ever had, as far as tests saw them.
    pub seen: Mutex<Vec<String>>,
    _directory: tempfile::TempDir,
}

impl Lab {
    /// `None`, after saying why, where machines cannot run.
    pub async fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let settings = settings(directory.path());
        let missing = preflight(&settings).await;
        if !missing.is_empty() {
            eprintln!("SKIPPED, since this host cannot carry machines:");
            missing.iter().for_each(|refusal| eprintln!("  {refusal}"));
            return None;
        }
        let recipe = images::Recipe::named(IMAGE).unwrap();
        images::build(&settings.images_dir, IMAGE, &recipe).await.unwrap();
        let provider = Arc::new(LocalProvider::new(settings.clone(), Logger::root(Discard, o!())).unwrap());
        Some(Self { provider, settings, seen: Mutex::default(), _directory: directory })
    }

    /// Another provider with the same state, as after a restart of the server.
    pub fn restarted(&self) -> LocalProvider {
        LocalProvider::new(self.settings.clone(), Logger::root(Discard, o!())).unwrap()
    }

    /// Creates and confirms a machine that must come up.
    pub async fn machine(&self, node: &str) -> Machine {
        let machine = up(&self.provider, node).await;
        self.seen.lock().unwrap().push(machine.id.clone());
        Machine { identity: self.settings.identity.clone(), ..machine }
    }

    /// All that is left on the host of the machines seen, and of this lab's directories.
    pub fn leftovers(&self) -> Vec<String> {
        let ids = self.seen.lock().unwrap().clone();
        let state = self.settings.state_dir.display().to_string();
        let mut found = Vec::new();
        for id in ids {
            let digits = id.trim_start_matches("coop-");
            found.extend(exists(format!("/run/netns/{id}")));
            found.extend(exists(format!("/sys/class/net/cv{digits}")));
            for hierarchy in ["systemd", "unified", "pids", "memory", "cpu", "."] {
                found.extend(exists(format!("/sys/fs/cgroup/{hierarchy}/{id}")));
            }
        }
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        found.extend(mounts.lines().filter(|line| line.contains(&state)).map(str::to_owned));
        found.extend(processes_with(&state));
        for entry in std::fs::read_dir("/run/cooperage/local").unwrap().flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            found.extend(text.contains(&state).then(|| entry.path().display().to_string()));
        }
        for directory in ["machines", "unfinished", "trash", "locks"] {
            let entries = std::fs::read_dir(self.settings.state_dir.join(directory)).into_iter().flatten();
            found.extend(entries.flatten().map(|entry| entry.path().display().to_string()));
        }
        found
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let provider = self.provider.clone();
        let clean = move || {
            tokio::runtime::Runtime::new().unwrap().block_on(async {
                for machine in provider.machines().await.unwrap() {
                    provider.remove(&NodeId(machine.node)).await.unwrap();
                }
            });
        };
        // A runtime cannot be waited for inside another, hence the thread.
        let cleaned = std::thread::spawn(clean).join().is_ok();
        if !std::thread::panicking() {
            assert!(cleaned, "machines could not be deleted");
            assert_eq!(self.leftovers(), [""; 0], "left on the host");
        }
    }
}

/// A machine that came up.
pub struct Machine {
    pub id: String,
    pub address: String,
    host_key: String,
    identity: PathBuf,
}

impl Machine {
    /// Runs a command in it by ssh, checking its host key, and returns what it printed.
    pub fn run(&self, command: &str) -> Result<String, String> {
        let directory = tempfile::tempdir().unwrap();
        let known = directory.path().join("known");
        std::fs::write(&known, format!("{} ssh-ed25519 {}\n", self.address, self.host_key)).unwrap();
        let output = Command::new("ssh")
            .args([
                "-F",
                "none",
                "-o",
                "BatchMode=yes",
                "-o",
                "StrictHostKeyChecking=yes",
                "-o",
                "ConnectTimeout=10",
            ])
            .arg("-o")
            .arg(format!("UserKnownHostsFile={}", known.display()))
            .arg("-i")
            .arg(&self.identity)
            .arg(format!("root@{}", self.address))
            .arg(command)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(format!("{command}: {} {}", text(&output.stdout), text(&output.stderr))),
        }
    }
}

/// Creates and confirms a node's machine.
pub async fn up(provider: &LocalProvider, node: &str) -> Machine {
    let created = provider.create(&task(TaskName::Create, node)).await.unwrap();
    let confirmed = provider.confirm(&task(TaskName::Confirm, node)).await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Machine {
        id: text(&created.result["providerid"]),
        address: confirmed.ipaddresses.unwrap()["access_v4"].clone(),
        host_key: text(&created.result["ssh_host_keys"]["ed25519"]),
        identity: created.result["ssh-auth"]["identityfile"].as_str().unwrap().into(),
    }
}

/// Deletes a node's machine.
pub async fn down(provider: &LocalProvider, node: &str) -> TaskReport {
    provider.delete(&task(TaskName::Delete, node)).await.unwrap()
}

/// A task for a node of the usual kind.
pub fn task(name: TaskName, node: &str) -> Context {
    task_with(name, node, "1cpu-512m", IMAGE, Map::new())
}

/// A task for a node with this flavor, this image and these provider fields.
pub fn task_with(
    name: TaskName,
    node: &str,
    flavor: &str,
    image: &str,
    fields: Map<String, Value>,
) -> Context {
    let job_id = JobId { cluster: ClusterId(1), number: 1 };
    let properties = NodeProperties {
        hostname: Some(format!("{node}.lab.example")),
        flavor: flavor.to_owned(),
        image: image.to_owned(),
        sshuser: "root".to_owned(),
        ..NodeProperties::default()
    };
    let mut config = TaskConfig { node: properties, ..TaskConfig::default() };
    config.provider.provisioner = fields;
    let order = TaskOrder {
        task_id: TaskId { job: job_id, number: 1 },
        job_id,
        cluster_id: ClusterId(1),
        task_name: name,
        node_id: NodeId(node.to_owned()),
        attempt: 1,
        config,
    };
    Context { tenant: "t".to_owned(), order, output: Arc::new(()), cancel: CancellationToken::new() }
}

/// Settings with everything below one directory, except the images, which are kept from run to run.
pub fn settings(directory: &Path) -> LocalSettings {
    let cache = std::env::var_os("COOPERAGE_TEST_CACHE").map_or("/var/cache/cooperage".into(), PathBuf::from);
    let mut settings =
        LocalSettings::new(directory.join("state"), cache.join("images"), directory.join("keys/id_ed25519"));
    settings.boot_timeout = Duration::from_secs(180);
    settings
}

fn exists(path: String) -> Option<String> {
    Path::new(&path).exists().then_some(path)
}

/// Processes whose command line holds this text.
fn processes_with(text: &str) -> Vec<String> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    let lines = numbers.filter_map(|path| std::fs::read_to_string(path).ok());
    lines.filter(|line| line.contains(text)).map(|line| line.replace('\0', " ")).collect()
}
