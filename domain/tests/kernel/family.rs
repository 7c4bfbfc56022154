//! A shop built upon a database that another cluster runs.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Inheritance, Offered, Origins, Published};
use cooperage_domain::entity::{Requirement, Scope};
use cooperage_domain::id::ClusterId;
use cooperage_domain::task::NodeProperties;
use serde_json::json;

use crate::sketch::{Sketch, node_id};

/// The cluster with the database.
pub const BASE: ClusterId = ClusterId(7);

/// What it publishes: a database on one node with this address, which was reached under this port.
pub fn base(address: &str, port: u32) -> Vec<Published> {
    let node = NodeProperties {
        hostname: Some("base7-1000.local".into()),
        ipaddresses: BTreeMap::from([("bind_v4".to_owned(), address.to_owned())]),
        nodenum: 1000,
        services: ["db".to_owned()].into(),
        ..NodeProperties::default()
    };
    let port = json!({"base7-1000.local": port}).as_object().cloned().unwrap();
    let db =
        Offered { provides: ["sql".to_owned()].into(), outputs: BTreeMap::from([("port".to_owned(), port)]) };
    vec![Published {
        cluster: BASE,
        name: "base".into(),
        nodes: BTreeMap::from([(node_id("b1"), node)]),
        services: BTreeMap::from([("db".to_owned(), db)]),
    }]
}

/// A web server that takes the address of the database, one that takes its port, and one that takes neither.
pub fn shop() -> Sketch {
    let mut sketch = Sketch::new(
        "app: install configure start stop\n\
         pool: configure start stop\n\
         log: configure start stop\n\
         n1 = app log\nn2 = pool",
    );
    let inputs = |sketch: &mut Sketch, service: &str, inputs| {
        sketch.services.get_mut(service).unwrap().inputs = serde_json::from_value(inputs).unwrap();
    };
    inputs(&mut sketch, "app", json!([{"name": "db", "at": "app.db"}]));
    inputs(&mut sketch, "pool", json!([{"name": "port", "at": "outputs.db.port"}]));
    inputs(&mut sketch, "log", json!([{"name": "title", "at": "log.title"}]));
    sketch.services.get_mut("app").unwrap().dependencies.runtime.requires =
        [Requirement { scope: Scope::Ancestors, ..Requirement::plain("sql") }].into();
    sketch.config = json!({"app": {"db": "%ip.service.db%"}, "log": {"title": "one"}});
    sketch.origins = Origins {
        parent: Some(Inheritance { from: BASE, lineage: base("10.0.0.1", 5432) }),
        foundation: None,
    };
    sketch.limits.max_attempts = 2;
    for node in sketch.nodes.values_mut() {
        node.automators = ["shell".to_owned()].into();
    }
    sketch
}
