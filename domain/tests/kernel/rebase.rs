//! Changes that were thought up on an earlier state.

use cooperage_domain::cluster::{Cluster, Command, NoRebase, ServiceChange, rebase};
use serde_json::{Value, json};

use crate::sketch::Sketch;
use crate::world::World;

fn by() -> String {
    "ben".into()
}

fn config(value: &Value) -> Command {
    let config = value.as_object().cloned().unwrap();
    Command::Configure { config, restart: false, by: by() }
}

/// A cluster with this configuration, and its state at that time.
fn configured(value: &Value) -> (World, Cluster) {
    let mut world =
        World::created(&Sketch::new("db: install start stop\nweb: configure start stop\nn1 = db\nn2 = web"));
    world.tell(config(value)).unwrap();
    world.run_all();
    let base = world.cluster.clone();
    (world, base)
}

fn now(
    world: &World,
    base: &Cluster,
    command: Command,
) -> Result<cooperage_domain::cluster::Rebased, NoRebase> {
    rebase(base, &world.cluster, command, world.now)
}

#[test]
fn on_the_same_state_it_is_what_it_was() {
    let (world, base) = configured(&json!({"a": 1}));
    let command = config(&json!({"a": 2}));
    let rebased = now(&world, &base, command.clone()).unwrap();
    assert_eq!((rebased.command, rebased.meanwhile.len()), (command, 0));
}

#[test]
fn values_of_others_are_kept_where_they_are_not_the_same() {
    let (mut world, base) = configured(&json!({"a": {"b": 1, "x.y": 1}, "c": 1, "d": 1}));
    let draft = config(&json!({"a": {"b": 2, "x.y": 2}, "c": 1, "new": true}));
    world.tell(config(&json!({"a": {"b": 1, "x.y": 1}, "c": 7, "d": 1}))).unwrap();
    world.run_all();
    let rebased = now(&world, &base, draft).unwrap();
    assert_eq!(rebased.command, config(&json!({"a": {"b": 2, "x.y": 2}, "c": 7, "new": true})));
    assert_eq!(rebased.meanwhile.into_iter().collect::<Vec<_>>(), ["config c"]);
}

#[test]
fn who_changes_the_same_value_comes_too_late() {
    let (mut world, base) = configured(&json!({"a": 1, "b": 1}));
    world.tell(config(&json!({"a": 3, "b": 1}))).unwrap();
    world.run_all();
    let refused = now(&world, &base, config(&json!({"a": 2, "b": 1}))).unwrap_err();
    assert_eq!(refused.to_string(), "it touches what was changed meanwhile: config a");
}

#[test]
fn what_only_happened_is_in_nobodys_way() {
    let (mut world, base) = configured(&json!({"a": 1}));
    world.change(ServiceChange::Restart, "").unwrap();
    world.run_all();
    assert_ne!(world.cluster.sequence, base.sequence);
    assert!(now(&world, &base, config(&json!({"a": 2}))).is_ok());
}

#[test]
fn what_would_do_something_else_is_refused() {
    let (mut world, base) = configured(&json!({"a": 1}));
    let stop = |service: Option<&str>| {
        let service = service.map(str::to_owned);
        Command::ChangeServices { change: ServiceChange::Stop, service, by: by() }
    };
    world.tell(stop(Some("web"))).unwrap();
    world.run_all();
    // To stop all was to stop web as well.
    let refused = now(&world, &base, stop(None)).unwrap_err();
    assert!(matches!(&refused, NoRebase::Overlaps(both) if both.iter().any(|it| it.starts_with("web on"))));
    assert!(now(&world, &base, stop(Some("db"))).is_ok());
    // What the cluster cannot do now is refused with its words.
    world.delete().unwrap();
    assert!(matches!(now(&world, &base, config(&json!({}))), Err(NoRebase::Refused(_))));
}
