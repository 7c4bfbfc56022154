//! What services give to others: defaults, schemas, and tokens in place of secrets.

use cooperage_domain::cluster::{Command, Event, FailedNext, Layer, order, outputs, taken_outputs};
use cooperage_domain::entity::Dependencies;
use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::task::TaskReport;
use serde_json::{Value, json};

use crate::sketch::{Sketch, node_id};
use crate::world::World;

/// A vault that gives a key, and a program that takes it.
fn shop(output: &Value) -> Sketch {
    let mut sketch = Sketch::new(
        "app: install configure start stop | vault\nvault: install configure start stop\nn1 = app\nn2 = vault",
    );
    let app = sketch.services.get_mut("app").unwrap();
    app.inputs = serde_json::from_value(json!([{"name": "keys", "at": "outputs.vault.key"}])).unwrap();
    let vault = sketch.services.get_mut("vault").unwrap();
    vault.inputs = serde_json::from_value(json!([{"name": "pin"}])).unwrap();
    vault.outputs = serde_json::from_value(json!([output])).unwrap();
    sketch
}

fn given(world: &World, label: &str) -> Value {
    let order = order(&world.cluster, world.task(label).id.number, 1).unwrap();
    order.config.service.unwrap().inputs["keys"].clone()
}

/// Runs the job; the vault's START reports this.
fn run(world: &mut World, label: &str, reported: &Value) -> Vec<Event> {
    let (task, attempt) = world.start(label);
    let result = json!({ "vault_key": reported }).as_object().cloned().unwrap();
    let report = TaskReport { result, ..TaskReport::success() };
    world.tell(Command::FinishAttempt { task, attempt, report }).unwrap().to_vec()
}

/// Everything up to the vault's START.
fn before_start(sketch: &Sketch) -> World {
    let mut world = World::new(sketch);
    for label in ["CREATE", "CONFIRM", "BOOTSTRAP", "INSTALL:vault", "CONFIGURE:vault"] {
        world.run(&format!("n2:{label}"), 0);
    }
    world
}

#[test]
fn a_default_is_given_while_nothing_was_reported() {
    let sketch = shop(&json!({"name": "key", "path": "vault_key", "default": "none"}));
    let mut world = before_start(&sketch);
    assert_eq!(given(&world, "n1:CONFIGURE:app"), json!({"n2.local": "none"}));
    run(&mut world, "n2:START:vault", &json!("real"));
    assert_eq!(given(&world, "n1:CONFIGURE:app"), json!({"n2.local": "real"}));
    let shown = taken_outputs(&world.cluster, &world.cluster.nodes[&node_id("n1")]);
    assert_eq!(shown.len(), 1);
    assert_eq!((shown[0].path().as_str(), shown[0].layer), ("outputs.vault.key", Layer::Output));
}

#[test]
fn a_value_that_breaks_its_schema_fails_the_task_for_good() {
    let sketch =
        shop(&json!({"name": "key", "path": "vault_key", "schema": {"type": "string", "minLength": 4}}));
    let mut world = before_start(&sketch);
    let events = run(&mut world, "n2:START:vault", &json!("abc"));
    let Some(Event::TaskFailed { outcome, next, result, .. }) = events.first() else { panic!("{events:?}") };
    assert_eq!((outcome.kind, next), (Some(ErrorKind::Permanent), &FailedNext::GiveUp));
    assert!(outcome.stderr.contains("output key of service vault") && outcome.stderr.contains("/minLength"));
    assert!(result.is_empty() && world.message().contains("/minLength"), "{}", world.message());
    let mut world = before_start(&sketch);
    assert!(matches!(run(&mut world, "n2:START:vault", &json!("abcd"))[0], Event::TaskSucceeded { .. }));
}

#[test]
fn who_takes_a_secret_is_told_of_another_one_by_its_token_alone() {
    let mut sketch =
        shop(&json!({"name": "key", "path": "vault_key", "schema": {"type": "string"}, "sensitive": true}));
    // It is not restarted with the vault, only when it would get another key.
    sketch.services.get_mut("app").unwrap().dependencies = Dependencies::default();
    let mut world = before_start(&sketch);
    let token = |value: &str| outputs::token(&outputs::token_hash("k", &json!(value)));
    run(&mut world, "n2:START:vault", &token("one"));
    world.run_all();
    assert_eq!(given(&world, "n1:CONFIGURE:app"), json!({"n2.local": token("one")}));
    let shown = taken_outputs(&world.cluster, &world.cluster.nodes[&node_id("n1")]);
    assert_eq!(shown[0].value, json!({"n2.local": "********"}));
    for (value, pin, again) in [("one", 1, 0), ("two", 2, 3)] {
        let config = json!({ "pin": pin }).as_object().cloned().unwrap();
        let (nodes, rollout) = (std::collections::BTreeMap::new(), None);
        world.tell(Command::Reconfigure { config, nodes, rollout, by: "ann".into() }).unwrap();
        for label in world.planned() {
            if label.ends_with("START:vault") {
                run(&mut world, &label, &token(value));
            } else {
                world.run(&label, 0);
            }
        }
        world.run_all();
        let theirs = world.planned().into_iter().filter(|task| task.ends_with(":app")).count();
        assert_eq!(theirs, again, "{value}: {:?}", world.planned());
    }
}

#[test]
fn what_cannot_be_is_refused_when_a_service_is_saved() {
    use cooperage_domain::entity::{Entity, Service};
    for (output, words) in [
        (
            json!({"name": "k", "schema": {"type": "no-such"}}),
            "outputs.schema: \"k\" has a schema that cannot be used",
        ),
        (json!({"name": "k", "schema": {"$ref": "https://example.org/s.json"}}), "cannot be used"),
        (
            json!({"name": "k", "schema": {"type": "integer"}, "default": "x"}),
            "outputs.default: \"k\" has a default that is not",
        ),
        (json!({"name": "k", "default": "x", "sensitive": true}), "would be stored in clear"),
    ] {
        let service: Service = serde_json::from_value(json!({"name": "s", "outputs": [output]})).unwrap();
        let fault = service.check().unwrap_err().to_string();
        assert!(fault.contains(words), "{fault}");
    }
}
