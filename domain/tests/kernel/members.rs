//! Services that require all members of another: they are told of each that comes or goes, after it is done.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Command, Resize, order};
use cooperage_domain::entity::{Members, Requirement};
use cooperage_domain::layout::{Growth, Shrinkage};
use serde_json::{Value, json};

use crate::sketch::{Sketch, node_id};
use crate::world::World;

/// A program on one node that is told of all members of a quorum on the others. It requires them by what they provide, and
/// takes no other values, or only one.
fn quorum(inputs: Option<Value>) -> Sketch {
    let mut sketch = Sketch::new(
        "app: install configure start stop\netcd: install configure start stop remove\nn0 = app\nn1 = etcd\nn2 = etcd",
    );
    let store = Requirement { members: Members::All, ..Requirement::plain("store") };
    let app = sketch.services.get_mut("app").unwrap();
    app.dependencies.runtime.requires.insert(store);
    app.inputs = inputs.map(|inputs| serde_json::from_value(inputs).unwrap());
    let etcd = sketch.services.get_mut("etcd").unwrap();
    etcd.dependencies.provides.insert("store".to_owned());
    etcd.inputs = Some(Vec::new());
    sketch.template = json!({"name": "shop", "constraints": {"layout": {"cantcoexist": [["app", "etcd"]]},
        "services": {"app": {"quantities": {"max": 1}}, "etcd": {"quantities": {"min": 1}}}}});
    sketch
}

fn grow(world: &mut World) {
    let growth = Growth { services: BTreeMap::from([("etcd".to_owned(), 1)]), ..Growth::default() };
    let hardware = json!([{"name": "small", "providermap": {"here": {"flavor": "1cpu"}}}]);
    let images = json!([{"name": "debian", "providermap": {"here": {"image": "debian-12"}}}]);
    let resize = Box::new(Resize::Grow {
        growth,
        hardware: serde_json::from_value(hardware).unwrap(),
        images: serde_json::from_value(images).unwrap(),
    });
    world.tell(Command::Resize { resize, by: "ann".into() }).unwrap();
}

/// What the program's task is given beside its configuration.
fn given(world: &World, label: &str) -> Value {
    let order = order(&world.cluster, world.task(label).id.number, 1).unwrap();
    Value::Object(order.config.service.unwrap().inputs)
}

/// The tasks of the latest job, in an order in which they ran.
fn ran(world: &mut World) -> Vec<String> {
    world.run_all();
    let tasks = world.job().tasks.values();
    let mut begun: Vec<(u64, String)> =
        tasks.filter_map(|task| Some((task.attempts.first()?.sequence, World::label(task)))).collect();
    begun.sort();
    begun.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn a_third_member_makes_the_dependants_run_again_once_all_three_are_done() {
    for inputs in [None, Some(json!([]))] {
        let mut world = World::created(&quorum(inputs));
        assert_eq!(given(&world, "n0:START:app"), json!({"members.store": ["n1.local", "n2.local"]}));
        grow(&mut world);
        let third = world.cluster.nodes_by_number()[3].id.clone();
        let hostname = world.cluster.nodes[&third].properties.hostname.clone().unwrap();
        assert_eq!(
            given(&world, "n0:CONFIGURE:app"),
            json!({"members.store": ["n1.local", "n2.local", hostname]})
        );
        let ran = ran(&mut world);
        let last = ran.iter().position(|task| *task == format!("{third}:START:etcd")).unwrap();
        assert_eq!(ran[last + 1..], ["n0:STOP:app", "n0:CONFIGURE:app", "n0:START:app"]);
        let theirs = |task: &String| task.starts_with("n1:") || task.starts_with("n2:");
        assert!(!ran.iter().any(theirs), "the other members stay as they are: {ran:?}");
    }
}

#[test]
fn a_member_goes_after_its_dependants_have_been_told() {
    let mut world = World::created(&quorum(Some(json!([]))));
    let shrinkage = Shrinkage::Nodes([node_id("n2")].into());
    let resize = Box::new(Resize::Shrink(shrinkage));
    world.tell(Command::Resize { resize, by: "ann".into() }).unwrap();
    assert_eq!(given(&world, "n0:CONFIGURE:app"), json!({"members.store": ["n1.local"]}));
    assert_eq!(
        ran(&mut world),
        ["n0:STOP:app", "n0:CONFIGURE:app", "n0:START:app", "n2:STOP:etcd", "n2:DELETE"]
    );
}

#[test]
fn who_requires_one_member_is_left_alone() {
    let mut sketch = quorum(Some(json!([])));
    sketch.services.get_mut("app").unwrap().dependencies.runtime.requires.insert(Requirement::plain("store"));
    let mut world = World::created(&sketch);
    grow(&mut world);
    let ran = ran(&mut world);
    assert!(!ran.is_empty() && !ran.iter().any(|task| task.ends_with(":app")), "{ran:?}");
}
