//! Services that others require on the same machine: placed with these, and refused with words where that cannot be.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::entity::{Constraints, Quantities, Service};
use cooperage_domain::layout::{
    Growth, LayoutRequest, NodeGroup, NodeLayout, add_services, check_layout, grow, solve, with_companions,
};
use proptest::collection::btree_set;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::brute_force::{kinds, try_counts};
use crate::input::{World, group, set, text};
use crate::properties::{constraints, explains, world};

/// A service that requires others on its machine.
fn needing(name: &str, needed: &str) -> Service {
    let requires: Vec<Value> =
        needed.split_whitespace().map(|name| json!({"name": name, "scope": "node"})).collect();
    crate::input::service(json!({"name": name, "dependencies": {"runtime": {"requires": requires}}}))
}

/// A world that offers `services` and asks for those of them that are `wanted`.
fn offering(services: Vec<Service>, wanted: &str, constraints: Value) -> World {
    let mut world = World::new(wanted, constraints);
    world.services = services;
    world
}

#[test]
fn they_are_where_those_are_that_need_them_also_if_nobody_named_them() {
    let services =
        || vec![needing("app", "log"), needing("log", "disk"), needing("disk", ""), needing("db", "")];
    let rules =
        json!({"layout": {"cantcoexist": [["app", "db"]]}, "services": {"db": {"quantities": {"max": 1}}}});
    for wanted in ["app db", "app db log", "app db disk log"] {
        let world = offering(services(), wanted, rules.clone());
        assert_eq!(world.solved(3), "app disk log ×2 on large, db ×1 on large", "{wanted}");
    }
    assert_eq!(with_companions(&services(), &set("app")), set("app disk log"));
}

#[test]
fn their_rules_are_those_of_their_hosts() {
    let services = || vec![needing("app", "log"), needing("log", ""), needing("db", "")];
    for (rules, solved) in [
        (json!({"services": {"log": {"hardwaretypes": ["small"]}}}), "app db log ×3 on small"),
        (json!({"services": {"log": {"quantities": {"max": 1}}}}), "app db log ×1 on large, db ×2 on large"),
        (
            json!({"layout": {"cantcoexist": [["db", "log"]]}, "services": {"log": {"quantities": {"min": 2}}}}),
            "app log ×2 on large, db ×1 on large",
        ),
        (
            json!({"layout": {"mustcoexist": [["db", "log"]]}, "services": {"db": {"quantities": {"max": 3}}}}),
            "app db log ×3 on large",
        ),
    ] {
        let world = offering(services(), "app db", rules.clone());
        assert_eq!(world.solved(3), solved, "{rules}");
    }
}

#[test]
fn what_cannot_be_kept_is_refused_with_what_would_help() {
    let two = || vec![needing("app", "log"), needing("web", "log"), needing("log", ""), needing("db", "")];
    let mut several = vec![needing("app", "sql"), needing("pg", ""), needing("my", "")];
    for service in &mut several[1..] {
        service.dependencies.provides.insert("sql".to_owned());
    }
    for (services, rules, refused) in [
        (
            two(),
            json!({"layout": {"cantcoexist": [["app", "log"]]}}),
            "app and log may not be together on a node (cantcoexist), but app brings all of it to its node; change \
             that rule, or what app requires on the same machine",
        ),
        (
            two(),
            json!({"services": {"log": {"hardwaretypes": ["small"]}, "app": {"hardwaretypes": ["large"]}}}),
            "no hardware type suits app and log, which it requires on its machine; allow both the same in \
             constraints.services.*.hardwaretypes",
        ),
        (
            two(),
            json!({"layout": {"mustcoexist": [["db", "log"]]}}),
            "log goes with each of app and web, so it cannot be kept together with db (mustcoexist); name app and \
             web in that rule instead of log",
        ),
        (
            two(),
            json!({"layout": {"cantcoexist": [["app", "web"]]}, "services": {"log": {"quantities": {"max": 1}}}}),
            "log goes with app and web, which are on 2 nodes, above its maximum of 1; let app and web share nodes \
             (mustcoexist), lower max of one of them, or raise max of log to 2",
        ),
        (
            several,
            json!({}),
            "app requires sql on the same machine, which pg and my provide; ask for pg or my, or let app \
             require one by its own name",
        ),
    ] {
        let wanted = if services.len() == 3 { "app" } else { "app web db" };
        let rules_said = rules.to_string();
        let refusal = offering(services, wanted, rules).refused(2);
        assert!(refusal.lines().any(|line| line == refused), "{rules_said}: {refusal}");
    }
}

#[test]
fn nodes_that_are_added_and_services_that_join_bring_them_along() {
    let rules = json!({"layout": {"cantcoexist": [["app", "db"]]},
        "services": {"db": {"quantities": {"max": 1}}, "log": {"quantities": {"max": 2}}}});
    let services = vec![needing("app", "log"), needing("log", ""), needing("db", ""), needing("web", "log")];
    let world = offering(services, "app db", rules);
    let existing = [group("app log", 1, "large"), group("db", 1, "large")];
    let more = |name: &str, more| Growth {
        services: BTreeMap::from([(name.to_owned(), more)]),
        ..Growth::default()
    };
    for name in ["app", "log"] {
        let added = grow(&world.catalog(), &existing, &more(name, 1)).unwrap();
        assert_eq!(added.iter().map(|node| &node.services).collect::<Vec<_>>(), [&set("app log")]);
        let refusal = grow(&world.catalog(), &existing, &more(name, 2)).unwrap_err();
        assert!(refusal.to_string().contains("allows 2 at most"), "{refusal}");
    }
    let addition = add_services(&world.template, &world.services, &existing, &set("web")).unwrap();
    assert_eq!(text(&addition.layout), "app log web ×1 on large, db log web ×1 on large");
    let only =
        json!({"layout": {"cantcoexist": [["log", "db"]]}, "services": {"log": {"quantities": {"max": 1}}}});
    let world = offering(world.services, "app db", only);
    let addition = add_services(&world.template, &world.services, &existing, &set("web")).unwrap();
    assert_eq!(text(&addition.layout), "app log web ×1 on large, db ×1 on large");
}

/// All services that are on the cluster, each with those that it brings to its node.
fn bunches(world: &World) -> BTreeMap<String, BTreeSet<String>> {
    let all = with_companions(&world.services, &world.template.defaults.services);
    all.into_iter()
        .map(|name| (name.clone(), with_companions(&world.services, &BTreeSet::from([name]))))
        .collect()
}

/// Whether nodes may carry these sets: what is required on the same machine is there, what goes with others is where one
/// of them is, and what no rule is about is everywhere.
fn is_bound(
    constraints: &Constraints,
    bunches: &BTreeMap<String, BTreeSet<String>>,
    node: &BTreeSet<String>,
) -> bool {
    let rules = &constraints.layout;
    let is_ruled = |name: &String| {
        constraints.services.contains_key(name)
            || rules.mustcoexist.iter().chain(&rules.cantcoexist).any(|rule| rule.contains(name))
    };
    bunches.iter().all(|(name, bunch)| {
        let hosts: Vec<&String> = bunches
            .iter()
            .filter(|(host, of)| *host != name && of.contains(name))
            .map(|(host, _)| host)
            .collect();
        let whole = !node.contains(name) || bunch.is_subset(node);
        let here = node.contains(name);
        let wanted = if hosts.is_empty() {
            here || bunch.iter().any(is_ruled)
        } else {
            here == hosts.iter().any(|host| node.contains(*host))
        };
        whole && wanted
    })
}

/// Any layout there is, by trying everything.
fn any_layout(world: &World, machines: u32) -> Option<Vec<NodeGroup>> {
    let constraints = &world.template.constraints;
    let bunches = bunches(world);
    let all: Vec<&String> = bunches.keys().collect();
    let present: BTreeSet<String> = bunches.keys().cloned().collect();
    let sets = (1..1_u32 << all.len()).map(|bits| {
        let chosen = all.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
        chosen.map(|(_, name)| (*name).clone()).collect::<BTreeSet<String>>()
    });
    let rules = &constraints.layout;
    let valid = sets.filter(|set| {
        let crammed = rules.cantcoexist.iter().any(|rule| rule.is_subset(set));
        let torn = rules.mustcoexist.iter().any(|rule| {
            let reduced: BTreeSet<_> = rule.intersection(&present).cloned().collect();
            !reduced.is_subset(set) && !reduced.is_disjoint(set)
        });
        !crammed && !torn && is_bound(constraints, &bunches, set)
    });
    let nodes: Vec<NodeLayout> = kinds(world, &valid.collect::<Vec<_>>());
    let limits: BTreeMap<&String, Quantities> = present
        .iter()
        .map(|name| {
            let mut limits = constraints.services.get(name).map(|rule| rule.quantities).unwrap_or_default();
            limits.min = limits.min.max(1);
            (name, limits)
        })
        .collect();
    let mut counts = Vec::new();
    try_counts(&nodes, &limits, machines, &mut counts).then(|| {
        let groups = nodes.into_iter().zip(counts).map(|(node, count)| NodeGroup { node, count });
        groups.filter(|group| group.count > 0).collect()
    })
}

/// Whether a rule is about a service that goes with several: such a rule may be refused although it could be kept.
fn is_shared(world: &World) -> bool {
    let bunches = bunches(world);
    let tops: Vec<(&String, &BTreeSet<String>)> = bunches
        .iter()
        .filter(|(name, _)| !bunches.iter().any(|(other, of)| other != *name && of.contains(*name)))
        .collect();
    let constraints = &world.template.constraints;
    bunches.keys().any(|name| {
        let shared = tops.iter().filter(|(host, of)| *host != name && of.contains(name)).count() > 1;
        let must = constraints.layout.mustcoexist.iter().any(|rule| rule.contains(name));
        shared && (must || constraints.services.contains_key(name))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    /// There is a layout if there is one at all, and it keeps every rule, those about companions included.
    #[test]
    fn agrees_with_trying_everything(
        world in world(),
        rules in constraints(),
        ties in btree_set((0..5_usize, 1..6_usize), 1..=3),
        machines in 1..=4_u32,
    ) {
        let mut world = world;
        world.template.constraints = serde_json::from_value(rules).expect("constraints");
        let names = ["a", "b", "c", "d", "e", "f"];
        let needed = |index: usize| {
            let ties = ties.iter().filter(|(from, to)| *from == index && to > from);
            ties.map(|(_, to)| names[*to]).collect::<Vec<_>>().join(" ")
        };
        world.services = names.iter().enumerate().map(|(index, name)| needing(name, &needed(index))).collect();
        let request = LayoutRequest { machines, ..LayoutRequest::default() };
        match (solve(&world.catalog(), &request), any_layout(&world, machines)) {
            (Ok(layout), any) => {
                prop_assert!(any.is_some(), "{} although there is none", text(&layout.groups));
                prop_assert!(check_layout(&world.template, &layout.groups).is_empty());
                prop_assert_eq!(layout.machines(), machines);
                let bunches = bunches(&world);
                prop_assert_eq!(layout.services(), bunches.keys().cloned().collect::<BTreeSet<_>>());
                for group in &layout.groups {
                    let bound = is_bound(&world.template.constraints, &bunches, &group.node.services);
                    prop_assert!(bound, "{}", text(&layout.groups));
                }
            }
            (Err(refusal), None) => prop_assert!(explains(&refusal), "{}", refusal),
            (Err(refusal), Some(groups)) => {
                prop_assert!(is_shared(&world), "{} refused: {}", text(&groups), refusal);
                prop_assert!(explains(&refusal), "{}", refusal);
            }
        }
    }
}
