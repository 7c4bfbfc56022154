//! Layouts to choose from.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::super::node_group::{Layout, NodeGroup};
use super::super::reason::NoLayout;
use super::super::{Catalog, LayoutRequest, solve};
use super::Objective;

/// A layout, and what it is best at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    /// What it is best at.
    pub objectives: Vec<Objective>,
    /// How many nodes.
    pub nodes: u32,
    /// What all machines cost per hour, if all hardware types in it have prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_per_hour: Option<f64>,
    /// How many services the node carries that carries the most.
    pub most_services_on_a_node: usize,
    /// The kinds of nodes, the preferred first.
    #[schema(value_type = Vec<Object>)]
    pub groups: Vec<NodeGroup>,
}

impl Alternative {
    fn of(catalog: &Catalog<'_>, objective: Objective, layout: Layout) -> Self {
        let price = |group: &NodeGroup| {
            let hardware = catalog.hardware.iter().find(|one| one.base.name == group.node.hardwaretype)?;
            Some(hardware.price(catalog.provider)? * f64::from(group.count))
        };
        Self {
            objectives: vec![objective],
            nodes: layout.machines(),
            price_per_hour: layout.groups.iter().map(price).sum(),
            most_services_on_a_node: layout
                .groups
                .iter()
                .map(|group| group.node.services.len())
                .max()
                .unwrap_or(0),
            groups: layout.groups,
        }
    }

    /// Whether it is no worse in anything and better in something, on as many nodes.
    fn beats(&self, other: &Self) -> bool {
        let figures = |one: &Self| (one.price_per_hour.unwrap_or(0.0), one.most_services_on_a_node);
        let ((price, most), (other_price, other_most)) = (figures(self), figures(other));
        self.nodes == other.nodes
            && price <= other_price
            && most <= other_most
            && (price < other_price || most < other_most)
    }
}

/// Layouts of a request, each the best at something: the one it would get without saying what, and of the cheapest, the one
/// with the fewest nodes and the most spread those that no other one beats in everything. What the request wants of them is not
/// looked at; an objective that cannot be met, since there are no prices, is left out.
///
/// # Errors
/// Every reason why there is no layout at all.
pub fn alternatives(catalog: &Catalog<'_>, request: &LayoutRequest) -> Result<Vec<Alternative>, NoLayout> {
    let mut found: Vec<Alternative> = Vec::new();
    for objective in Objective::ALL {
        let asked = LayoutRequest { objective, ..request.clone() };
        let layout = match solve(catalog, &asked) {
            Ok(layout) => layout,
            Err(refusal) if objective.is_default() => return Err(refusal),
            Err(_) => continue,
        };
        match found.iter_mut().find(|other| other.groups == layout.groups) {
            Some(same) => same.objectives.push(objective),
            None => found.push(Alternative::of(catalog, objective, layout)),
        }
    }
    let is_best = |one: &Alternative| {
        one.objectives.contains(&Objective::default()) || !found.iter().any(|other| other.beats(one))
    };
    Ok(found.iter().filter(|one| is_best(one)).cloned().collect())
}
