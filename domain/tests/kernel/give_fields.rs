//! Values for the provider that come with a request.

use cooperage_domain::cluster::{Command, Event};
use serde_json::{Map, Value, json};

use crate::sketch::Sketch;
use crate::world::World;

fn with(fields: &Value, command: Command) -> Command {
    let fields: Map<String, Value> = fields.as_object().unwrap().clone();
    Command::GiveFields { fields, command: Box::new(command), by: "ann".to_owned() }
}

fn delete() -> Command {
    Command::Delete { now: false, by: "ann".to_owned() }
}

#[test]
fn they_are_kept_with_what_they_came_with_and_not_with_a_refusal() {
    let mut world = World::new(&Sketch::alike("install", 1));
    let before = world.cluster.provider.provisioner.clone();
    assert!(world.tell(with(&json!({"zone": "z2"}), delete())).is_err(), "a pending cluster is not deleted");
    assert_eq!(world.cluster.provider.provisioner, before);

    world.run_all();
    let events = world.tell(with(&json!({"zone": "z2"}), delete())).unwrap();
    assert!(matches!(events, [Event::ProviderFieldsGiven { .. }, Event::JobPlanned { .. }]), "{events:?}");
    assert_eq!(world.cluster.provider.provisioner["zone"], "z2");
    world.run_all();
    let changes_nothing = world.tell(with(&json!({"zone": "z3"}), delete())).unwrap();
    assert_eq!(changes_nothing, []);
}

#[test]
fn a_request_without_values_is_only_what_it_asks() {
    let mut world = World::created(&Sketch::alike("install", 1));
    let events = world.tell(with(&json!({}), delete())).unwrap();
    assert!(matches!(events, [Event::JobPlanned { .. }]), "{events:?}");
}
