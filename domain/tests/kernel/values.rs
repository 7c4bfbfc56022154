//! Layers of values: what services see on a node, what runs again when a layer changes, and the way back.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{
    Command, Event, Layer, Refusal, Revision, difference, layered, order, put_together, words,
};
use serde_json::{Value, json};

use crate::sketch::{Sketch, node_id};
use crate::world::World;

/// Web servers on two nodes, before a store on a third. Both have defaults; the servers take one value of each.
fn shop() -> Sketch {
    let mut sketch = Sketch::new(
        "web: install configure start stop | db\ndb: install configure start stop\nn1 = web\nn2 = web\nn3 = db",
    );
    let web = sketch.services.get_mut("web").unwrap();
    web.defaults =
        json!({"web": {"port": 80, "title": "shop"}, "shared": "web"}).as_object().cloned().unwrap();
    web.inputs = serde_json::from_value(
        json!([{"name": "port", "at": "web.port"}, {"name": "store", "at": "db.port"}]),
    )
    .unwrap();
    let db = sketch.services.get_mut("db").unwrap();
    db.defaults = json!({"db": {"port": 5432}, "shared": "db"}).as_object().cloned().unwrap();
    sketch.config = json!({"web": {"title": "sale"}});
    sketch.template = json!({"name": "shop", "defaults": {"config": {"web": {"title": "sale"}}}});
    sketch
}

fn reconfigure(
    world: &mut World,
    config: Option<Value>,
    node: &str,
    change: &Value,
) -> Result<Vec<Event>, Refusal> {
    let config = config.map_or_else(|| world.cluster.config.clone(), |it| it.as_object().cloned().unwrap());
    let change = change.as_object().cloned().unwrap();
    let nodes = if change.is_empty() { BTreeMap::new() } else { BTreeMap::from([(node_id(node), change)]) };
    world.tell(Command::Reconfigure { config, nodes, rollout: None, by: "ann".into() }).map(<[Event]>::to_vec)
}

fn given(world: &World, label: &str) -> (Value, Value) {
    let order = order(&world.cluster, world.task(label).id.number, 1).unwrap();
    (Value::Object(order.config.service.unwrap().inputs), Value::Object(order.config.cluster))
}

fn shown(world: &World, node: &str) -> Vec<(String, Value, Layer)> {
    let node = world.cluster.nodes.get(&node_id(node));
    layered(&world.cluster, node).into_iter().map(|it| (it.path(), it.value, it.layer)).collect()
}

#[test]
fn each_value_comes_from_the_strongest_layer_that_has_it() {
    let mut world = World::created(&shop());
    let value = |path: &str, value: Value, layer| (path.to_owned(), value, layer);
    assert_eq!(
        shown(&world, "n1"),
        [
            value("db.port", json!(5432), Layer::Service),
            value("shared", json!("web"), Layer::Service),
            value("web.port", json!(80), Layer::Service),
            value("web.title", json!("sale"), Layer::Template),
        ]
    );
    reconfigure(&mut world, Some(json!({"web": {"title": "new"}})), "n1", &json!({"web": {"port": 81}}))
        .unwrap();
    let node = world.cluster.nodes.get(&node_id("n1"));
    let tree = Value::Object(put_together(layered(&world.cluster, node)));
    assert_eq!(tree, json!({"db": {"port": 5432}, "shared": "web", "web": {"port": 81, "title": "new"}}));
    let strong = shown(&world, "n1");
    assert!(strong.contains(&value("web.port", json!(81), Layer::Node)));
    assert!(strong.contains(&value("web.title", json!("new"), Layer::Cluster)));
    assert!(shown(&world, "n2").contains(&value("web.port", json!(80), Layer::Service)));
    let (inputs, config) = given(&world, "n1:CONFIGURE:web");
    assert_eq!(inputs, json!({"port": 81, "store": 5432}));
    assert_eq!(config, tree);
}

#[test]
fn what_tasks_report_covers_no_configuration() {
    let mut world = World::created(&shop());
    let id = node_id("n1");
    let results = json!({"web": {"port": 1}, "shared": 1});
    world.cluster.nodes.get_mut(&id).unwrap().results = results.as_object().cloned().unwrap();
    reconfigure(&mut world, None, "n1", &json!({"web": {"port": 81}})).unwrap();
    let (inputs, config) = given(&world, "n1:CONFIGURE:web");
    assert_eq!((&inputs["port"], &config["shared"]), (&json!(81), &json!("web")));
}

#[test]
fn a_value_of_one_node_runs_only_its_takers_there_and_is_taken_away_again() {
    let mut world = World::created(&shop());
    reconfigure(&mut world, None, "n2", &json!({"web": {"port": 81}})).unwrap();
    assert_eq!(world.planned(), ["n2:STOP:web", "n2:CONFIGURE:web", "n2:START:web"]);
    world.run_all();
    assert_eq!(reconfigure(&mut world, None, "n2", &json!({"web": {"port": 81}})).unwrap(), []);
    reconfigure(&mut world, None, "n2", &json!({"web": {"title": "two"}})).unwrap();
    assert!(world.planned().is_empty(), "nobody takes the title: {:?}", world.planned());
    let present = Value::Object(world.cluster.nodes[&node_id("n2")].config.clone());
    assert_eq!(present, json!({"web": {"port": 81, "title": "two"}}));
    reconfigure(&mut world, None, "n2", &json!({"web": {"port": null, "title": null}})).unwrap();
    assert_eq!(world.planned(), ["n2:STOP:web", "n2:CONFIGURE:web", "n2:START:web"]);
    assert!(world.cluster.nodes[&node_id("n2")].config.is_empty());
}

#[test]
fn it_stands_in_the_history_and_in_differences_and_is_rolled_back() {
    let mut world = World::created(&shop());
    let before = world.cluster.clone();
    let events = reconfigure(&mut world, None, "n2", &json!({"web": {"port": 81}})).unwrap();
    let told = words(&events[0], &before);
    assert!(told.contains("1 node get another configuration: n2.local"), "{told}");
    world.run_all();
    let changes = difference(Some(&before), &world.cluster).node_config;
    let paths: Vec<_> = changes.iter().map(|it| (it.path.as_str(), it.after.clone())).collect();
    assert_eq!(paths, [("1001.web", Some(json!({"port": 81})))]);
    let to = Box::new(Revision::of(&before));
    world.tell(Command::RollBack { to, rollout: None, by: "ann".into() }).unwrap();
    assert_eq!(world.planned(), ["n2:STOP:web", "n2:CONFIGURE:web", "n2:START:web"]);
    world.run_all();
    assert!(world.cluster.nodes[&node_id("n2")].config.is_empty());
    assert!(difference(Some(&before), &world.cluster).node_config.is_empty());
}

#[test]
fn a_newer_default_runs_those_who_see_it() {
    let mut world = World::created(&shop());
    let mut definitions = shop().services;
    let db = definitions.get_mut("db").unwrap();
    db.defaults = json!({"db": {"port": 5433}}).as_object().cloned().unwrap();
    let upgrade = Command::Upgrade { template: None, definitions, rollout: None, by: "ann".into() };
    world.tell(upgrade).unwrap();
    let configured: Vec<String> =
        world.planned().into_iter().filter(|task| task.contains("CONFIGURE")).collect();
    assert_eq!(configured.len(), 3, "{configured:?}");
    assert_eq!(given(&world, "n1:CONFIGURE:web").0["store"], json!(5433));
}

#[test]
fn nodes_and_macros_that_are_unknown_are_refused() {
    let mut world = World::created(&shop());
    let refused = |result: Result<Vec<Event>, Refusal>| result.unwrap_err().to_string();
    assert!(refused(reconfigure(&mut world, None, "n9", &json!({"a": 1}))).contains("is no node of cluster"));
    let macros = json!({"a": "%host.service.web[%"});
    assert!(refused(reconfigure(&mut world, None, "n1", &macros)).contains("holds a macro"));
}
