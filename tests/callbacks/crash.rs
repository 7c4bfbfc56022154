//! A kill between what happened and who is told of it.

use std::net::TcpListener;

use serde_json::json;

use crate::postgres;
use crate::target::{Target, answer};
use crate::world::{LIMIT, World};

#[test]
fn on_sqlite_no_call_is_lost() {
    lose_nothing(&[]);
}

#[test]
fn on_postgresql_no_call_is_lost() {
    lose_nothing(&[format!("database.url={}", postgres::SHARED.new_database())]);
}

fn lose_nothing(settings: &[String]) {
    let mut world = World::start(settings);
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", socket.local_addr().unwrap());
    let address = socket.local_addr().unwrap();
    drop(socket);
    let hook = json!({"name": "ci", "url": url, "events": ["success", "failure"], "timeoutMs": 500});
    world.hook(&hook);
    let mut expected = Vec::new();
    for round in 0..4 {
        let id = world.create(&format!("farm{round}"));
        expected.push(id.clone());
        // At the moment when it is durable that the job has ended, give or take what a look takes.
        world.admin.active(&id, LIMIT);
        world.server.kill();
        world.server.run();
    }
    let target = Target::on(TcpListener::bind(address).unwrap(), &[answer(200, "")]);
    let calls = target.until("success", expected.len());
    let mut told: Vec<String> =
        calls.iter().map(|call| call.json()["cluster"]["id"].as_str().unwrap().to_owned()).collect();
    told.sort();
    told.dedup();
    expected.sort();
    assert_eq!(told, expected);
}
