//! What the simulated tenants offer: a few services that need each other, on machines of one provider.

use std::collections::BTreeMap;

use cooperage_domain::cluster::Catalog;
use cooperage_domain::entity::Service;
use cooperage_domain::quota::Quota;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Name of the provider type and of the automator type.
pub const PLUGIN: &str = "simulated";

/// Name of the errand that some services have.
pub const ERRAND: &str = "backup";

/// Tenants, by internal id: workers and quota.
pub const TENANTS: [(&str, u32, Quota); 2] =
    [("t1", 3, Quota { max_clusters: 2, max_nodes: 9 }), ("t2", 2, Quota { max_clusters: 1, max_nodes: 6 })];

/// Services with their actions and what they need to run. Those of the second half are for adding.
const SERVICES: [(&str, &[&str], &[&str]); 6] = [
    ("db", &["install", "configure", "initialize", "start", "stop", "remove", "probe"], &[]),
    ("app", &["install", "configure", "start", "stop", "remove", "probe"], &["db"]),
    ("web", &["install", "configure", "start", "stop"], &["app"]),
    ("log", &["install", "start", "stop"], &[]),
    ("cache", &["configure", "start", "stop", "remove"], &[]),
    ("search", &["install", "configure", "start"], &["db", "cache"]),
];

/// A service that is only asked for of clusters upon others.
const FRONT: &str = "front";

/// What clusters are asked for with: each set holds what its services need.
pub const SETS: [&[&str]; 6] =
    [&["db"], &["db", "app"], &["db", "app", "web"], &["log"], &["db", "log"], &["cache", "db", "app"]];

/// What clusters upon others are asked for with: the first takes the database of the one below.
pub const UPON: [&[&str]; 2] = [&["front"], &["front", "log"]];

/// What can be added.
pub const MORE: [&[&str]; 4] = [&["log"], &["cache"], &["cache", "search"], &["web"]];

/// Templates, with the smallest cluster each allows.
pub const TEMPLATES: [(&str, u64); 2] = [("any", 1), ("apart", 2)];

/// What a text of a tenant holds, and none of another one.
#[must_use]
pub fn mark(tenant: &str) -> String {
    format!("mark-of-{tenant}")
}

/// What only workers of a tenant may see.
#[must_use]
pub fn secret(tenant: &str) -> String {
    format!("secret-of-{tenant}")
}

/// All services, by name.
#[must_use]
pub fn services() -> BTreeMap<String, Service> {
    let service = |(name, actions, needs): &(&str, &[&str], &[&str])| {
        let action = |action: &&str| {
            ((*action).to_owned(), json!({"type": PLUGIN, "fields": {"script": format!("{name}-{action}")}}))
        };
        let actions: serde_json::Map<String, Value> = actions.iter().map(action).collect();
        // Some take one value of the configuration, the others take all of it.
        let inputs = if needs.is_empty() { json!(null) } else { json!([{"name": "port"}]) };
        let document = json!({
            "name": name,
            "inputs": inputs,
            "errands": {ERRAND: {"type": PLUGIN, "fields": {"script": "errand"}}},
            "dependencies": {"runtime": {"requires": needs}},
            "provisioner": {"actions": actions},
        });
        ((*name).to_owned(), read(document))
    };
    let mut services: BTreeMap<String, Service> = SERVICES.iter().map(service).collect();
    services.insert(FRONT.to_owned(), front());
    services
}

/// A service that takes the databases of the cluster below.
fn front() -> Service {
    let action = |action: &str| json!({"type": PLUGIN, "fields": {"script": format!("front-{action}")}});
    read(json!({
        "name": FRONT,
        "inputs": [{"name": "hosts", "at": "members.db"}, {"name": "port"}],
        "dependencies": {"runtime": {"requires": [{"name": "db", "scope": "ancestors"}]}},
        "provisioner": {"actions": {
            "configure": action("configure"), "start": action("start"), "stop": action("stop"), "probe": action("probe"),
        }},
    }))
}

/// Everything a tenant describes.
#[must_use]
pub fn of_tenant(tenant: &str) -> Catalog {
    let names: Vec<&str> = SERVICES.iter().map(|(name, ..)| *name).chain([FRONT]).collect();
    let template = |name: &str, constraints: Value| {
        json!({
            "name": name,
            "defaults": {"services": ["db"], "provider": "cloud", "config": {"mark": mark(tenant), "port": 80}},
            "compatibility": {"hardwaretypes": ["small"], "imagetypes": ["debian"], "services": names},
            "constraints": constraints,
            "administration": {"leaseduration": {"initial": "40m", "max": "3h", "step": "1h"}},
        })
    };
    let field =
        |sensitive: bool| json!({"label": "Field", "type": "text", "tip": "", "sensitive": sensitive});
    let parameters = json!({"fields": {"account": field(false), "password": field(true)}, "required": []});
    Catalog {
        provider_types: vec![read(json!({"name": PLUGIN, "parameters": {"admin": parameters}}))],
        providers: vec![read(json!({
            "name": "cloud",
            "providertype": PLUGIN,
            "provisioner": {"account": mark(tenant), "password": secret(tenant)},
        }))],
        hardware: vec![read(json!({"name": "small", "providermap": {"cloud": {"flavor": "1cpu"}}}))],
        images: vec![read(
            json!({"name": "debian", "providermap": {"cloud": {"image": "debian-12", "sshuser": "root"}}}),
        )],
        services: services().into_values().collect(),
        templates: vec![
            read(template("any", json!({"size": {"min": 1, "max": 6}}))),
            read(template(
                "apart",
                json!({"size": {"min": 2, "max": 6}, "layout": {"cantcoexist": [["db", "web"], ["db", "log"]]}}),
            )),
        ],
        partials: Vec::new(),
    }
}

/// A document of this file, which is right.
fn read<T: DeserializeOwned>(document: Value) -> T {
    let text = document.to_string();
    serde_json::from_value(document).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}
