//! Growing and shrinking agree with trying everything, over random small clusters.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::id::NodeId;
use cooperage_domain::layout::{
    Growth, NodeGroup, NodeLayout, ReasonKind, ShrinkNode, Shrinkage, check_layout, grow, shrink,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use crate::input::{World, set};
use crate::properties::{constraints, explains, world};
use crate::resize_brute_force::{growth, shrinking};

fn grouped(nodes: &[NodeLayout]) -> Vec<NodeGroup> {
    let mut groups: Vec<NodeGroup> = Vec::new();
    for node in nodes {
        match groups.iter_mut().find(|group| group.node == *node) {
            Some(group) => group.count += 1,
            None => groups.push(NodeGroup { node: node.clone(), count: 1 }),
        }
    }
    groups
}

fn numbers() -> impl Strategy<Value = BTreeMap<String, u32>> {
    btree_map(prop::sample::select(&["a", "b", "c", "d"][..]).prop_map(str::to_owned), 0..3_u32, 1..=2)
}

/// To a number of nodes, by services, or both.
fn growths() -> impl Strategy<Value = Growth> {
    (0..7_u32, option::weighted(0.4, numbers())).prop_map(|(machines, services)| Growth {
        machines,
        services: services.unwrap_or_default(),
        ..Growth::default()
    })
}

fn agrees(world: &World, existing: &[NodeGroup], request: &Growth) -> Result<(), TestCaseError> {
    let expected = growth(world, existing, request);
    match (grow(&world.catalog(), existing, request), expected) {
        (Ok(nodes), expected) => {
            let more = grouped(&nodes);
            prop_assert_eq!(Some(&more), expected.as_ref());
            let together: Vec<NodeGroup> = existing.iter().chain(&more).cloned().collect();
            prop_assert!(check_layout(&world.template, &together).is_empty());
            prop_assert_eq!(grow(&world.catalog(), existing, request), Ok(nodes));
        }
        (Err(refusal), None) => prop_assert!(explains(&refusal), "{}", refusal),
        (Err(refusal), Some(nodes)) => prop_assert!(false, "{:?} refused: {}", nodes, refusal),
    }
    Ok(())
}

/// A node with some of the services `a` to `d`, that may be broken or pinned.
fn node() -> impl Strategy<Value = (Vec<&'static str>, bool, bool)> {
    let services = prop::sample::subsequence(vec!["a", "b", "c", "d"], 1..=3);
    (services, prop::bool::weighted(0.7), prop::bool::weighted(0.15))
}

fn node_list() -> impl Strategy<Value = Vec<ShrinkNode>> {
    vec(node(), 1..=7).prop_map(|nodes| {
        let numbered = nodes.into_iter().zip(1000..);
        let each = numbered.map(|((services, healthy, pinned), number)| ShrinkNode {
            id: NodeId(number.to_string()),
            number,
            node: NodeLayout {
                services: set(&services.join(" ")),
                hardwaretype: "large".into(),
                imagetype: "linux".into(),
            },
            healthy,
            pinned,
        });
        each.collect()
    })
}

fn shrinkages() -> impl Strategy<Value = Shrinkage> {
    let named =
        prop::collection::btree_set((1000..1007_u32).prop_map(|number| NodeId(number.to_string())), 0..4);
    prop_oneof![
        3 => (0..7_u32).prop_map(Shrinkage::To),
        3 => numbers().prop_map(Shrinkage::Services),
        1 => named.prop_map(Shrinkage::Nodes),
    ]
}

/// Minimums and maximums only, so that most clusters keep the rules as they are.
fn quantities() -> impl Strategy<Value = serde_json::Value> {
    btree_map(
        prop::sample::select(&["a", "b", "c", "d"][..]),
        (0..3_u32, option::weighted(0.2, 3..6_u32)),
        0..=3,
    )
    .prop_map(|services| {
        let rules = services.into_iter().map(|(name, (min, max))| {
            let quantities = max.map_or_else(
                || serde_json::json!({ "min": min }),
                |max| serde_json::json!({"min": min, "max": max}),
            );
            (name.to_owned(), serde_json::json!({ "quantities": quantities }))
        });
        serde_json::json!({"services": rules.collect::<serde_json::Map<_, _>>()})
    })
}

/// Nodes that break a rule by themselves are not for shrinking to mend.
fn is_broken(world: &World, nodes: &[ShrinkNode]) -> bool {
    let groups = grouped(&nodes.iter().map(|node| node.node.clone()).collect::<Vec<_>>());
    check_layout(&world.template, &groups).iter().any(|reason| reason.kind != ReasonKind::Maximum)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// A cluster that the solver made grows into the first layout that keeps its nodes, whenever there is one.
    #[test]
    fn solved_clusters_grow(world in world(), machines in 1..=4_u32, request in growths()) {
        let Ok(layout) = world.solve(machines) else { return Ok(()) };
        agrees(&world, &layout.groups, &request)?;
    }

    /// So does one whose template has changed since, if growing can mend what is broken.
    #[test]
    fn clusters_of_another_template_grow(
        world in world(), other in constraints(), machines in 1..=4_u32, request in growths(),
    ) {
        let Ok(layout) = world.solve(machines) else { return Ok(()) };
        let mut changed = world;
        changed.template.constraints = serde_json::from_value(other).expect("constraints");
        agrees(&changed, &layout.groups, &request)?;
    }

    /// The nodes that go are the first choice of all that keep the rules, and there is none only if none exists.
    #[test]
    fn shrinking_agrees_with_trying_everything(
        rules in prop_oneof![4 => quantities(), 1 => constraints()], nodes in node_list(), request in shrinkages(),
    ) {
        let world = World::new("a b c d", rules);
        let expected = shrinking(&world.template, &nodes, &request);
        match (shrink(&world.template, &nodes, &request), expected) {
            (Ok(leaving), expected) => {
                let numbers: Vec<u32> = leaving.iter().map(|node| node.number).collect();
                prop_assert_eq!(Some(&numbers), expected.as_ref());
                prop_assert!(leaving.iter().all(|node| !node.reason.is_empty()));
                prop_assert_eq!(shrink(&world.template, &nodes, &request), Ok(leaving));
            }
            (Err(refusal), None) => prop_assert!(explains(&refusal), "{}", refusal),
            (Err(refusal), Some(numbers)) => {
                let excused = is_broken(&world, &nodes) && !matches!(request, Shrinkage::Nodes(_));
                prop_assert!(excused, "{:?} refused: {}", numbers, refusal);
            }
        }
    }

    /// What was grown can be named to go, and leaves the cluster as it was.
    #[test]
    fn growing_can_be_taken_back(world in world(), machines in 1..=4_u32, more in 1..=3_u32) {
        let Ok(layout) = world.solve(machines) else { return Ok(()) };
        let request = Growth { machines: machines + more, ..Growth::default() };
        let Ok(added) = grow(&world.catalog(), &layout.groups, &request) else { return Ok(()) };
        let old = layout.nodes().map(|(_, node)| node.clone());
        let nodes: Vec<ShrinkNode> = old
            .chain(added)
            .zip(1000..)
            .map(|(node, number)| ShrinkNode { id: NodeId(number.to_string()), number, node, healthy: true, pinned: false })
            .collect();
        let named: BTreeSet<NodeId> = nodes[machines as usize..].iter().map(|node| node.id.clone()).collect();
        let left = shrink(&world.template, &nodes, &Shrinkage::Nodes(named)).map(|leaving| leaving.len());
        prop_assert_eq!(left, Ok(more as usize));
    }
}
