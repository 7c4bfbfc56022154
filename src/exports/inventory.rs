//! What is written down of a cluster, whatever the program it is for.

use std::collections::BTreeSet;

use serde_json::Value;

/// A cluster's nodes that can be reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inventory {
    /// The cluster's id.
    pub id: String,
    /// The cluster's name.
    pub name: String,
    /// Its nodes, by number.
    pub hosts: Vec<Host>,
}

/// One node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Host {
    /// Its host name with domain; unique in the cluster.
    pub name: String,
    /// Number in the cluster.
    pub number: u64,
    /// Where it is reached.
    pub address: String,
    /// Names of its services.
    pub services: BTreeSet<String>,
    /// Who to log in as.
    pub user: Option<String>,
    /// Port of SSH, where it is not the usual one.
    pub port: Option<u16>,
    /// File with the private key, on the server's host.
    pub identity: Option<String>,
    /// Its host key (Ed25519), without the algorithm's name.
    pub host_key: Option<String>,
}

impl Inventory {
    /// From a cluster as the server shows it. Nodes without an address, whose machines are not up yet, are left out.
    #[must_use]
    pub fn of(details: &Value) -> Self {
        let nodes = details["nodes"].as_array().into_iter().flatten();
        let mut hosts: Vec<Host> = nodes.filter_map(Host::of).collect();
        hosts.sort_by_key(|host| host.number);
        Self {
            id: text(&details["id"]).unwrap_or_default(),
            name: text(&details["name"]).unwrap_or_default(),
            hosts,
        }
    }

    /// With those nodes only that have one of these services; all, when there are none.
    #[must_use]
    pub fn with_services(mut self, services: &[String]) -> Self {
        self.hosts.retain(|host| services.is_empty() || services.iter().any(|it| host.services.contains(it)));
        self
    }

    /// Names of all services.
    #[must_use]
    pub fn services(&self) -> BTreeSet<&str> {
        self.hosts.iter().flat_map(|host| &host.services).map(String::as_str).collect()
    }
}

impl Host {
    fn of(node: &Value) -> Option<Self> {
        let properties = &node["properties"];
        let results = &node["provisionerResults"];
        let addresses = &properties["ipaddresses"];
        let address = text(&addresses["access_v4"]).or_else(|| text(&addresses["access_v6"]))?;
        let auth = &results["ssh-auth"];
        let number = properties["nodenum"].as_u64().unwrap_or_default();
        Some(Self {
            name: text(&properties["hostname"]).unwrap_or_else(|| format!("node-{number}")),
            number,
            address,
            services: properties["services"].as_array().into_iter().flatten().filter_map(text).collect(),
            user: text(&auth["user"]).or_else(|| text(&properties["sshuser"])),
            port: port(&auth["port"]),
            identity: text(&auth["identityfile"]),
            host_key: text(&results["ssh_host_keys"]["ed25519"]).and_then(|key| key_alone(&key)),
        })
    }

    /// The host name up to its first dot.
    #[must_use]
    pub fn short_name(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }
}

/// A text on one line: what is written here stands in files where a line has a meaning.
fn text(value: &Value) -> Option<String> {
    let text: String = value.as_str()?.chars().filter(|c| !c.is_control()).collect();
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// A port as a number or a text; the usual one need not be said.
fn port(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    u16::try_from(number).ok().filter(|port| *port != 0 && *port != 22)
}

/// The key, whether or not it is told with its algorithm.
fn key_alone(key: &str) -> Option<String> {
    let is_key = |word: &&str| {
        word.starts_with("AAAA") && word.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c))
    };
    key.split_whitespace().find(is_key).map(str::to_owned)
}

#[cfg(test)]
pub(super) mod samples {
    use serde_json::json;

    use super::*;

    /// Two nodes, and one whose machine is not up yet.
    pub fn shop() -> Inventory {
        Inventory::of(&json!({"id": "00000042", "name": "shop", "nodes": [
            {"properties": {"hostname": "shop1-1001.lab.example.com", "nodenum": 1001, "services": ["node-app"],
                "ipaddresses": {"access_v4": "10.1.0.3"}, "sshuser": "admin"},
             "provisionerResults": {"ssh-auth": {"port": "2222", "identityfile": "/d/my keys/k"}}},
            {"properties": {"hostname": "shop1-1000.lab.example.com", "nodenum": 1000, "services": ["nginx", "node-app"],
                "ipaddresses": {"access_v4": "10.1.0.2"}, "sshuser": "admin"},
             "provisionerResults": {"ssh-auth": {"user": "root", "identityfile": "/d/key", "port": 22},
                "ssh_host_keys": {"ed25519": "ssh-ed25519 AAAAC3Nza+/= host"}}},
            {"properties": {"hostname": "shop1-1002.lab.example.com", "nodenum": 1002, "services": ["nginx"]}},
        ]}))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::samples::shop;
    use super::*;

    #[test]
    fn nodes_that_can_be_reached_are_listed_by_number() {
        let shop = shop();
        assert_eq!((shop.id.as_str(), shop.name.as_str()), ("00000042", "shop"));
        let names: Vec<&str> = shop.hosts.iter().map(Host::short_name).collect();
        assert_eq!(names, ["shop1-1000", "shop1-1001"]);
        let [first, second] = shop.hosts.as_slice() else { panic!("two") };
        assert_eq!(
            (first.user.as_deref(), first.port, first.host_key.as_deref()),
            (Some("root"), None, Some("AAAAC3Nza+/="))
        );
        assert_eq!(
            (second.user.as_deref(), second.port, second.host_key.as_deref()),
            (Some("admin"), Some(2222), None)
        );
        assert_eq!(shop.services().into_iter().collect::<Vec<_>>(), ["nginx", "node-app"]);
        assert_eq!(shop.with_services(&["nginx".to_owned()]).hosts.len(), 1);
    }

    #[test]
    fn nothing_brings_lines_of_its_own() {
        let node = json!({"properties": {"hostname": "a\nHost *", "ipaddresses": {"access_v6": "fd00::2"}},
            "provisionerResults": {"ssh_host_keys": {"ed25519": "AAAA; rm -rf /"}, "ssh-auth": {"port": 70000}}});
        let host = Host::of(&node).unwrap();
        assert_eq!((host.name.as_str(), host.address.as_str()), ("aHost *", "fd00::2"));
        assert_eq!((host.host_key, host.port), (None, None));
    }
}
