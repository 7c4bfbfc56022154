//! A template's rules for single nodes, as they apply to the services of one cluster.

use std::collections::BTreeSet;

use super::node_group::NodeLayout;
use crate::entity::{Constraints, ServiceConstraint};

/// The rules in force: those about absent services are reduced or without effect.
pub(super) struct Rules<'a> {
    constraints: &'a Constraints,
    /// `mustcoexist`, each reduced to the services that are there.
    together: Vec<BTreeSet<&'a str>>,
    /// Those of `cantcoexist` whose services are all there.
    apart: Vec<&'a BTreeSet<String>>,
}

/// A service on a type of hardware or image that its constraint does not list.
pub(super) struct WrongType<'a> {
    pub service: &'a str,
    pub allowed: &'a BTreeSet<String>,
}

impl<'a> Rules<'a> {
    pub(super) fn new(constraints: &'a Constraints, present: &BTreeSet<String>) -> Self {
        let reduced = |rule: &'a BTreeSet<String>| {
            rule.iter().filter(|name| present.contains(*name)).map(String::as_str).collect::<BTreeSet<_>>()
        };
        let together =
            constraints.layout.mustcoexist.iter().map(reduced).filter(|rule| rule.len() > 1).collect();
        let apart = constraints
            .layout
            .cantcoexist
            .iter()
            .filter(|rule| !rule.is_empty() && rule.is_subset(present))
            .collect();
        Self { constraints, together, apart }
    }

    /// Rules of `mustcoexist` of which these services are some, but not all.
    pub(super) fn torn(&self, services: &BTreeSet<String>) -> impl Iterator<Item = &BTreeSet<&'a str>> {
        self.together.iter().filter(|rule| {
            let here = rule.iter().filter(|name| services.contains(**name)).count();
            here != 0 && here != rule.len()
        })
    }

    /// Rules of `cantcoexist` of which these services are all.
    pub(super) fn crammed(&self, services: &BTreeSet<String>) -> impl Iterator<Item = &'a BTreeSet<String>> {
        self.apart.iter().copied().filter(|rule| rule.is_subset(services))
    }

    /// The services that do not accept the node's hardware type.
    pub(super) fn wrong_hardware(&self, node: &'a NodeLayout) -> impl Iterator<Item = WrongType<'a>> {
        wrong_type(self.constraints, node, &node.hardwaretype, |rule| &rule.hardwaretypes)
    }

    /// The services that do not accept the node's image type.
    pub(super) fn wrong_image(&self, node: &'a NodeLayout) -> impl Iterator<Item = WrongType<'a>> {
        wrong_type(self.constraints, node, &node.imagetype, |rule| &rule.imagetypes)
    }

    /// Whether a node of this kind keeps all rules that adding services cannot mend.
    pub(super) fn tolerates(&self, node: &'a NodeLayout) -> bool {
        self.crammed(&node.services).next().is_none()
            && self.wrong_hardware(node).next().is_none()
            && self.wrong_image(node).next().is_none()
    }

    /// Whether a node of this kind keeps all rules.
    pub(super) fn allows(&self, node: &'a NodeLayout) -> bool {
        self.torn(&node.services).next().is_none() && self.tolerates(node)
    }
}

fn wrong_type<'a>(
    constraints: &'a Constraints,
    node: &'a NodeLayout,
    name: &'a str,
    list: fn(&ServiceConstraint) -> &BTreeSet<String>,
) -> impl Iterator<Item = WrongType<'a>> {
    node.services.iter().filter_map(move |service| {
        let allowed = list(constraints.services.get(service)?);
        let wrong = !allowed.is_empty() && !allowed.contains(name);
        wrong.then_some(WrongType { service, allowed })
    })
}
