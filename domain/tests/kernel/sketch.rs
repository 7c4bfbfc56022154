//! Clusters drawn in a few words.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Account, CreateOrder, Limits, Origins};
use cooperage_domain::entity::{ActionSpec, Requirement, Scope, Service, ServiceAction};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::task::NodeProperties;
use serde_json::{Value, json};
use uuid::Uuid;

/// Services, and the nodes that carry them.
#[derive(Debug, Clone)]
pub struct Sketch {
    pub services: BTreeMap<String, Service>,
    pub nodes: BTreeMap<NodeId, NodeProperties>,
    pub limits: Limits,
    pub config: Value,
    pub template: Value,
    /// Whom the cluster is built upon.
    pub origins: Origins,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            services: BTreeMap::new(),
            nodes: BTreeMap::new(),
            limits: Limits::default(),
            config: json!({"owner": "%cluster.owner%"}),
            template: json!({"name": "shop"}),
            origins: Origins::default(),
        }
    }
}

impl Sketch {
    /// Reads lines of two forms: `NODE = SERVICE...`, and `SERVICE: ACTION... | NAME...` for a service that needs the
    /// services behind the bar to run: `NAME@node` on the same machine.
    pub fn new(text: &str) -> Self {
        let mut sketch = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((node, services)) = line.split_once('=') {
                sketch.add_node(node.trim(), services.split_whitespace());
            } else {
                let service = service(line);
                sketch.services.insert(service.name().to_owned(), service);
            }
        }
        sketch
    }

    /// One service that needs nothing, on so many nodes: `n1`, `n2` and so on.
    pub fn alike(actions: &str, nodes: u32) -> Self {
        let mut sketch = Self::new(&format!("web: {actions}"));
        for number in 1..=nodes {
            sketch.add_node(&format!("n{number}"), ["web"]);
        }
        sketch
    }

    pub fn add_node<'a>(&mut self, name: &str, services: impl IntoIterator<Item = &'a str>) {
        let number = 1000 + u32::try_from(self.nodes.len()).unwrap();
        let properties = NodeProperties {
            hostname: Some(format!("{name}.local")),
            nodenum: number,
            hardwaretype: "small".into(),
            imagetype: "debian".into(),
            flavor: "1cpu".into(),
            image: "debian-12".into(),
            sshuser: "root".into(),
            services: services.into_iter().map(str::to_owned).collect(),
            ..NodeProperties::default()
        };
        self.nodes.insert(node_id(name), properties);
    }

    /// What a cluster of these services is made from.
    pub fn order(&self) -> CreateOrder {
        CreateOrder {
            id: ClusterId(42),
            name: "shop".into(),
            description: String::new(),
            account: Account { user_id: "ann".into(), tenant_id: "t1".into() },
            expires: 0,
            provider: serde_json::from_value(json!({"name": "here", "providertype": "local"})).unwrap(),
            template: serde_json::from_value(self.template.clone()).unwrap(),
            services: self.services.keys().cloned().collect(),
            definitions: self.services.clone(),
            config: self.config.as_object().cloned().unwrap(),
            dns_suffix: None,
            seed: Uuid::nil(),
            limits: self.limits.clone(),
            origins: self.origins.clone(),
        }
    }
}

pub fn node_id(name: &str) -> NodeId {
    NodeId(name.to_owned())
}

fn service(line: &str) -> Service {
    let (name, rest) = line.split_once(':').unwrap();
    let (actions, needs) = rest.split_once('|').unwrap_or((rest, ""));
    let mut service = Service::default();
    service.base.name = name.trim().to_owned();
    for action in actions.split_whitespace() {
        let key: ServiceAction = serde_json::from_value(json!(action)).unwrap();
        let fields = BTreeMap::from([("script".to_owned(), format!("{name}.sh"))]);
        service
            .provisioner
            .actions
            .insert(key, ActionSpec { automator: "shell".into(), fields, timeout: None });
    }
    let required = |word: &str| match word.split_once('@') {
        Some((name, "node")) => Requirement { scope: Scope::Node, ..Requirement::plain(name) },
        _ => Requirement::plain(word),
    };
    service.dependencies.runtime.requires = needs.split_whitespace().map(required).collect();
    service
}
