//! One small world per rule of the solver, and the layout it leads to.

use cooperage_domain::layout::explain::{node_layouts, service_sets, why_here};
use cooperage_domain::layout::{FIRST_NODE_NUMBER, LayoutRequest, solve};
use serde_json::{Value, json};

use crate::input::{World, hardware, set};

#[test]
#[allow(clippy::too_many_lines)] // A table of cases reads best in one piece.
fn layouts_by_rule() {
    // (rule, services, constraints, machines, layout)
    let table: [(&str, &str, Value, u32, &str); 15] = [
        ("services without rules are everywhere", "a b", json!({}), 2, "a b ×2 on large"),
        (
            "a rule about an absent service still makes a service optional on a node",
            "a b",
            json!({"layout": {"cantcoexist": [["a", "absent"]]}, "services": {"a": {"quantities": {"max": 1}}}}),
            2,
            "a b ×1 on large, b ×1 on large",
        ),
        (
            "mustcoexist is reduced to the services that are there",
            "a b",
            json!({"layout": {"mustcoexist": [["a", "b", "absent"]]}, "services": {"a": {"quantities": {"max": 2}}}}),
            2,
            "a b ×2 on large",
        ),
        (
            "mustcoexist rules that overlap act together",
            "a b c d",
            json!({"layout": {"mustcoexist": [["a", "b"], ["b", "c"]], "cantcoexist": [["a", "d"]]}}),
            3,
            "a b c ×2 on large, d ×1 on large",
        ),
        (
            "cantcoexist of three forbids only all three together",
            "a b c",
            json!({"layout": {"cantcoexist": [["a", "b", "c"]]}}),
            2,
            "a b ×1 on large, a c ×1 on large",
        ),
        (
            "minimums are packed as tightly as the rules allow",
            "a b c",
            json!({"layout": {"cantcoexist": [["a", "b", "c"]]},
                   "services": {"a": {"quantities": {"min": 2}}, "b": {"quantities": {"min": 2}}, "c": {"quantities": {"min": 2}}}}),
            3,
            "a b ×1 on large, a c ×1 on large, b c ×1 on large",
        ),
        (
            "a requested service is on at least one node, even without a minimum",
            "a b",
            json!({"layout": {"cantcoexist": [["a", "b"]]}}),
            5,
            "a ×4 on large, b ×1 on large",
        ),
        (
            "a solvable request is solved although taking greedily leaves machines over",
            "a b",
            json!({"services": {"a": {"quantities": {"min": 1, "max": 2}}, "b": {"quantities": {"min": 1, "max": 2}}}}),
            4,
            "a ×2 on large, b ×2 on large",
        ),
        (
            "as many services as possible share a node, then names decide",
            "a b c",
            json!({"services": {"a": {"quantities": {"max": 2}}, "b": {"quantities": {"max": 2}}, "c": {"quantities": {"max": 1}}}}),
            3,
            "a b c ×1 on large, a ×1 on large, b ×1 on large",
        ),
        (
            "the alphabetically first hardware all services accept",
            "a b",
            json!({"services": {"a": {"hardwaretypes": ["small", "large"]}, "b": {"hardwaretypes": ["small"]}}}),
            1,
            "a b ×1 on small",
        ),
        (
            "services without common hardware do not share a node; hardware orders nodes of one size",
            "a b",
            json!({"services": {"a": {"hardwaretypes": ["small"]}, "b": {"hardwaretypes": ["large"]}}}),
            3,
            "b ×2 on large, a ×1 on small",
        ),
        (
            "minimums hold",
            "a b",
            json!({"layout": {"cantcoexist": [["a", "b"]]}, "services": {"b": {"quantities": {"min": 3}}}}),
            5,
            "a ×2 on large, b ×3 on large",
        ),
        (
            "maximums hold, nodes beyond carry what is everywhere",
            "a b",
            json!({"services": {"a": {"quantities": {"max": 1}}}}),
            3,
            "a b ×1 on large, b ×2 on large",
        ),
        (
            "bundles count with the tightest quantities of their services",
            "a b c",
            json!({"layout": {"mustcoexist": [["a", "b"]]},
                   "services": {"a": {"quantities": {"min": 2}}, "b": {"quantities": {"max": 3}}}}),
            4,
            "a b c ×3 on large, c ×1 on large",
        ),
        (
            "an empty rule and a rule about one absent service forbid nothing",
            "a",
            json!({"layout": {"cantcoexist": [[], ["absent"]], "mustcoexist": [[], ["absent"]]}}),
            1,
            "a ×1 on large",
        ),
    ];
    for (rule, services, constraints, machines, layout) in table {
        assert_eq!(World::new(services, constraints).solved(machines), layout, "{rule}");
    }
}

#[test]
fn nodes_are_numbered_from_1000_in_order_of_preference() {
    let world = World::new("a b", json!({"services": {"a": {"quantities": {"max": 1}}}}));
    let layout = world.solve(3).unwrap();
    let numbers: Vec<(u32, usize)> =
        layout.nodes().map(|(number, node)| (number, node.services.len())).collect();
    assert_eq!(numbers, [(FIRST_NODE_NUMBER, 2), (1001, 1), (1002, 1)]);
}

#[test]
fn the_request_comes_before_the_defaults_and_empty_means_not_given() {
    let mut world = World::new("a b", json!({}));
    world.template.defaults.hardwaretype = Some("small".into());
    let ask = |hardwaretype: &str, services: &str| {
        let request = LayoutRequest {
            machines: 1,
            services: Some(set(services)),
            hardwaretype: Some(hardwaretype.into()),
            imagetype: Some(String::new()),
            ..LayoutRequest::default()
        };
        crate::input::text(&solve(&world.catalog(), &request).unwrap().groups)
    };
    assert_eq!(ask("", ""), "a b ×1 on small");
    assert_eq!(ask("large", "b"), "b ×1 on large");
}

#[test]
fn ten_thousand_machines_and_sixty_ruled_services_stay_within_the_limit() {
    let names: Vec<String> = (0..60).map(|number| format!("s{number:02}")).collect();
    let rules: serde_json::Map<String, Value> = names
        .iter()
        .enumerate()
        .map(|(index, name)| (name.clone(), json!({"quantities": {"min": 1 + index % 3, "max": 9 + index}})))
        .collect();
    let apart: Vec<[&String; 2]> = names.chunks(3).map(|three| [&three[0], &three[1]]).collect();
    let together: Vec<[&String; 2]> = names.chunks(6).map(|six| [&six[0], &six[5]]).collect();
    let constraints = json!({"layout": {"cantcoexist": apart, "mustcoexist": together}, "services": rules});
    let ruled = World::new(&names.join(" "), constraints);
    assert_eq!(ruled.solve(300).unwrap().machines(), 300);
    let open = World::new("a b c", json!({"layout": {"cantcoexist": [["a", "b"]]}}));
    assert_eq!(open.solved(10_000), "a c ×9999 on large, b c ×1 on large");
}

#[test]
fn inner_steps_are_listed_in_order_of_preference() {
    let constraints =
        json!({"layout": {"cantcoexist": [["a", "b"]]}, "services": {"b": {"hardwaretypes": ["small"]}}});
    let world = World::new("a b c", constraints);
    let sets = service_sets(&world.template, &set("a b c")).unwrap();
    assert_eq!(sets, [set("a c"), set("b c"), set("c")]);
    let request = LayoutRequest { machines: 1, ..LayoutRequest::default() };
    let nodes = node_layouts(&world.catalog(), &request).unwrap();
    let shown: Vec<String> = nodes
        .iter()
        .map(|node| {
            format!("{} {}", Vec::from_iter(node.services.iter().cloned()).join(""), node.hardwaretype)
        })
        .collect();
    assert_eq!(shown, ["ac large", "ac small", "bc small", "c large", "c small"]);
}

#[test]
fn a_list_that_is_too_long_is_refused() {
    let names: Vec<String> = (0..20).map(|number| format!("s{number:02}")).collect();
    let rules: Value =
        names.iter().map(|name| (name.clone(), json!({}))).collect::<serde_json::Map<_, _>>().into();
    let world = World::new(&names.join(" "), json!({ "services": rules }));
    let refusal = service_sets(&world.template, &names.iter().cloned().collect()).unwrap_err();
    assert!(refusal.to_string().contains("more than 10000"), "{refusal}");
}

#[test]
fn every_place_has_its_reasons() {
    let constraints = json!({
        "layout": {"cantcoexist": [["a", "b"]]},
        "services": {"a": {"quantities": {"max": 1}, "hardwaretypes": ["large"]}}
    });
    let mut world = World::new("a b c", constraints);
    world.hardware.push(hardware("huge"));
    let groups = world.solve(2).unwrap().groups;
    assert_eq!(crate::input::text(&groups), "b c ×1 on huge, a c ×1 on large");
    let why = |group, service| why_here(&world.template, &groups, group, service).join("\n");
    assert_eq!(why(0, "c"), "no rule of the template mentions c, so every node carries it");
    assert!(why(1, "a").contains("hardware type large is one of those a accepts: large"), "{}", why(1, "a"));
    let not_there = why(0, "a");
    for part in ["a and b may not be together", "a does not run on hardware type huge", "its maximum is 1"] {
        assert!(not_there.contains(part), "{not_there}");
    }
}
