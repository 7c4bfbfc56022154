//! From a layout to nodes: each gets a number, an id, a host name, and what its types say.

use std::collections::BTreeMap;

use super::create::CreateOrder;
use super::request::Catalog;
use crate::entity::{Entity, HardwareType, ImageType, Service};
use crate::hostname::host_name;
use crate::id::{ClusterId, NodeId};
use crate::layout::{Layout, NodeLayout};
use crate::task::NodeProperties;

/// The nodes of a new cluster, numbered in the layout's order of preference.
#[must_use]
pub fn number_nodes(
    order: &CreateOrder,
    layout: &Layout,
    catalog: &Catalog,
) -> BTreeMap<NodeId, NodeProperties> {
    let naming = Naming {
        cluster: order.id,
        name: &order.name,
        dns_suffix: order.dns_suffix.as_deref(),
        provider: &order.provider.base.name,
        definitions: &order.definitions,
        hardware: &catalog.hardware,
        images: &catalog.images,
    };
    let node = |(number, kind)| (NodeId::derive(order.seed, number), naming.properties(kind, number));
    layout.nodes().map(node).collect()
}

/// What is known of a cluster when its nodes are numbered.
pub(super) struct Naming<'a> {
    pub cluster: ClusterId,
    pub name: &'a str,
    pub dns_suffix: Option<&'a str>,
    pub provider: &'a str,
    pub definitions: &'a BTreeMap<String, Service>,
    pub hardware: &'a [HardwareType],
    pub images: &'a [ImageType],
}

impl Naming<'_> {
    /// What is known of a node of some kind before it has a machine.
    pub(super) fn properties(&self, kind: &NodeLayout, number: u32) -> NodeProperties {
        let hardware = named(self.hardware, &kind.hardwaretype);
        let image = named(self.images, &kind.imagetype);
        let services = kind.services.iter().filter_map(|name| self.definitions.get(name));
        NodeProperties {
            hostname: Some(host_name(self.name, self.cluster, number, self.dns_suffix)),
            ipaddresses: BTreeMap::new(),
            nodenum: number,
            hardwaretype: kind.hardwaretype.clone(),
            imagetype: kind.imagetype.clone(),
            flavor: hardware.and_then(|h| h.flavor(self.provider)).unwrap_or_default().to_owned(),
            image: image.and_then(|i| i.image(self.provider)).unwrap_or_default().to_owned(),
            sshuser: image.map(|i| i.ssh_user(self.provider)).unwrap_or_default().to_owned(),
            services: kind.services.clone(),
            automators: services.flat_map(Service::automators).map(str::to_owned).collect(),
        }
    }
}

fn named<'a, E: Entity>(all: &'a [E], name: &str) -> Option<&'a E> {
    all.iter().find(|entity| entity.base().name == name)
}
