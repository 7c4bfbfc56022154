//! Ansible: an inventory in YAML.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::inventory::{Host, Inventory};
use super::ssh_config::known_hosts_command;

/// All nodes with their variables, and a group for each service.
pub fn write(inventory: &Inventory) -> String {
    let hosts: Map<String, Value> =
        inventory.hosts.iter().map(|host| (host.name.clone(), variables(host))).collect();
    let groups: Map<String, Value> = groups(inventory)
        .into_iter()
        .map(|(group, names)| {
            let members: Map<String, Value> =
                names.into_iter().map(|name| (name.to_owned(), json!({}))).collect();
            (group, json!({ "hosts": members }))
        })
        .collect();
    let document = json!({"all": {
        "hosts": hosts,
        "vars": {"cooperage_cluster": inventory.name, "cooperage_cluster_id": inventory.id},
        "children": groups,
    }});
    // Plain data with text keys always becomes YAML.
    serde_saphyr::to_string(&document).unwrap_or_default()
}

fn variables(host: &Host) -> Value {
    let mut variables = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        variables.extend(value.map(|value| (name.to_owned(), value)));
    };
    set("ansible_host", Some(json!(host.address)));
    set("ansible_user", host.user.as_ref().map(|user| json!(user)));
    set("ansible_port", host.port.map(|port| json!(port)));
    set("ansible_ssh_private_key_file", host.identity.as_ref().map(|file| json!(file)));
    set("ansible_ssh_common_args", host.host_key.as_ref().map(|key| json!(pinned(key))));
    set("cooperage_node", Some(json!(host.number)));
    Value::Object(variables)
}

/// Options of ssh that trust just this host key.
fn pinned(key: &str) -> String {
    format!(
        "-o StrictHostKeyChecking=yes -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null \
         -o HostKeyAlgorithms=ssh-ed25519 -o 'KnownHostsCommand={}'",
        known_hosts_command(key)
    )
}

/// Names of nodes by group.
fn groups(inventory: &Inventory) -> BTreeMap<String, BTreeSet<&str>> {
    let mut groups: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for service in inventory.services() {
        let members = inventory.hosts.iter().filter(|host| host.services.contains(service));
        groups.entry(group(service)).or_default().extend(members.map(|host| host.name.as_str()));
    }
    groups
}

/// A group's name may hold letters, digits and `_`, begins with no digit, and is none that Ansible has itself.
fn group(service: &str) -> String {
    let name: String =
        service.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    let is_taken = matches!(name.as_str(), "all" | "ungrouped" | "");
    if is_taken || name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::super::inventory::samples::shop;
    use super::*;

    #[test]
    fn nodes_have_their_variables_and_services_their_groups() {
        let read: Value = serde_saphyr::from_str(&write(&shop())).unwrap();
        let host = |name: &str| read["all"]["hosts"][format!("{name}.lab.example.com")].clone();
        assert_eq!(
            host("shop1-1001"),
            json!({"ansible_host": "10.1.0.3", "ansible_user": "admin", "ansible_port": 2222,
                "ansible_ssh_private_key_file": "/d/my keys/k", "cooperage_node": 1001})
        );
        let arguments = host("shop1-1000")["ansible_ssh_common_args"].as_str().unwrap().to_owned();
        assert!(
            arguments.contains("StrictHostKeyChecking=yes") && arguments.contains("AAAAC3Nza"),
            "{arguments}"
        );
        let members = |group: &str| read["all"]["children"][group]["hosts"].as_object().unwrap().len();
        assert_eq!((members("nginx"), members("node_app")), (1, 2));
        assert_eq!(read["all"]["vars"]["cooperage_cluster_id"], "00000042");
    }

    #[test]
    fn groups_have_names_that_ansible_takes() {
        for (service, name) in
            [("nginx", "nginx"), ("node-app", "node_app"), ("9p", "_9p"), ("all", "_all"), ("a.b c", "a_b_c")]
        {
            assert_eq!(group(service), name);
        }
    }
}
