//! Layouts that are best at something else than carrying many services, against trying everything.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::entity::Quantities;
use cooperage_domain::layout::{
    Layout, LayoutRequest, NoLayout, Objective, ReasonKind, alternatives, check_layout, solve,
};
use proptest::prelude::*;
use serde_json::json;

use crate::brute_force::service_sets;
use crate::input::{World, hardware, text};
use crate::properties::world;

fn best(world: &World, machines: u32, objective: Objective) -> Result<Layout, NoLayout> {
    solve(&world.catalog(), &LayoutRequest { machines, objective, ..LayoutRequest::default() })
}

/// With prices of `large`, `medium` and `small`.
fn priced(mut world: World, prices: [u32; 3]) -> World {
    let named = ["large", "medium", "small"].into_iter().zip(prices);
    let with_price = |(name, price): (&str, u32)| {
        let mut hardware = hardware(name);
        hardware.providermap.entry("cloud".into()).or_default().insert("price".into(), price.to_string());
        hardware
    };
    world.hardware = named.map(with_price).collect();
    world
}

fn cost(world: &World, layout: &Layout) -> f64 {
    let price = |name: &str| world.hardware.iter().find(|one| one.base.name == name)?.price("cloud");
    layout
        .groups
        .iter()
        .map(|group| price(&group.node.hardwaretype).expect("a price") * f64::from(group.count))
        .sum()
}

/// The least price of so many machines, by trying all sets of services on each machine after the other.
fn least_cost(world: &World, machines: u32) -> Option<f64> {
    let constraints = &world.template.constraints;
    let services = &world.template.defaults.services;
    let sets = service_sets(constraints, services);
    let accepted = |set: &BTreeSet<String>, hardware: &str, image: &str| {
        set.iter().filter_map(|name| constraints.services.get(name)).all(|rule| {
            (rule.hardwaretypes.is_empty() || rule.hardwaretypes.contains(hardware))
                && (rule.imagetypes.is_empty() || rule.imagetypes.contains(image))
        })
    };
    let price = |set: &BTreeSet<String>| {
        let suits = world.hardware.iter().filter(|hardware| {
            world.images.iter().any(|image| accepted(set, &hardware.base.name, &image.base.name))
        });
        suits.filter_map(|hardware| hardware.price("cloud")).reduce(f64::min)
    };
    let kinds: Vec<(BTreeSet<String>, f64)> =
        sets.into_iter().filter_map(|set| price(&set).map(|price| (set, price))).collect();
    let limits: BTreeMap<&String, Quantities> = services
        .iter()
        .map(|name| {
            let mut limits = constraints.services.get(name).map(|rule| rule.quantities).unwrap_or_default();
            limits.min = limits.min.max(1);
            (name, limits)
        })
        .collect();
    let mut least = None;
    try_machines(&kinds, &limits, machines, &mut Vec::new(), &mut least);
    least
}

fn try_machines(
    kinds: &[(BTreeSet<String>, f64)],
    limits: &BTreeMap<&String, Quantities>,
    machines: u32,
    chosen: &mut Vec<usize>,
    least: &mut Option<f64>,
) {
    if chosen.len() == machines as usize {
        let on = |name: &String| chosen.iter().filter(|&&kind| kinds[kind].0.contains(name)).count() as u32;
        if limits.iter().all(|(name, limits)| (limits.min..=limits.max).contains(&on(name))) {
            let cost: f64 = chosen.iter().map(|&kind| kinds[kind].1).sum();
            *least = Some(least.map_or(cost, |least| least.min(cost)));
        }
        return;
    }
    for kind in chosen.last().copied().unwrap_or(0)..kinds.len() {
        chosen.push(kind);
        try_machines(kinds, limits, machines, chosen, least);
        chosen.pop();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_cheaper_than_the_cheapest(
        world in world(),
        prices in prop::array::uniform3(1..6_u32),
        machines in 1..=4_u32,
    ) {
        let world = priced(world, prices);
        match (best(&world, machines, Objective::Cheapest), least_cost(&world, machines)) {
            (Ok(layout), least) => {
                prop_assert_eq!(layout.machines(), machines);
                prop_assert_eq!(check_layout(&world.template, &layout.groups), vec![]);
                prop_assert_eq!(layout.services(), world.template.defaults.services.clone());
                prop_assert_eq!(Some(cost(&world, &layout)), least, "{}", text(&layout.groups));
            }
            (Err(_), None) => {}
            (Err(refusal), Some(least)) => prop_assert!(false, "refused: {refusal}, but {least} is possible"),
        }
    }

    #[test]
    fn fewer_nodes_than_the_fewest_are_too_few(world in world(), machines in 1..=6_u32) {
        let fewest = (1..=machines).find_map(|fewer| world.solve(fewer).ok());
        match (best(&world, machines, Objective::FewestNodes), fewest) {
            (Ok(layout), fewest) => prop_assert_eq!(Some(layout), fewest),
            (Err(_), None) => {}
            (Err(refusal), Some(layout)) => prop_assert!(false, "{refusal}, but {}", text(&layout.groups)),
        }
    }

    /// All rules hold, each service is on no more nodes than it must be unless a node would be without, and services are spread at
    /// least as well as they are without being asked to.
    #[test]
    fn what_is_spread_keeps_the_rules(world in world(), machines in 1..=6_u32) {
        match (best(&world, machines, Objective::Spread), world.solve(machines)) {
            (Ok(layout), Ok(other)) => {
                prop_assert_eq!(layout.machines(), machines);
                prop_assert_eq!(check_layout(&world.template, &layout.groups), vec![]);
                prop_assert_eq!(layout.services(), world.template.defaults.services.clone());
                let most = |layout: &Layout| layout.groups.iter().map(|group| group.node.services.len()).max();
                prop_assert!(most(&layout) <= most(&other), "{}", text(&layout.groups));
            }
            (Err(refusal), Err(same)) => prop_assert_eq!(refusal, same),
            (spread, other) => prop_assert!(false, "{:?} but {:?}", spread, other),
        }
    }
}

/// A store on large machines, and web servers that run anywhere.
fn shop() -> World {
    let rules = json!({"services": {
        "store": {"quantities": {"min": 2, "max": 3}, "hardwaretypes": ["large"]},
        "web": {"quantities": {"min": 2}},
        "queue": {"quantities": {"min": 1, "max": 1}},
    }});
    priced(World::new("store web queue", rules), [10, 4, 1])
}

#[test]
fn each_objective_has_its_layout() {
    let shown = |objective| text(&best(&shop(), 6, objective).unwrap().groups);
    let expected = [
        "queue store web ×1 on large, store web ×2 on large, web ×3 on large",
        "store web ×2 on large, queue web ×1 on small, web ×3 on small",
        "queue store web ×1 on large, store web ×1 on large",
        "queue ×1 on large, store ×3 on large, web ×2 on large",
    ];
    assert_eq!(Objective::ALL.map(shown), expected);
}

#[test]
fn without_prices_nothing_is_cheapest() {
    let world = World::new("a", json!({}));
    let refusal = best(&world, 1, Objective::Cheapest).unwrap_err();
    assert!(refusal.has(ReasonKind::HardwareType), "{refusal}");
    assert!(refusal.to_string().contains("large and small have no prices"), "{refusal}");
}

#[test]
fn alternatives_are_each_the_best_at_something() {
    let world = shop();
    let request = LayoutRequest { machines: 6, ..LayoutRequest::default() };
    let found = alternatives(&world.catalog(), &request).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|one| (one.objectives.clone(), one.nodes, one.price_per_hour, one.most_services_on_a_node))
        .collect();
    let expected = [
        (vec![Objective::Services], 6, Some(60.0), 3),
        (vec![Objective::Cheapest], 6, Some(24.0), 2),
        (vec![Objective::FewestNodes], 2, Some(20.0), 3),
        (vec![Objective::Spread], 6, Some(60.0), 1),
    ];
    assert_eq!(shown, expected);
    let none = LayoutRequest { machines: 1, ..LayoutRequest::default() };
    assert!(alternatives(&world.catalog(), &none).unwrap_err().has(ReasonKind::Minimum));
}

#[test]
fn many_nodes_of_many_kinds_are_laid_out_for_any_objective() {
    let names: Vec<String> = (0..40).map(|number| format!("s{number:02}")).collect();
    let pairs: Vec<[&String; 2]> = names.chunks(2).map(|two| [&two[0], &two[1]]).collect();
    let rules: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let accepted = if number % 5 == 0 { json!(["large", "medium"]) } else { json!([]) };
            (name.clone(), json!({"quantities": {"min": 1 + number % 7}, "hardwaretypes": accepted}))
        })
        .collect();
    let world = World::new(&names.join(" "), json!({"layout": {"cantcoexist": pairs}, "services": rules}));
    let world = priced(world, [10, 4, 1]);
    for objective in Objective::ALL {
        let layout = best(&world, 5_000, objective).unwrap();
        assert_eq!(check_layout(&world.template, &layout.groups), vec![], "{objective:?}");
    }
    // Seven of each that wants the most have room on as many nodes, and all others beside them.
    let fewest = best(&world, 5_000, Objective::FewestNodes).unwrap().machines();
    let cheapest = best(&world, 5_000, Objective::Cheapest).unwrap();
    let dear: u32 = cheapest
        .groups
        .iter()
        .filter(|group| group.node.hardwaretype != "small")
        .map(|group| group.count)
        .sum();
    assert!(dear <= fewest, "{dear} of 5000 are not the cheapest, and {fewest} would hold everything");
}
