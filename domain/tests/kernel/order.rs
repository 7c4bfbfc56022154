//! What a worker is given with a task.

use cooperage_domain::cluster::{Command, OrderError, create, order};
use cooperage_domain::task::{TaskConfig, TaskOrder, TaskReport};
use serde_json::{Value, json};

use crate::sketch::{Sketch, node_id};
use crate::world::{MORNING, World};

/// A cluster of two nodes whose configuration and action speak of what they are.
fn world(config: &Value, args: &str) -> World {
    let mut sketch = Sketch::alike("start", 2);
    let service = sketch.services.get_mut("web").unwrap();
    for action in service.provisioner.actions.values_mut() {
        action.fields.insert("args".into(), args.into());
    }
    let mut order = sketch.order();
    order.config = config.as_object().cloned().unwrap();
    World::of(create(order, Ok(sketch.nodes.clone()), MORNING).unwrap())
}

fn given(world: &World, label: &str) -> Result<TaskOrder, OrderError> {
    order(&world.cluster, world.task(label).id.number, 1)
}

#[test]
fn machine_tasks_see_the_configuration_as_it_was_written() {
    let world = world(&json!({"me": "%host.self%", "wrong": "%no.such%"}), "");
    let order = given(&world, "n1:CREATE").unwrap();
    assert_eq!(Value::from(order.config.cluster), json!({"me": "%host.self%", "wrong": "%no.such%"}));
    assert_eq!(order.config.service, None);
    assert_eq!(order.config.node.hostname.as_deref(), Some("n1.local"));
    assert_eq!(order.config.nodes.len(), 2);
    assert_eq!(
        (order.task_id.to_string(), order.job_id.to_string(), order.attempt),
        ("00000042-002-001".to_owned(), "00000042-002".to_owned(), 1)
    );
}

#[test]
fn service_tasks_see_it_from_their_node() {
    let world = world(&json!({"me": "%host.self%", "all": ["%host.service.web%"], "n": 7}), "on %host.self%");
    for (label, me) in [("n1:START:web", "n1.local"), ("n2:START:web", "n2.local")] {
        let config = given(&world, label).unwrap().config;
        assert_eq!(
            Value::from(config.cluster),
            json!({"me": me, "all": ["n1.local,n2.local"], "n": 7}),
            "{label}"
        );
        let service = config.service.unwrap();
        assert_eq!((service.name.as_str(), service.action.automator.as_str()), ("web", "shell"));
        assert_eq!(service.action.fields["args"], format!("on {me}"));
    }
    assert_eq!(world.cluster.config["me"], "%host.self%", "what is stored stays as it was written");
}

#[test]
fn fields_may_hold_percent_signs() {
    let world = world(&json!({}), "date +%H%M");
    assert_eq!(
        given(&world, "n1:START:web").unwrap().config.service.unwrap().action.fields["args"],
        "date +%H%M"
    );
}

#[test]
fn what_cannot_be_expanded_yet_is_named() {
    for (config, args) in [(json!({"ip": "%ip.self%"}), ""), (json!({}), "%ip.self%")] {
        let fault = given(&world(&config, args), "n1:START:web").unwrap_err();
        assert!(matches!(fault, OrderError::Macro(_)), "{fault}");
        assert!(fault.to_string().contains("ip.self"), "{fault}");
    }
}

#[test]
fn tasks_that_are_not_there_are_named() {
    let world = world(&json!({}), "");
    assert_eq!(order(&world.cluster, 99, 1).unwrap_err(), OrderError::UnknownTask(99));
}

#[test]
fn results_lie_flat_beside_the_rest_and_hide_nothing() {
    let mut world = world(&json!({}), "");
    let (task, attempt) = world.start("n1:CREATE");
    let result =
        json!({"providerid": "i-7", "ssh-auth": {"user": "root"}, "hostname": "evil", "provider": "evil"});
    let report = TaskReport { result: result.as_object().cloned().unwrap(), ..TaskReport::success() };
    world.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
    let order = given(&world, "n1:CONFIRM").unwrap();
    let text = serde_json::to_string(&order).unwrap();
    let config = &serde_json::from_str::<Value>(&text).unwrap()["config"];
    assert_eq!(config["providerid"], "i-7");
    assert_eq!(config["ssh-auth"]["user"], "root");
    assert_eq!(config["hostname"], "n1.local");
    assert_eq!(config["provider"]["name"], "here");
    assert_eq!(serde_json::from_str::<TaskOrder>(&text).unwrap(), order);
    assert_eq!(given(&world, "n2:CREATE").unwrap().config.results.len(), 0, "they are of one node");
}

#[test]
fn no_name_of_an_order_can_be_hidden_by_a_result() {
    let mut world = world(&json!({}), "");
    let order = given(&world, "n1:START:web").unwrap();
    let names = serde_json::to_value(&order.config).unwrap();
    let result = names.as_object().unwrap().keys().map(|name| (name.clone(), json!("evil"))).collect();
    world.cluster.nodes.get_mut(&node_id("n1")).unwrap().results = result;
    let again: TaskConfig = given(&world, "n1:START:web").unwrap().config;
    assert_eq!(again, order.config);
}
