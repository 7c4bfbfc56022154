//! What one server has on the host: counted while machines run, and nothing afterwards.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where servers note which bridge they took.
const RESERVATIONS: &str = "/run/cooperage/local";
/// cgroup hierarchies, of version 1 and 2, that may hold a machine's group.
const HIERARCHIES: [&str; 8] = ["", "unified", "systemd", "pids", "memory", "cpu", "cpu,cpuacct", "freezer"];

/// By what the things of one server are known.
#[derive(Debug)]
pub struct Footprint {
    state_dir: PathBuf,
    machines: BTreeSet<String>,
    bridges: BTreeSet<String>,
}

impl Footprint {
    /// Of the server whose local provider keeps its state here.
    pub fn new(state_dir: PathBuf) -> Self {
        Self { state_dir, machines: BTreeSet::new(), bridges: BTreeSet::new() }
    }

    /// Takes note of the machines and bridges there are now, and gives all that is on the host.
    pub fn now(&mut self) -> Vec<String> {
        self.machines.extend(names(&self.state_dir.join("machines")));
        self.bridges.extend(self.reservations().iter().filter_map(|text| {
            let reservation: Value = serde_json::from_str(text).ok()?;
            Some(reservation["bridge"].as_str()?.to_owned())
        }));
        let state = self.state_dir.display().to_string();
        let mut found = self.reservations();
        for id in &self.machines {
            found.extend(there(format!("/run/netns/{id}")));
            found.extend(there(format!("/sys/class/net/cv{}", id.trim_start_matches("coop-"))));
            let groups = HIERARCHIES.iter().map(|name| format!("/sys/fs/cgroup/{name}/{id}"));
            found.extend(groups.filter_map(there));
        }
        let tables = printed("nft", &["list", "tables"]);
        for bridge in &self.bridges {
            found.extend(there(format!("/sys/class/net/{bridge}")));
            found.extend(
                tables.lines().filter(|line| line.contains(&bridge.replace('-', "_"))).map(str::to_owned),
            );
        }
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        found.extend(mounts.lines().filter(|line| line.contains(&state)).map(str::to_owned));
        found.extend(processes_with(&state));
        for directory in ["machines", "unfinished", "trash", "locks"] {
            found.extend(names(&self.state_dir.join(directory)).map(|name| format!("{directory}/{name}")));
        }
        found
    }

    /// The notes about bridges of this server.
    fn reservations(&self) -> Vec<String> {
        let state = self.state_dir.display().to_string();
        let files = names(Path::new(RESERVATIONS)).map(|name| Path::new(RESERVATIONS).join(name));
        let texts = files.filter_map(|path| std::fs::read_to_string(path).ok());
        texts.filter(|text| text.contains(&state)).collect()
    }
}

fn names(directory: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

fn there(path: String) -> Option<String> {
    Path::new(&path).exists().then_some(path)
}

fn printed(program: &str, arguments: &[&str]) -> String {
    String::from_utf8(Command::new(program).args(arguments).output().unwrap().stdout).unwrap()
}

/// Processes whose command line holds this text, the server's own settings apart.
fn processes_with(text: &str) -> Vec<String> {
    let numbers = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    let lines = numbers.filter_map(|path| std::fs::read_to_string(path).ok());
    lines.filter(|line| line.contains(text)).map(|line| line.replace('\0', " ")).collect()
}
