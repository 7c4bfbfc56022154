//! Growing and shrinking: tables of what is added and what goes, and of refusals.

use std::collections::BTreeMap;

use cooperage_domain::id::NodeId;
use cooperage_domain::layout::{Growth, NodeGroup, ShrinkNode, Shrinkage, grow, shrink};
use serde_json::{Value, json};

use crate::input::{World, group, text};

/// A web cluster: the load balancer alone in front, at most two databases, on large machines only.
fn web() -> World {
    let constraints = json!({
        "layout": {"cantcoexist": [["lb", "web"], ["lb", "db"], ["web", "db"]]},
        "services": {
            "lb": {"quantities": {"min": 1, "max": 1}},
            "db": {"quantities": {"min": 1, "max": 2}, "hardwaretypes": ["large"]},
            "web": {"quantities": {"min": 1, "max": 9}}
        },
        "size": {"min": 3, "max": 10}
    });
    World::new("lb web db", constraints)
}

/// `web 2, db 1`
fn numbers(text: &str) -> BTreeMap<String, u32> {
    let pairs = text.split(", ").filter(|pair| !pair.is_empty()).filter_map(|pair| pair.split_once(' '));
    pairs.map(|(name, number)| (name.to_owned(), number.parse().expect("a number"))).collect()
}

fn grown(world: &World, existing: &[NodeGroup], machines: u32, services: &str) -> String {
    let request = Growth { machines, services: numbers(services), ..Growth::default() };
    match grow(&world.catalog(), existing, &request) {
        Ok(nodes) => text(&nodes.into_iter().map(|node| NodeGroup { node, count: 1 }).collect::<Vec<_>>()),
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn a_cluster_grows_by_count_and_by_service() {
    let world = web();
    let three = world.solve(3).expect("a layout").groups;
    assert_eq!(text(&three), "db ×1 on large, lb ×1 on large, web ×1 on large");
    let table = [
        (4, "", "db ×1 on large"),
        (6, "", "db ×1 on large, web ×1 on large, web ×1 on large"),
        (0, "web 2", "web ×1 on large, web ×1 on large"),
        (0, "web 1, db 1", "db ×1 on large, web ×1 on large"),
        (5, "db 0", "web ×1 on large, web ×1 on large"),
        (5, "web 1", "db ×1 on large, web ×1 on large"),
    ];
    for (machines, services, expected) in table {
        assert_eq!(grown(&world, &three, machines, services), expected, "to {machines} by {services:?}");
    }
}

#[test]
fn services_without_rules_are_on_every_new_node() {
    let world = World::new("agent web", json!({"services": {"web": {"quantities": {"max": 2}}}}));
    let existing = [group("agent web", 2, "large")];
    assert_eq!(grown(&world, &existing, 4, ""), "agent ×1 on large, agent ×1 on large");
    assert_eq!(grown(&world, &existing, 0, "agent 1"), "agent ×1 on large");
}

#[test]
fn new_nodes_have_the_types_that_were_asked_for() {
    let request = Growth { machines: 5, hardwaretype: Some("small".into()), ..Growth::default() };
    let three = web().solve(3).expect("a layout").groups;
    let nodes = grow(&web().catalog(), &three, &request).expect("nodes");
    // Databases do not run on small machines.
    assert!(
        nodes.iter().all(|node| node.hardwaretype == "small" && node.services.contains("web")),
        "{nodes:?}"
    );
}

#[test]
#[allow(clippy::too_many_lines)] // A table of cases reads best in one piece.
fn refusals_to_grow_say_what_would_make_it_possible() {
    let world = web();
    let three = world.solve(3).expect("a layout").groups;
    let capped = World::new(
        "a b",
        json!({"services": {"a": {"quantities": {"max": 3}}, "b": {"quantities": {"max": 1}}}}),
    );
    let two = [group("a b", 1, "large"), group("a", 1, "large")];
    let tied = World::new("a b", json!({"layout": {"mustcoexist": [["a", "b"]]}}));
    let pair = [group("a b", 1, "large")];
    let table: [(&World, &[NodeGroup], u32, &str, &str); 11] = [
        (
            &world,
            &three,
            0,
            "",
            "nothing to grow was named; say how many machines the cluster is to have, or name services and how many more nodes carry each",
        ),
        (
            &world,
            &three,
            3,
            "",
            "the cluster has 3 machines already, and was asked to grow to 3; ask for more than 3, or shrink it",
        ),
        (
            &world,
            &three,
            11,
            "",
            "11 machines are too few or too many: the size must be 3 to 10 with template t; ask for 3 to 10 machines, or change constraints.size of the template",
        ),
        (
            &world,
            &three,
            0,
            "db 2",
            "db cannot be on 2 more nodes: it is on 1, and its constraint allows 2 at most; raise max of db to 3, or ask for 1 more at most",
        ),
        (
            &world,
            &three,
            0,
            "lb 1",
            "lb cannot be on 1 more node: it is on 1, and its constraint allows 1 at most; raise max of lb to 2",
        ),
        (
            &world,
            &three,
            4,
            "web 1, db 1",
            "1 new machine cannot carry db (on 1 more) and web (on 1 more): the rules do not let them share enough nodes; ask for at least 5 machines, or for fewer more nodes with these services",
        ),
        (
            &world,
            &three,
            0,
            "cache 1",
            "cache is not on the cluster; add cache to the cluster's services first, or name others",
        ),
        (
            &world,
            &three,
            0,
            "web 0",
            "web would be on 0 more nodes, so nothing would grow; ask for at least 1 more node with web",
        ),
        (
            &capped,
            &two,
            5,
            "",
            "the services can fill at most 1 of 3 new machines: the constraint of a allows 3 at most (on 2 now) and the constraint of b allows 1 at most (on 1 now); raise max of b to 3 or ask for at most 3 machines",
        ),
        (
            &tied,
            &pair,
            0,
            "a 1, b 2",
            "a was asked for on 1 more and b on 2 more, but they go together (mustcoexist); ask for the same number of both, or name only a",
        ),
        (
            &world,
            &[group("lb web", 1, "large"), group("db", 1, "large")],
            4,
            "",
            "lb and web may not be together on a node (cantcoexist), but a node carries them; put one of them on another node, or change the rule",
        ),
    ];
    for (world, existing, machines, services, expected) in table {
        assert_eq!(grown(world, existing, machines, services), expected, "to {machines} by {services:?}");
    }
}

#[test]
fn a_service_that_suits_no_new_node_is_named() {
    let small = |machines, services: &str| Growth {
        machines,
        services: numbers(services),
        hardwaretype: Some("small".into()),
        ..Growth::default()
    };
    let world = web();
    let three = world.solve(3).expect("a layout").groups;
    assert_eq!(
        grow(&world.catalog(), &three, &small(0, "db 1")).unwrap_err().to_string(),
        "db must be on 1 more node, but suits none of the types that new nodes may have; \
         ask for another hardware type or image type, or allow these in constraints.services of db"
    );
    let mut gone = web();
    gone.services.retain(|service| service.base.name != "db");
    assert_eq!(
        grow(&gone.catalog(), &three, &small(4, "")).unwrap_err().to_string(),
        "service db does not exist; create it, or leave it out"
    );
}

/// Nodes from 1000: `lb; web; web -; db !`, where `-` is one that does not work and `!` one that must stay.
fn nodes(list: &str) -> Vec<ShrinkNode> {
    let each = list.split("; ").zip(1000..).map(|(words, number)| ShrinkNode {
        id: NodeId(format!("id-{number}")),
        number,
        node: group(words.trim_end_matches([' ', '-', '!']), 1, "large").node,
        healthy: !words.ends_with('-'),
        pinned: words.ends_with('!'),
    });
    each.collect()
}

/// The numbers of the nodes that go, or why none can.
fn shrunk(world: &World, list: &str, request: &Shrinkage) -> String {
    match shrink(&world.template, &nodes(list), request) {
        Ok(leaving) => leaving.iter().map(|node| node.number.to_string()).collect::<Vec<_>>().join(" "),
        Err(refusal) => refusal.to_string(),
    }
}

fn by(services: &str) -> Shrinkage {
    Shrinkage::Services(numbers(services))
}

fn named(ids: &str) -> Shrinkage {
    Shrinkage::Nodes(ids.split_whitespace().map(|id| NodeId(format!("id-{id}"))).collect())
}

#[test]
fn nodes_go_that_do_not_work_then_those_to_spare_then_the_youngest() {
    let world = web();
    let table = [
        ("db; lb; web; web; web", Shrinkage::To(4), "1004"),
        ("db; lb; web; web; web", Shrinkage::To(3), "1004 1003"),
        ("db; lb; web -; web; web", Shrinkage::To(4), "1002"),
        // The second database is younger, but then the databases would be at their minimum.
        ("lb; web; web; web; db; db", Shrinkage::To(5), "1003"),
        ("lb; web; web; db; db", Shrinkage::To(4), "1004"),
        ("db; lb; web; web !; web !", Shrinkage::To(4), "1002"),
        ("db; lb; web; db; web; web", by("db 1"), "1003"),
        ("db; lb; web; db; web; web", by("db 1, web 1"), "1005 1003"),
        ("db; lb; web; db; web; web", named("1002 1004"), "1004 1002"),
    ];
    for (list, request, expected) in table {
        assert_eq!(shrunk(&world, list, &request), expected, "{list}: {request:?}");
    }
}

#[test]
fn as_many_as_possible_of_those_that_go_do_not_work() {
    let two = json!({"quantities": {"min": 2}});
    let world = World::new("a b c", json!({"services": {"a": two, "b": two}}));
    // If the youngest went, which carries both, only the node that works and carries neither could go with it.
    let list = "c; a c; b c; a c -; b c -; a b c -";
    assert_eq!(shrunk(&world, list, &Shrinkage::To(4)), "1004 1003");
}

#[test]
fn every_node_that_goes_has_a_reason() {
    let world = web();
    let why = |list: &str, request: Shrinkage| {
        let leaving = shrink(&world.template, &nodes(list), &request).expect("nodes");
        leaving.into_iter().map(|node| node.reason).collect::<Vec<_>>()
    };
    assert_eq!(
        why("db; lb; web; web; web -", Shrinkage::To(3)),
        [
            "it does not work, and nodes that do not work go first",
            "it is the youngest that can go; without it web is at its minimum of 1",
        ]
    );
    assert_eq!(
        why("db; lb; web; web; web", by("web 1")),
        ["it carries web, which was asked to be on fewer nodes; \
          it is the youngest that leaves everything it carries above its minimum"]
    );
    assert_eq!(
        why("db; lb; web; web", named("1003")),
        ["it was named; web stays on 1 node and must be on at least 1"]
    );
}

#[test]
#[allow(clippy::too_many_lines)] // A table of cases reads best in one piece.
fn refusals_to_shrink_say_what_would_make_it_possible() {
    let web = web();
    let loose = |constraints: Value| World::new("a b", constraints);
    let free = loose(json!({}));
    let two = loose(json!({"services": {"a": {"quantities": {"min": 2}}}}));
    let table: [(&World, &str, Shrinkage, &str); 16] = [
        (
            &web,
            "db; lb; web; web",
            Shrinkage::To(4),
            "the cluster has 4 machines, and was asked to shrink to 4; ask for fewer than 4, or grow it",
        ),
        (
            &web,
            "db; lb; web; web",
            Shrinkage::To(2),
            "2 machines are too few or too many: the size must be 3 to 10 with template t; ask for 3 to 10 machines, or change constraints.size of the template",
        ),
        (
            &free,
            "a; b; b",
            Shrinkage::To(1),
            "2 of 3 nodes were to go, but at most 1 can: a is on 1 and must be on at least 1 and b is on 2 and must be on at least 1; ask for at least 2 machines or take a or b off the cluster first",
        ),
        (
            &two,
            "a; a; a; b",
            Shrinkage::To(2),
            "2 of 4 nodes were to go, but at most 1 can: a is on 3 and must be on at least 2 and b is on 1 and must be on at least 1; ask for at least 3 machines, lower min of a or take b off the cluster first",
        ),
        (
            &free,
            "a b; a b !; a b !",
            Shrinkage::To(1),
            "2 of 3 nodes were to go, but at most 1 can: 1001 and 1002 must stay; ask for at least 2 machines or let pinned nodes go",
        ),
        (
            &two,
            "a; a; b",
            by("a 1"),
            "a cannot be on 1 node fewer: it is on 2 and must be on at least 2; lower min of a to 1",
        ),
        (
            &two,
            "a; a; a; b",
            by("a 2"),
            "a cannot be on 2 nodes fewer: it is on 3 and must be on at least 2; ask for at most 1 fewer, or lower min of a to 1",
        ),
        (
            &free,
            "a; b",
            by("b 1"),
            "b cannot be on 1 node fewer: it is on 1 and must be on at least 1; take b off the cluster first",
        ),
        (
            &free,
            "a; a !; a !; b",
            by("a 2"),
            "a cannot be on 2 fewer: of its 3 nodes only 1 may go; ask for at most 1 fewer, or let pinned nodes with a go",
        ),
        (&free, "a; b", by("c 1"), "c is not on the cluster; name services that the cluster has"),
        (
            &free,
            "a; b",
            by("a 0"),
            "no service was asked to be on fewer nodes; name a service and on how many fewer nodes it is to be, at least 1",
        ),
        (&free, "a b; a", by("a 1"), ""),
        (
            &free,
            "a b; a b",
            by("a 1, b 0"),
            "no choice of nodes has a on 1 fewer and b on 0 fewer and leaves the rest as it must be; ask for other numbers",
        ),
        (
            &free,
            "a; b; b",
            named("1000 1009"),
            "the cluster has no node id-1009; name nodes that the cluster has",
        ),
        (&free, "a !; a; b", named("1000"), "node 1000 must stay; let 1000 go first, or name others"),
        (
            &two,
            "a; a; a; b",
            named("1000 1002"),
            "a would be on 1 node, below its minimum of 2; let 1 of 1000 and 1002 stay, or lower min of a to 1",
        ),
    ];
    for (world, list, request, expected) in table {
        if expected.is_empty() {
            assert_eq!(shrunk(world, list, &request), "1001", "{list}: {request:?}");
        } else {
            assert_eq!(shrunk(world, list, &request), expected, "{list}: {request:?}");
        }
    }
}

#[test]
fn thousands_of_nodes_are_no_trouble() {
    let mut world = web();
    world.template.constraints.size.max = 9_999;
    for rule in world.template.constraints.services.values_mut() {
        rule.quantities.max = 9_999;
    }
    let existing = world.solve(3_000).expect("a layout").groups;
    let request = Growth { machines: 9_000, ..Growth::default() };
    assert_eq!(grow(&world.catalog(), &existing, &request).expect("nodes").len(), 6_000);
    let list = vec!["db; lb; web -; web; web"; 1_000].join("; ");
    let leaving = shrink(&world.template, &nodes(&list), &Shrinkage::To(1_500)).expect("nodes");
    assert_eq!(leaving.len(), 3_500);
    assert!(leaving[..1_000].iter().all(|node| node.reason.starts_with("it does not work")));
}
