//! What a layout is to be best at, besides keeping all rules.

mod alternatives;
mod cheapest;
mod model;
mod spread;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Catalog;
use super::budget::Budget;
use super::cover;
use super::node_group::Layout;
use super::problem::Problem;
use super::reason::{NoLayout, Reason, ReasonKind, listed};
use super::search::first_layout;
use super::shortfall::shortfall;
use crate::entity::ClusterTemplate;

pub use alternatives::{Alternative, alternatives};

/// What a layout is to be best at. All keep every rule of the template, and among equals the order of preference decides.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Nodes carry as many services as they may: Coopr's order of preference.
    #[default]
    Services,
    /// All machines together cost the least per hour.
    Cheapest,
    /// The fewest machines that hold everything; the size asked for is the most.
    FewestNodes,
    /// Each service is on as few nodes as it may be, and they share nodes as little as possible.
    Spread,
}

impl Objective {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Services, Self::Cheapest, Self::FewestNodes, Self::Spread];

    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Services => "services",
            Self::Cheapest => "cheapest",
            Self::FewestNodes => "fewest-nodes",
            Self::Spread => "spread",
        }
    }

    /// Whether nothing was said about it.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The best layout of a problem for up to so many machines.
///
/// # Errors
/// Every reason why there is none.
pub(super) fn best(
    objective: Objective,
    catalog: &Catalog<'_>,
    template: &ClusterTemplate,
    (problem, machines): (&Problem, u32),
) -> Result<Layout, NoLayout> {
    let mut budget = Budget::new(super::SEARCH_LIMIT);
    let machines = if objective == Objective::FewestNodes {
        fewest(problem, template, machines, &mut budget)?
    } else {
        machines
    };
    NoLayout::unless_none(shortfall(problem, template, machines, &mut budget).map_err(Reason::from)?)?;
    let layout = match objective {
        Objective::Services | Objective::FewestNodes => first_layout(problem, machines, &mut budget),
        Objective::Cheapest => {
            return cheapest::cheapest(problem, machines, &prices(catalog, problem)?, budget);
        }
        Objective::Spread => spread::spread(problem, machines, &mut budget),
    };
    Ok(layout.map_err(Reason::from)?)
}

/// The fewest machines that hold everything, if that is no more than are asked for.
fn fewest(
    problem: &Problem,
    template: &ClusterTemplate,
    most: u32,
    budget: &mut Budget,
) -> Result<u32, NoLayout> {
    let needs: Vec<u32> = problem.bundles.iter().map(|bundle| bundle.min).collect();
    if !cover::fits(problem, &needs, most, budget).map_err(Reason::from)? {
        return Ok(most);
    }
    let fewest = cover::fewest_machines(problem, &needs, budget).map_err(Reason::from)?;
    Ok(fewest.max(template.constraints.size.min).max(1).min(most))
}

/// What a machine of each hardware type of the problem costs per hour.
fn prices(catalog: &Catalog<'_>, problem: &Problem) -> Result<Vec<f64>, NoLayout> {
    let price = |name: &String| {
        let hardware = catalog.hardware.iter().find(|hardware| hardware.base.name == *name)?;
        hardware.price(catalog.provider)
    };
    let names = problem.hardware.iter().map(|(name, _)| name);
    let unpriced: Vec<&String> = names.clone().filter(|name| price(name).is_none()).collect();
    if unpriced.is_empty() {
        return Ok(names.filter_map(price).collect());
    }
    let provider = catalog.provider;
    let are = if unpriced.len() == 1 { "has no price" } else { "have no prices" };
    Err(NoLayout::from(Reason::new(
        ReasonKind::HardwareType,
        format!(
            "what is cheapest cannot be told: hardware {} {are} with provider {provider}",
            listed(&unpriced, "and")
        ),
        format!("give them one in providermap.{provider}.price, or ask for another objective"),
    )))
}
