//! A server with real machines; all of them go when the test ends, also when it fails.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use cooperage_domain::id::NodeId;
use cooperage_plugins::local::{LocalProvider, LocalSettings, images, preflight};
use cooperage_plugins::{PowerAction, Provider};
use serde_json::Value;
use slog::{Discard, Logger, o};
use tokio::runtime::Runtime;

use crate::footprint::Footprint;
use crate::lab::{Server, apply_folder};

/// Longest time a job on real machines may take: packages come from mirrors that may be slow.
pub const LIMIT: Duration = Duration::from_secs(600);
/// The image all machines use.
const IMAGE: &str = "debian-12";

/// Images are kept from run to run.
static IMAGES: LazyLock<PathBuf> = LazyLock::new(|| {
    let cache = std::env::var_os("COOPERAGE_TEST_CACHE").map_or("/var/cache/cooperage".into(), PathBuf::from);
    cache.join("images")
});

/// The host's network. A browser gives up whatever it loads when bridges and cables of others come and go.
pub static NETWORK: RwLock<()> = RwLock::new(());

/// A server with real machines.
pub struct Machines {
    pub server: Server,
    pub footprint: Footprint,
    /// Where the machines and the key to them are kept.
    kept: PathBuf,
    provider: LocalProvider,
    runtime: Runtime,
    /// Nothing for those that have the host's network for themselves. The last to go: machines take parts of it with them.
    _network: Option<RwLockReadGuard<'static, ()>>,
}

impl Machines {
    /// With these folders of the catalog; `None`, after saying why, where machines cannot run.
    pub fn start(folders: &[&str], settings: &[&str]) -> Option<Self> {
        Self::start_for(folders, settings, Server::data_dir)
    }

    /// The same for whoever holds all of [`NETWORK`].
    pub fn start_alone(folders: &[&str], settings: &[&str]) -> Option<Self> {
        Self::start_in(None, folders, settings, Server::data_dir)
    }

    /// The same, with machines that are kept elsewhere than in the server's data directory.
    pub fn start_for(
        folders: &[&str],
        settings: &[&str],
        kept: impl FnOnce(&Server) -> PathBuf,
    ) -> Option<Self> {
        // Whoever held it and failed has left nothing in it that is wrong.
        let network = NETWORK.read().unwrap_or_else(PoisonError::into_inner);
        Self::start_in(Some(network), folders, settings, kept)
    }

    fn start_in(
        network: Option<RwLockReadGuard<'static, ()>>,
        folders: &[&str],
        settings: &[&str],
        kept: impl FnOnce(&Server) -> PathBuf,
    ) -> Option<Self> {
        let runtime = Runtime::new().unwrap();
        let probe = tempfile::tempdir().unwrap();
        let missing = runtime.block_on(preflight(&local_settings(probe.path())));
        if !missing.is_empty() {
            println!("SKIPPED, since this host cannot carry machines:");
            missing.iter().for_each(|refusal| println!("  {refusal}"));
            return None;
        }
        let recipe = images::Recipe::named(IMAGE).unwrap();
        runtime.block_on(images::build(&IMAGES, IMAGE, &recipe)).unwrap();
        let mut all = machine_settings();
        all.extend(settings.iter().map(|setting| (*setting).to_owned()));
        let server = Server::start(&all);
        let kept = kept(&server);
        let settings = local_settings(&kept);
        let footprint = Footprint::new(settings.state_dir.clone());
        let provider = LocalProvider::new(settings, Logger::root(Discard, o!())).unwrap();
        let machines = Self { server, footprint, kept, provider, runtime, _network: network };
        let admin = machines.server.admin();
        folders.iter().for_each(|folder| apply_folder(&admin, folder));
        Some(machines)
    }

    /// Nodes that have a machine, or parts of one.
    pub fn nodes(&self) -> Vec<String> {
        let machines = self.runtime.block_on(self.provider.machines()).unwrap();
        let mut nodes: Vec<_> = machines.into_iter().map(|machine| machine.node).collect();
        nodes.sort();
        nodes
    }

    /// Cuts the power of a node's machine.
    pub fn cut_power(&self, node: &Value) {
        let machine = node["provisionerResults"]["providerid"].as_str().unwrap();
        self.runtime.block_on(self.provider.power(machine, PowerAction::Off)).unwrap();
    }

    /// Runs a command on a node by ssh, checking its host key, and gives what it printed.
    pub fn run(&self, node: &Value, command: &str) -> Result<String, String> {
        let directory = tempfile::tempdir().unwrap();
        let known = directory.path().join("known");
        let address = address(node);
        let key = node["provisionerResults"]["ssh_host_keys"]["ed25519"].as_str().unwrap();
        std::fs::write(&known, format!("{address} ssh-ed25519 {key}\n")).unwrap();
        let output = Command::new("ssh")
            .args(["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"])
            .args(["-o", "ConnectTimeout=10", "-o", &format!("UserKnownHostsFile={}", known.display())])
            .arg("-i")
            .arg(self.kept.join("identity"))
            .args([&format!("root@{address}"), command])
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(format!("{command}: {} {}", text(&output.stdout), text(&output.stderr))),
        }
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.server.kill();
        let left = self.runtime.block_on(async {
            let mut faults = Vec::new();
            for machine in self.provider.machines().await.unwrap_or_default() {
                faults.extend(self.provider.remove(&NodeId(machine.node)).await.err());
            }
            faults
        });
        if !std::thread::panicking() {
            assert!(left.is_empty(), "machines could not be deleted: {left:?}");
            assert_eq!(self.footprint.now(), [""; 0], "left on the host");
        }
    }
}

/// Settings of whoever makes the machines.
pub fn machine_settings() -> Vec<String> {
    vec![format!("local.images_dir={}", IMAGES.display()), "local.bridge=".to_owned()]
}

/// As the server with this data directory has them.
fn local_settings(data_dir: &Path) -> LocalSettings {
    LocalSettings::new(data_dir.join("local"), IMAGES.clone(), data_dir.join("identity"))
}

/// Where a node is reached.
pub fn address(node: &Value) -> &str {
    node["properties"]["ipaddresses"]["access_v4"].as_str().unwrap()
}

/// The nodes of a cluster that carry a service.
pub fn nodes_with<'a>(cluster: &'a Value, service: &str) -> Vec<&'a Value> {
    let carries =
        |node: &&Value| node["properties"]["services"].as_array().unwrap().iter().any(|name| name == service);
    cluster["nodes"].as_array().unwrap().iter().filter(carries).collect()
}
