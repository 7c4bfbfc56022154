//! Services that are required on the same machine, from a cluster's request to its growth.

use cooperage_domain::cluster::{Command, Refusal, Resize};
use cooperage_domain::layout::Growth;
use cooperage_domain::plan::Observed;
use serde_json::json;

use crate::sketch::{Sketch, node_id};
use crate::world::World;

const KNOWN: &str = "side: install start stop\napp: install start stop | side@node\ndb: install start stop";

fn nodes_with(world: &World, service: &str) -> Vec<String> {
    let nodes = world.cluster.nodes_by_number();
    let carrying = nodes.into_iter().filter(|node| node.properties.services.contains(service));
    carrying.map(|node| node.id.to_string()).collect()
}

#[test]
fn a_service_that_joins_brings_along_what_it_requires_on_its_machine() {
    let mut sketch = Sketch::new("db: install start stop\nn1 = db\nn2 = db");
    sketch.template =
        json!({"name": "shop", "constraints": {"services": {"side": {"quantities": {"max": 1}}}}});
    let mut world = World::created(&sketch);
    world.add(&["app"], KNOWN).unwrap();
    assert_eq!(nodes_with(&world, "app"), ["n1"]);
    assert_eq!(nodes_with(&world, "side"), ["n1"]);
    assert!(world.cluster.definitions.contains_key("side") && world.cluster.services.contains("side"));
    world.run_all();
    assert_eq!(world.unit("n1/side").0, Observed::Started);
    assert_eq!(world.unit("n1/app").0, Observed::Started);
}

#[test]
fn a_node_that_joins_waits_for_its_own_companions_only_and_leaves_the_others_alone() {
    let mut world = World::created(&Sketch::new(&format!("{KNOWN}\nn1 = app side db\nn2 = app side db")));
    let growth = Growth { machines: 3, ..Growth::default() };
    let resize = Box::new(Resize::Grow {
        growth,
        hardware: serde_json::from_value(
            json!([{"name": "small", "providermap": {"here": {"flavor": "1cpu"}}}]),
        )
        .unwrap(),
        images: serde_json::from_value(
            json!([{"name": "debian", "providermap": {"here": {"image": "debian-12"}}}]),
        )
        .unwrap(),
    });
    world.tell(Command::Resize { resize, by: "ann".into() }).unwrap();
    let third = world.cluster.nodes_by_number()[2].id.clone();
    assert_eq!(nodes_with(&world, "side").len(), 3);
    let after = |label: &str| {
        let job = world.job();
        let labels = world.task(label).after.iter().map(|number| World::label(&job.tasks[number]));
        labels.collect::<Vec<_>>()
    };
    assert_eq!(
        after(&format!("{third}:START:app")),
        [format!("{third}:INSTALL:app"), format!("{third}:START:side")]
    );
    assert!(world.planned().iter().all(|task| task.starts_with(third.as_str())), "{:?}", world.planned());
}

#[test]
fn a_newer_version_is_refused_while_what_it_requires_is_not_on_its_machines() {
    let mut world = World::created(&Sketch::new(
        "side: install start stop\napp: install start stop\ndb: install\nn1 = app side\nn2 = app",
    ));
    let definitions = Sketch::new(KNOWN).services;
    let upgrade = Command::Upgrade { template: None, definitions, rollout: None, by: "ann".into() };
    let Err(Refusal::Invalid(fault)) = world.tell(upgrade).map(drop) else { panic!("not refused") };
    assert_eq!(
        fault.to_string(),
        format!(
            "services: \"app\" requires side on the same machine, which node {} does not have; add side to the \
             cluster's nodes with app first",
            node_id("n2")
        )
    );
}
