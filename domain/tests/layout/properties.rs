//! Properties of all layouts and refusals, over random small templates.

use std::collections::BTreeSet;

use cooperage_domain::layout::explain::add_service_candidates;
use cooperage_domain::layout::{
    Addition, Change, NoLayout, NodeGroup, ReasonKind, add_services, apply_change, check_layout,
};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::brute_force::{Habits, first_layout};
use crate::input::{World, group, hardware, image};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Rules over the services `a` to `f`, of which not all are on the cluster.
pub fn constraints() -> impl Strategy<Value = Value> {
    let names = |size| btree_set(prop::sample::select(&NAMES[..]), size);
    let some_of = |all: &'static [&'static str]| prop::sample::subsequence(all.to_vec(), 0..=all.len());
    let rule = (0..3_u32, option::of(0..5_u32), some_of(&["large", "small"]), some_of(&["linux", "unix"]));
    let service = (prop::sample::select(&NAMES[..]), rule);
    let must = vec(names(2..=3), 0..=2);
    let cant = vec(names(1..=3), 0..=3);
    (vec(service, 0..=5), must, cant).prop_map(|(services, must, cant)| {
        let rules = services.into_iter().map(|(name, (min, max, hardware, images))| {
            let quantities = max.map_or(json!({"min": min}), |max| json!({"min": min, "max": max}));
            (
                name.to_owned(),
                json!({"quantities": quantities, "hardwaretypes": hardware, "imagetypes": images}),
            )
        });
        let services: Value = rules.collect::<serde_json::Map<_, _>>().into();
        json!({"layout": {"mustcoexist": must, "cantcoexist": cant}, "services": services})
    })
}

/// A template of one to four services on two types each.
pub fn world() -> impl Strategy<Value = World> {
    let services = btree_set(prop::sample::select(&NAMES[..]), 1..=4);
    (services, constraints()).prop_map(|(services, constraints)| {
        let names: Vec<&str> = services.into_iter().collect();
        let mut world = World::new(&names.join(" "), constraints);
        world.hardware = vec![hardware("large"), hardware("small")];
        world.images = vec![image("linux"), image("unix")];
        world
    })
}

/// Whether the refusal has reasons, each with a remedy.
pub fn explains(refusal: &NoLayout) -> bool {
    !refusal.reasons.is_empty()
        && refusal.reasons.iter().all(|reason| {
            !reason.fault.is_empty() && !reason.remedy.is_empty() && reason.kind != ReasonKind::SearchLimit
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// The layout is the first in Coopr's order that places every service, and there is none only if none exists.
    #[test]
    fn agrees_with_trying_everything(world in world(), machines in 1..=5_u32) {
        let first = first_layout(&world, machines, Habits { greedy_check: false, may_drop_services: false });
        match (world.solve(machines), first) {
            (Ok(layout), first) => {
                prop_assert_eq!(Some(&layout.groups), first.as_ref());
                prop_assert!(check_layout(&world.template, &layout.groups).is_empty());
                prop_assert_eq!(layout.machines(), machines);
                prop_assert_eq!(layout.services(), world.template.defaults.services.clone());
                prop_assert_eq!(world.solve(machines), Ok(layout));
            }
            (Err(refusal), None) => prop_assert!(explains(&refusal), "{}", refusal),
            (Err(refusal), Some(groups)) => prop_assert!(false, "{:?} refused: {}", groups, refusal),
        }
    }

    /// Where Coopr finds a layout that has all services, it is ours.
    #[test]
    fn agrees_with_coopr(world in world(), machines in 1..=5_u32) {
        let coopr = first_layout(&world, machines, Habits { greedy_check: true, may_drop_services: true });
        let all_placed = |groups: &Vec<NodeGroup>| {
            let placed: BTreeSet<&String> = groups.iter().flat_map(|group| &group.node.services).collect();
            placed.into_iter().eq(&world.template.defaults.services)
        };
        if let Some(groups) = coopr.filter(all_placed) {
            prop_assert_eq!(world.solve(machines).map(|layout| layout.groups), Ok(groups));
        }
    }

    /// Added services are all placed, on nodes that otherwise stay as they are, in the first way that keeps the rules.
    #[test]
    fn additions_agree_with_trying_everything(
        world in world(),
        machines in 1..=4_u32,
        added in btree_set(prop::sample::select(&["u", "v", "e", "f"][..]), 1..=3),
        max in option::of(1..4_u32),
    ) {
        let Ok(layout) = world.solve(machines) else { return Ok(()) };
        let mut template = world.template.clone();
        let quantities = max.map_or(json!({"min": 2}), |max| json!({"min": 1, "max": max}));
        let rule = json!({"quantities": quantities, "hardwaretypes": ["large"]});
        template.constraints.services.insert("u".into(), serde_json::from_value(rule).expect("a rule"));
        template.constraints.layout.cantcoexist.push(BTreeSet::from(["u".into(), "v".into()]));
        let present = layout.services();
        let added: BTreeSet<String> = added.into_iter().map(str::to_owned).filter(|name| !present.contains(name)).collect();
        if added.is_empty() || !check_layout(&template, &layout.groups).is_empty() {
            return Ok(());
        }

        let mut order: Vec<&String> = added.iter().collect();
        order.sort_by_key(|name| template.constraints.services.get(*name).map_or((1, 0, 0), |rule| {
            (0, rule.quantities.max, u32::MAX - rule.quantities.min)
        }));
        let expected = first_addition(&template, layout.groups.clone(), &order);
        match (add_services(&template, &[], &layout.groups, &added), expected) {
            (Ok(addition), expected) => {
                prop_assert_eq!(Some(sorted(&addition.layout)), expected.map(|groups| sorted(&groups)));
                prop_assert_eq!(sorted(&applied(&layout.groups, &addition)), sorted(&addition.layout));
                prop_assert!(check_layout(&template, &addition.layout).is_empty());
                prop_assert!(added.iter().all(|name| addition.layout.iter().any(|g| g.node.services.contains(name))));
            }
            (Err(refusal), None) => prop_assert!(explains(&refusal), "{}", refusal),
            (Err(refusal), Some(groups)) => prop_assert!(false, "{:?} refused: {}", groups, refusal),
        }
    }
}

/// Candidate after candidate, service after service, until all rules hold.
fn first_addition(
    template: &cooperage_domain::entity::ClusterTemplate,
    groups: Vec<NodeGroup>,
    services: &[&String],
) -> Option<Vec<NodeGroup>> {
    let Some((service, rest)) = services.split_first() else { return Some(groups) };
    for counts in add_service_candidates(template, &groups, service) {
        let on =
            groups.iter().zip(counts).map(|(group, count)| NodeGroup { count, ..group.clone() }).collect();
        let change = Change { services: BTreeSet::from([(*service).clone()]), on };
        let after = apply_change(&groups, &change).expect("candidates name nodes that are there");
        if check_layout(template, &after).is_empty()
            && let Some(all) = first_addition(template, after, rest)
        {
            return Some(all);
        }
    }
    None
}

/// The placements, carried out.
fn applied(groups: &[NodeGroup], addition: &Addition) -> Vec<NodeGroup> {
    addition.placements.iter().fold(groups.to_vec(), |groups_now, placement| {
        let on = vec![NodeGroup { count: placement.count, ..groups[placement.group].clone() }];
        let change = Change { services: placement.services.clone(), on };
        apply_change(&groups_now, &change).expect("placements name nodes that are there")
    })
}

fn sorted(groups: &[NodeGroup]) -> Vec<NodeGroup> {
    let mut groups = groups.to_vec();
    groups.sort_unstable();
    groups
}

#[test]
fn the_solver_is_asked_for_more_than_can_be_listed() {
    // Forty services with bounds of their own: a million million sets of services.
    let names: Vec<String> = (0..40).map(|number| format!("s{number:02}")).collect();
    let rules: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"quantities": {"min": 1, "max": 1}}))).collect();
    let world = World::new(&names.join(" "), json!({ "services": rules }));
    let layout = world.solve(10).expect("a layout");
    // The first node takes all but what the other nine need to carry something.
    assert_eq!(layout.groups[0], group(&names[..31].join(" "), 1, "large"));
    assert_eq!(layout.groups.len(), 10);
    assert!(layout.groups[1..].iter().all(|group| group.node.services.len() == 1));
}
