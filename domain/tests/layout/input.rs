//! Short ways to write catalogs, templates and layouts in tests.

use std::collections::BTreeSet;

use cooperage_domain::entity::{ClusterTemplate, HardwareType, ImageType, Service};
use cooperage_domain::layout::{Catalog, Layout, LayoutRequest, NoLayout, NodeGroup, NodeLayout, solve};
use serde_json::{Value, json};

/// Everything a request is solved against, on provider `cloud`.
#[derive(Debug)]
pub struct World {
    pub template: ClusterTemplate,
    pub hardware: Vec<HardwareType>,
    pub images: Vec<ImageType>,
    pub services: Vec<Service>,
}

impl World {
    /// Hardware `large` and `small`, image `linux`, services `names` without dependencies, which are also the
    /// template's defaults.
    pub fn new(names: &str, constraints: Value) -> Self {
        let names: Vec<&str> = names.split_whitespace().collect();
        let mut template = json!({"name": "t", "defaults": {"services": names}});
        template["constraints"] = constraints;
        Self {
            template: serde_json::from_value(template).expect("a template"),
            hardware: ["large", "small"].map(hardware).into(),
            images: vec![image("linux")],
            services: names.into_iter().map(|name| service(json!({ "name": name }))).collect(),
        }
    }

    pub fn catalog(&self) -> Catalog<'_> {
        Catalog {
            template: &self.template,
            provider: "cloud",
            hardware: &self.hardware,
            images: &self.images,
            services: &self.services,
        }
    }

    pub fn solve(&self, machines: u32) -> Result<Layout, NoLayout> {
        solve(&self.catalog(), &LayoutRequest { machines, ..LayoutRequest::default() })
    }

    /// The layout as `a b ×2 on large, c ×1 on small`.
    pub fn solved(&self, machines: u32) -> String {
        match self.solve(machines) {
            Ok(layout) => text(&layout.groups),
            Err(refusal) => panic!("no layout: {refusal}"),
        }
    }

    /// The refusal, as text.
    pub fn refused(&self, machines: u32) -> String {
        match self.solve(machines) {
            Ok(layout) => panic!("unexpected layout: {}", text(&layout.groups)),
            Err(refusal) => refusal.to_string(),
        }
    }
}

pub fn hardware(name: &str) -> HardwareType {
    let entity = json!({"name": name, "providermap": {"cloud": {"flavor": name}}});
    serde_json::from_value(entity).expect("a hardware type")
}

pub fn image(name: &str) -> ImageType {
    let entity = json!({"name": name, "providermap": {"cloud": {"image": name}}});
    serde_json::from_value(entity).expect("an image type")
}

pub fn service(entity: Value) -> Service {
    serde_json::from_value(entity).expect("a service")
}

/// The words of `names`.
pub fn set(names: &str) -> BTreeSet<String> {
    names.split_whitespace().map(str::to_owned).collect()
}

/// `count` nodes with these services on `hardware` and `linux`.
pub fn group(services: &str, count: u32, hardware: &str) -> NodeGroup {
    let node = NodeLayout {
        services: set(services),
        hardwaretype: hardware.to_owned(),
        imagetype: "linux".to_owned(),
    };
    NodeGroup { node, count }
}

/// `a b ×2 on large, c ×1 on small`.
pub fn text(groups: &[NodeGroup]) -> String {
    let each = groups.iter().map(|group| {
        let services: Vec<&str> = group.node.services.iter().map(String::as_str).collect();
        format!("{} ×{} on {}", services.join(" "), group.count, group.node.hardwaretype)
    });
    each.collect::<Vec<_>>().join(", ")
}
