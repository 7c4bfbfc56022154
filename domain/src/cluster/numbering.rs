//! From a layout to nodes: each gets a number, an id, a host name, and what its types say.

use std::collections::BTreeMap;

use super::create::CreateOrder;
use super::request::Catalog;
use crate::entity::{Entity, Service};
use crate::hostname::host_name;
use crate::id::NodeId;
use crate::layout::{Layout, NodeLayout};
use crate::task::NodeProperties;

/// The nodes of a new cluster, numbered in the layout's order of preference.
#[must_use]
pub fn number_nodes(
    order: &CreateOrder,
    layout: &Layout,
    catalog: &Catalog,
) -> BTreeMap<NodeId, NodeProperties> {
    let node =
        |(number, kind)| (NodeId::derive(order.seed, number), properties(order, kind, number, catalog));
    layout.nodes().map(node).collect()
}

fn properties(order: &CreateOrder, kind: &NodeLayout, number: u32, catalog: &Catalog) -> NodeProperties {
    let provider = order.provider.base.name.as_str();
    let hardware = named(&catalog.hardware, &kind.hardwaretype);
    let image = named(&catalog.images, &kind.imagetype);
    let services = kind.services.iter().filter_map(|name| order.definitions.get(name));
    NodeProperties {
        hostname: Some(host_name(&order.name, order.id, number, order.dns_suffix.as_deref())),
        ipaddresses: BTreeMap::new(),
        nodenum: number,
        hardwaretype: kind.hardwaretype.clone(),
        imagetype: kind.imagetype.clone(),
        flavor: hardware.and_then(|h| h.flavor(provider)).unwrap_or_default().to_owned(),
        image: image.and_then(|i| i.image(provider)).unwrap_or_default().to_owned(),
        sshuser: image.map(|i| i.ssh_user(provider)).unwrap_or_default().to_owned(),
        services: kind.services.clone(),
        automators: services.flat_map(Service::automators).map(str::to_owned).collect(),
    }
}

fn named<'a, E: Entity>(all: &'a [E], name: &str) -> Option<&'a E> {
    all.iter().find(|entity| entity.base().name == name)
}
