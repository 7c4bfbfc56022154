//! The layout solver: which nodes a cluster gets, what they are made of, and which services sit on them.
//!
//! The answers are Coopr's: among all layouts that keep the template's rules the one whose nodes carry the most
//! services, with alphabetical order deciding between equals ([`solve`]). Three things differ on purpose:
//!
//! * A requested service is always on at least one node; Coopr may leave it out without a word.
//! * Requests with a solution that Coopr's greedy first check refuses are solved.
//! * Every refusal comes with all its reasons, each with numbers and a remedy ([`NoLayout`]).
//!
//! Services that others require on the same machine go with these and are no part of the question (`companions`).
//!
//! Services are added to a running cluster with [`add_services`]; it gets more nodes with [`grow`] and fewer with
//! [`shrink`]. The functions of [`explain`] show the inner steps.

mod add_services;
mod admission;
mod apply_change;
mod budget;
mod bundle_set;
mod check;
mod combinations;
mod companion_rules;
mod companions;
mod counts;
mod cover;
pub mod explain;
mod no_place;
mod node_group;
mod objective;
mod preference;
mod problem;
mod reason;
mod resize;
mod rules;
mod search;
mod shortfall;
mod spread;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::entity::{ClusterTemplate, HardwareType, ImageType, Service};
use companions::Companions;

pub use add_services::{Addition, Placement, add_services, validate_add_services};
pub use admission::check_size;
pub use apply_change::{Change, apply_change};
pub use budget::SEARCH_LIMIT;
pub use check::{check_layout, check_sync};
pub use companions::{lacking, requires_beside, with_companions};
pub use node_group::{FIRST_NODE_NUMBER, Layout, NodeGroup, NodeLayout};
pub use objective::{Alternative, Objective, alternatives};
pub use preference::{Preference, rank};
pub use reason::{NoLayout, Reason, ReasonKind, RemedyStep};
pub use resize::{Growth, Leaving, ShrinkNode, Shrinkage, grow, shrink};

/// What there is to choose from: a tenant's entities, and the template and provider of the cluster.
#[derive(Debug, Clone, Copy)]
pub struct Catalog<'a> {
    /// The template, resolved.
    pub template: &'a ClusterTemplate,
    /// Name of the provider that makes the machines.
    pub provider: &'a str,
    /// All hardware types of the tenant.
    pub hardware: &'a [HardwareType],
    /// All image types of the tenant.
    pub images: &'a [ImageType],
    /// All services of the tenant.
    pub services: &'a [Service],
}

/// What a cluster is asked to be. What is absent or empty comes from the template's defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutRequest {
    /// Number of nodes.
    pub machines: u32,
    /// Names of its services.
    #[serde(default)]
    pub services: Option<BTreeSet<String>>,
    /// The hardware type of all nodes; if neither the request nor the template says, each kind of node may differ.
    #[serde(default)]
    pub hardwaretype: Option<String>,
    /// The image type of all nodes, likewise.
    #[serde(default)]
    pub imagetype: Option<String>,
    /// The names that services of the clusters it is built upon answer to.
    #[serde(default)]
    pub ancestors: BTreeSet<String>,
    /// What the layout is to be best at.
    #[serde(default, skip_serializing_if = "Objective::is_default")]
    pub objective: Objective,
}

/// The layout of a new cluster; the same for the same input.
///
/// What it is best at is up to the request's [`Objective`]; what follows holds for the default. Services that no rule of the template mentions are on every node. The others are spread so that nodes carry as many
/// as possible: kinds of node in order of preference ([`Preference::compare`], without lists), each taken as often as
/// the rules and the minimums of the other services leave room for.
///
/// # Errors
/// Every reason why there is none. Reasons about the request ([`check_size`], types, services) come without those about
/// quantities, which are looked at only once the request is sound.
pub fn solve(catalog: &Catalog<'_>, request: &LayoutRequest) -> Result<Layout, NoLayout> {
    let mut wanted = admission::Wanted::new(catalog.template, request);
    let refused = |reasons| NoLayout { reasons };
    let companions = Companions::find(catalog.services, &wanted.services).map_err(refused)?;
    wanted.services = companions.all();
    let types = admission::admit(catalog, &wanted).map_err(refused)?;
    let template = companions.template(catalog.template).map_err(refused)?;
    let problem = problem::Problem::new(&template.constraints, &companions.hosts, &types).map_err(refused)?;
    let mut layout = objective::best(request.objective, catalog, &template, (&problem, wanted.machines))?;
    for group in &mut layout.groups {
        companions.join(&mut group.node.services);
    }
    let constraints = &catalog.template.constraints;
    NoLayout::unless_none(companions.check_quantities(constraints, &layout.groups))?;
    Ok(layout)
}
