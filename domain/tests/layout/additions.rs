//! Services added to running clusters.

use cooperage_domain::layout::{NodeGroup, ReasonKind, add_services, validate_add_services};
use serde_json::{Value, json};

use crate::input::{World, group, service, set, text};

fn added(constraints: Value, groups: &[NodeGroup], services: &str) -> Result<String, String> {
    let world = World::new("", constraints);
    match add_services(&world.template, &world.services, groups, &set(services)) {
        Ok(addition) => Ok(text(&addition.layout)),
        Err(refusal) => Err(refusal.to_string()),
    }
}

#[test]
fn what_was_placed_is_taken_back_when_a_later_service_finds_no_place() {
    let constraints = json!({
        "layout": {"cantcoexist": [["x", "y"]]},
        "services": {"x": {"quantities": {"min": 1, "max": 1}}, "y": {"quantities": {"min": 1, "max": 2}, "hardwaretypes": ["large"]}}
    });
    let groups = [group("a", 1, "large"), group("b", 1, "small")];
    assert_eq!(added(constraints, &groups, "x y").unwrap(), "a y ×1 on large, b x ×1 on small");
}

#[test]
fn the_smallest_maximum_then_the_largest_minimum_then_the_name_comes_first() {
    let groups = [group("a", 1, "large"), group("b", 1, "small")];
    let placed = |x: Value, y: Value| {
        let services = json!({"x": {"quantities": x}, "y": {"quantities": y}});
        added(json!({"layout": {"cantcoexist": [["x", "y"]]}, "services": services}), &groups, "x y").unwrap()
    };
    assert_eq!(placed(json!({"max": 1}), json!({"max": 1})), "a x ×1 on large, b y ×1 on small");
    assert_eq!(placed(json!({"max": 2}), json!({"max": 1})), "a y ×1 on large, b x ×1 on small");
    assert_eq!(placed(json!({"max": 1}), json!({"min": 1, "max": 1})), "a y ×1 on large, b x ×1 on small");
}

#[test]
fn nodes_that_need_the_service_get_it_and_others_by_preference() {
    let constraints = json!({
        "layout": {"mustcoexist": [["b", "x"]]},
        "services": {"x": {"quantities": {"max": 2}}}
    });
    let groups = [group("a c", 3, "large"), group("b", 1, "small")];
    assert_eq!(added(constraints, &groups, "x").unwrap(), "a c ×3 on large, b x ×1 on small");
    let too_few =
        json!({"layout": {"mustcoexist": [["a", "x"]]}, "services": {"x": {"quantities": {"max": 2}}}});
    assert_eq!(
        added(too_few, &groups, "x").unwrap_err(),
        "mustcoexist puts x on 3 nodes, above its maximum of 2; raise max of x to 3, or change the rule"
    );
    assert_eq!(added(json!({}), &groups, "x").unwrap(), "a c x ×3 on large, b x ×1 on small");
    let halves = json!({"services": {"x": {"quantities": {"max": 2}}}});
    assert_eq!(added(halves, &groups, "x").unwrap(), "a c x ×2 on large, a c ×1 on large, b ×1 on small");
}

#[test]
fn placements_say_which_nodes_get_what() {
    let constraints = json!({"services": {"x": {"quantities": {"max": 1}}}});
    let world = World::new("", constraints);
    let groups = [group("b", 1, "small"), group("a", 3, "large")];
    let addition = add_services(&world.template, &world.services, &groups, &set("x y")).unwrap();
    let placements: Vec<(usize, u32, String)> = addition
        .placements
        .iter()
        .map(|place| (place.group, place.count, Vec::from_iter(place.services.iter().cloned()).join(" ")))
        .collect();
    assert_eq!(placements, [(0, 1, "y".into()), (1, 1, "x y".into()), (1, 2, "y".into())]);
    assert_eq!(addition.changed_nodes(), 4);
}

#[test]
fn refusals_say_why_no_node_takes_the_service() {
    let constraints =
        json!({"services": {"x": {"quantities": {"min": 3, "max": 5}, "hardwaretypes": ["large"]}}});
    let groups = [group("a", 3, "small"), group("b", 2, "large")];
    assert_eq!(
        added(constraints, &groups, "x").unwrap_err(),
        "x must be on at least 3 nodes, but 2 can take it: 3 nodes with a: x does not run on hardware type small; \
         lower min of x to 2, or change the rules that keep it off other nodes"
    );
    let rivals = json!({"layout": {"cantcoexist": [["x", "y"]]}});
    assert_eq!(
        added(rivals, &[group("a", 1, "large")], "x y").unwrap_err(),
        "each of x and y finds a place alone, but the 1 nodes cannot take all of them within their rules and quantities; \
         add fewer of them, or loosen their minimums or the rules between them"
    );
    let none = json!({"services": {"x": {"quantities": {"max": 0}}}});
    let refusal = added(none, &[group("a", 1, "large")], "x").unwrap_err();
    assert_eq!(refusal, "x may be on at most 0 nodes, but needs 1; raise max of x to at least 1");
}

#[test]
fn a_service_that_is_there_already_and_a_broken_layout_are_refused() {
    let refusal = added(json!({}), &[group("a b", 1, "large")], "a b c").unwrap_err();
    assert_eq!(refusal, "a and b are on the cluster already; leave out a and b");
    let broken = json!({"services": {"a": {"quantities": {"max": 1}}}});
    let refusal = added(broken, &[group("a", 2, "large")], "c").unwrap_err();
    assert!(refusal.starts_with("a is on 2 nodes, above its maximum of 1; "), "{refusal}");
}

#[test]
fn an_unsound_addition_gets_all_its_faults() {
    let mut world = World::new("a", json!({}));
    world.template.compatibility.services = set("a");
    world.services.push(service(
        json!({"name": "x", "dependencies": {"install": {"requires": ["y"]}, "conflicts": ["a"]}}),
    ));
    let refusal =
        validate_add_services(&world.template, &world.services, &set("a"), &set("a x gone"), &set(""))
            .unwrap_err();
    let kinds: Vec<ReasonKind> = refusal.reasons.iter().map(|reason| reason.kind).collect();
    assert_eq!(
        kinds,
        [
            ReasonKind::AlreadyPresent,
            ReasonKind::MissingService,
            ReasonKind::IncompatibleService,
            ReasonKind::UnmetRequirement,
            ReasonKind::Conflict,
        ]
    );
}
