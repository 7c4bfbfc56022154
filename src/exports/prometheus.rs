//! Prometheus: targets for `file_sd_configs`.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::inventory::Inventory;

/// A group of targets for each service, at one port of its nodes.
pub fn write(inventory: &Inventory, port: u16) -> String {
    let groups: Vec<Value> = inventory
        .services()
        .into_iter()
        .map(|service| {
            let hosts = inventory.hosts.iter().filter(|host| host.services.contains(service));
            let targets: Vec<String> = hosts.map(|host| target(&host.address, port)).collect();
            let labels = json!({"cluster": inventory.name, "cluster_id": inventory.id, "service": service});
            json!({ "targets": targets, "labels": labels })
        })
        .collect();
    // Plain data with text keys always becomes JSON.
    serde_json::to_string_pretty(&groups).unwrap_or_default() + "\n"
}

fn target(address: &str, port: u16) -> String {
    match address.parse() {
        Ok(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        _ => format!("{address}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::inventory::samples::shop;
    use super::*;

    #[test]
    fn each_service_has_its_targets() {
        let read: Value = serde_json::from_str(&write(&shop(), 9100)).unwrap();
        let labels = |service: &str| json!({"cluster": "shop", "cluster_id": "00000042", "service": service});
        assert_eq!(
            read,
            json!([
                {"targets": ["10.1.0.2:9100"], "labels": labels("nginx")},
                {"targets": ["10.1.0.2:9100", "10.1.0.3:9100"], "labels": labels("node-app")},
            ])
        );
        assert_eq!(target("fd00::2", 80), "[fd00::2]:80");
    }
}
