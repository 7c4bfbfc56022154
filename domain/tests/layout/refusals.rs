//! Every refusal says what cannot be met, with names, numbers and a remedy, and says all of it at once.

use cooperage_domain::layout::{LayoutRequest, ReasonKind, check_sync, solve};
use serde_json::{Value, json};

use crate::input::{World, group, service, set};

#[test]
#[allow(clippy::too_many_lines)] // A table of cases reads best in one piece.
fn quantities_and_rules() {
    // (services, constraints, machines, text)
    let table: [(&str, Value, u32, &str); 12] = [
        (
            "a b",
            json!({"services": {"a": {"quantities": {"min": 0, "max": 0}}}}),
            2,
            "a was requested, but its maximum is 0 nodes; raise max of a to at least 1, or leave it out of the request",
        ),
        (
            "a b",
            json!({"services": {"a": {"quantities": {"min": 3, "max": 2}}}}),
            5,
            "the minimum of a, 3, is above its maximum of 2; raise max of a to 3, or lower min of a to 2",
        ),
        (
            "a b",
            json!({"layout": {"mustcoexist": [["a", "b"]]},
                   "services": {"a": {"quantities": {"min": 3}}, "b": {"quantities": {"max": 1}}}}),
            5,
            "a must be on at least 3 nodes, and b, which goes with it, on at most 1; \
             raise max of b to 3, or lower min of a to 1\n\
             the services can fill at most 1 of 5 machines: a with b (on 1) at most; raise max of b to 5",
        ),
        (
            "a",
            json!({"services": {"a": {"quantities": {"min": 4}}}}),
            3,
            "a must be on at least 4 nodes, but only 3 machines were asked for; \
             use at least 4 machines, or lower min of a to 3 or less",
        ),
        (
            "namenode",
            json!({"services": {"namenode": {"quantities": {"max": 1}}}}),
            2,
            "the services can fill at most 1 of 2 machines: namenode (on 1) at most; \
             raise max of namenode to 2, or use 1 machine",
        ),
        (
            "a b",
            json!({"services": {"a": {"quantities": {"max": 2}}, "b": {"quantities": {"max": 4}}}}),
            7,
            "the services can fill at most 6 of 7 machines: a (on 2) and b (on 4) at most; \
             raise max of a to 3, or use at most 6 machines",
        ),
        (
            "a b c",
            json!({"layout": {"cantcoexist": [["a", "b"], ["b", "c"], ["a", "c"]]}}),
            2,
            "a (on 1), b (on 1) and c (on 1) need 3 machines together, but only 2 were asked for: \
             no two of them can share a node; use at least 3 machines, or leave one of them out, \
             or let them share nodes: see cantcoexist, hardwaretypes, imagetypes",
        ),
        (
            "a b c",
            json!({"layout": {"cantcoexist": [["a", "b", "c"]]}}),
            1,
            "a (on 1), b (on 1) and c (on 1) need 2 machines together, but only 1 were asked for: \
             the rules do not let them share enough nodes; use at least 2 machines, or leave one of them out, \
             or let them share nodes: see cantcoexist, hardwaretypes, imagetypes",
        ),
        (
            "a b",
            json!({"layout": {"mustcoexist": [["a", "b"]], "cantcoexist": [["a", "b"]]}}),
            2,
            "a cantcoexist rule of the template keeps a and b off every node; \
             change that rule, or the mustcoexist rule that ties these services together",
        ),
        (
            "a b",
            json!({"layout": {"mustcoexist": [["a", "b"]]},
                   "services": {"a": {"hardwaretypes": ["large"]}, "b": {"hardwaretypes": ["small"]}}}),
            2,
            "no hardware type suits a and b; usable here: large and small; \
             ask for another hardware type, or allow one of these in constraints.services.*.hardwaretypes",
        ),
        (
            "a b",
            json!({"services": {"a": {"imagetypes": ["windows"]}}}),
            2,
            "no image type suits a; usable here: linux; \
             ask for another image type, or allow one of these in constraints.services.*.imagetypes",
        ),
        (
            "a b",
            json!({"services": {"a": {"quantities": {"max": 0}}, "b": {"quantities": {"min": 9}}}}),
            2,
            "a was requested, but its maximum is 0 nodes; raise max of a to at least 1, or leave it out of the request\n\
             b must be on at least 9 nodes, but only 2 machines were asked for; lower min of b to 2 or less",
        ),
    ];
    for (services, constraints, machines, text) in table {
        assert_eq!(World::new(services, constraints).refused(machines), text);
    }
}

#[test]
fn the_number_of_machines_that_is_advised_works() {
    let constraints = json!({
        "layout": {"cantcoexist": [["a", "b"], ["b", "c"], ["a", "c"]]},
        "services": {"a": {"quantities": {"min": 2, "max": 3}}, "b": {"quantities": {"max": 1}}, "c": {"quantities": {"max": 1}}}
    });
    let world = World::new("a b c", constraints);
    assert!(world.refused(3).contains("use at least 4 machines"));
    assert!(world.refused(6).contains("use at most 5 machines"));
    assert!(world.solve(4).is_ok() && world.solve(5).is_ok());
}

#[test]
fn an_unsound_request_gets_all_its_faults_in_order() {
    let mut world = World::new("app web gone", json!({"size": {"min": 2, "max": 4}}));
    world.template.compatibility.services = set("app gone db pg");
    world.template.compatibility.hardwaretypes = set("huge small");
    world.template.defaults.hardwaretype = Some("large".into());
    world.template.defaults.imagetype = Some("unix".into());
    world.services = vec![
        service(
            json!({"name": "app", "dependencies": {"install": {"requires": ["sql"]}, "conflicts": ["web"], "provides": []}}),
        ),
        service(
            json!({"name": "web", "dependencies": {"runtime": {"requires": ["app", "gone", "nothing"]}}}),
        ),
        service(json!({"name": "pg", "dependencies": {"provides": ["sql"]}})),
    ];
    let lines: Vec<String> = world.refused(9).lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "9 machines are too few or too many: the size must be 2 to 4 with template t; ask for 2 to 4 machines, or change constraints.size of the template",
            "no hardware types are available to use with template t and provider cloud: \
             large is not in the template's compatibility.hardwaretypes; ask for small instead",
            "no image types are available to use with template t and provider cloud: \
             image type unix, which is wanted, does not exist; ask for linux instead",
            "web is incompatible with the cluster; leave out web, or add to compatibility.services of template t",
            "service gone does not exist; create it, or leave it out",
            "app requires sql, which is not on the cluster or in the list of services; add pg, or leave app out",
            "web requires nothing, which is not on the cluster or in the list of services; \
             create a service that is called or provides nothing, or leave web out",
            "app conflicts with web; leave out app or web",
        ]
    );
}

#[test]
fn a_type_without_a_word_for_the_provider_is_not_usable() {
    let mut world = World::new("a", json!({}));
    for hardware in &mut world.hardware {
        hardware.providermap.clear();
    }
    let text = world.refused(1);
    assert!(
        text.contains("large has no flavor for the provider, small has no flavor for the provider"),
        "{text}"
    );
    assert!(text.contains("give an allowed hardware type a flavor under providermap.cloud"), "{text}");
}

#[test]
fn services_that_wait_for_each_other_are_refused_by_name() {
    let mut world = World::new("a b c", json!({}));
    world.services = vec![
        service(json!({"name": "a", "dependencies": {"runtime": {"requires": ["b"]}}})),
        service(json!({"name": "b", "dependencies": {"runtime": {"uses": ["a"]}}})),
        service(json!({"name": "c"})),
    ];
    let text = world.refused(1);
    assert!(text.starts_with("runtime dependencies run in a circle: a → b → a; "), "{text}");
}

#[test]
fn no_services_and_no_machines() {
    let world = World::new("", json!({}));
    let refusal = solve(&world.catalog(), &LayoutRequest::default()).unwrap_err();
    assert!(refusal.has(ReasonKind::NoServices) && refusal.has(ReasonKind::Size), "{refusal}");
}

#[test]
fn more_rules_than_the_solver_takes_are_refused() {
    let names: Vec<String> = (0..129).map(|number| format!("s{number:03}")).collect();
    let rules: Value =
        names.iter().map(|name| (name.clone(), json!({}))).collect::<serde_json::Map<_, _>>().into();
    let text = World::new(&names.join(" "), json!({ "services": rules })).refused(1);
    assert!(
        text.starts_with("129 services or groups of services have rules of their own; at most 128 can; "),
        "{text}"
    );
}

#[test]
fn a_template_that_does_not_fit_a_running_cluster_is_refused_with_all_violations() {
    let constraints = json!({
        "layout": {"cantcoexist": [["a", "b"]], "mustcoexist": [["b", "c"]]},
        "services": {"a": {"quantities": {"max": 1}, "hardwaretypes": ["large"]}, "c": {"quantities": {"min": 2}}}
    });
    let mut world = World::new("a b c", constraints);
    world.template.compatibility.imagetypes = set("unix");
    let refusal =
        check_sync(&world.template, &[group("a b", 2, "small"), group("b c", 1, "large")]).unwrap_err();
    let faults: Vec<&str> = refusal.reasons.iter().map(|reason| reason.fault.as_str()).collect();
    assert_eq!(
        faults,
        [
            "image type linux is in use, but template t does not allow it",
            "b and c must be together on a node (mustcoexist), but a node carries only b",
            "a and b may not be together on a node (cantcoexist), but a node carries them",
            "a does not run on hardware type small",
            "a is on 2 nodes, above its maximum of 1",
            "c is on 1 node, below its minimum of 2",
        ]
    );
}

#[test]
fn what_would_help_can_be_carried_out_by_programs() {
    let mut world = World::new("app", json!({"size": {"min": 2, "max": 4}}));
    world.template.defaults.hardwaretype = Some("large".into());
    world.template.compatibility.hardwaretypes = set("small");
    world.services = vec![
        service(json!({"name": "app", "dependencies": {"runtime": {"requires": ["sql"]}}})),
        service(json!({"name": "pg", "dependencies": {"provides": ["sql"]}})),
    ];
    let steps =
        |world: &World, machines| serde_json::to_value(world.solve(machines).unwrap_err().steps()).unwrap();
    let expected = json!([
        {"step": "machines", "count": 4},
        {"step": "hardwareType", "name": "small"},
        {"step": "addService", "service": "pg"},
        {"step": "removeService", "service": "app"},
    ]);
    assert_eq!(steps(&world, 9), expected);
    let crowd = World::new("a b c", json!({"layout": {"cantcoexist": [["a", "b"], ["b", "c"], ["a", "c"]]}}));
    assert_eq!(steps(&crowd, 2), json!([{"step": "machines", "count": 3}]));
}
