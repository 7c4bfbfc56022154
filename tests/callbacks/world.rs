//! A server with simulated machines, and clusters of one or two of them.

use std::time::Duration;

use cooperage_plugins::simulated::Scenario;
use serde_json::{Value, json};

use crate::lab::{Client, Server, apply};

pub const LIMIT: Duration = Duration::from_secs(60);

/// A server, the machines that its clusters have, and its superadmin.
pub struct World {
    pub server: Server,
    pub machines: tempfile::TempDir,
    pub admin: Client,
}

impl World {
    /// With these settings besides those that all of these tests have: targets on this host, and short pauses.
    pub fn start(settings: &[String]) -> Self {
        let machines = tempfile::Builder::new().prefix("cooperage-world-").tempdir().unwrap();
        let mut all = vec![
            format!("simulation.dir={}", machines.path().display()),
            "callbacks.allow_networks=127.0.0.1/32".to_owned(),
            "callbacks.retry_delay_ms=50".to_owned(),
        ];
        all.extend_from_slice(settings);
        let server = Server::start(&all);
        let admin = server.admin();
        let world = Self { server, machines, admin };
        apply(&world.admin, &catalog());
        world
    }

    /// Every task takes so long from now on.
    pub fn tasks_take(&self, ms: u64) {
        let scenario = Scenario { shortest_ms: ms, longest_ms: ms, ..Scenario::default() };
        scenario.write(self.machines.path()).unwrap();
    }

    /// How many machines there are.
    pub fn machines(&self) -> usize {
        std::fs::read_dir(self.machines.path().join("machines")).map_or(0, Iterator::count)
    }

    /// Makes a callback, and gives what is answered.
    pub fn hook(&self, hook: &Value) -> Value {
        self.admin.post("/v2/callbacks", hook).ok()
    }

    pub fn create(&self, name: &str) -> String {
        self.admin.create(&request(name))
    }

    pub fn deliveries(&self, hook: &str) -> Vec<Value> {
        let all = self.admin.get(&format!("/v2/callbacks/{hook}/deliveries")).ok();
        all.as_array().unwrap().clone()
    }
}

pub fn request(name: &str) -> Value {
    json!({"name": name, "clusterTemplate": "farm", "numMachines": 1})
}

fn catalog() -> Value {
    let action = json!({"type": "simulated", "fields": {}});
    json!([
        {"kind": "provider", "name": "sim", "providertype": "simulated", "provisioner": {"account": "lab"}},
        {"kind": "hardwaretype", "name": "small", "providermap": {"sim": {"flavor": "tiny"}}},
        {"kind": "imagetype", "name": "plain", "providermap": {"sim": {"image": "img-1", "sshuser": "root"}}},
        {"kind": "service", "name": "web", "dependencies": {"provides": [], "conflicts": []},
         "provisioner": {"actions": {"install": action, "start": action}}},
        {"kind": "clustertemplate", "name": "farm",
         "defaults": {"services": ["web"], "provider": "sim", "hardwaretype": "small", "imagetype": "plain"},
         "compatibility": {"hardwaretypes": ["small"], "imagetypes": ["plain"], "services": ["web"]},
         "constraints": {"size": {"min": 1, "max": 9}}},
    ])
}
