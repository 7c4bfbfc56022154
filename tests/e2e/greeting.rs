//! What the book makes in "Write a service" and "Write a template", on real machines.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::machines::{LIMIT, Machines, address};

/// From the folder of the catalog.
const EXAMPLE: &str = "../../docs/examples/greeting";

/// The page of a node.
fn page(node: &Value) -> String {
    let mut stream = TcpStream::connect((address(node), 8080)).unwrap();
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split_once("\r\n\r\n").map_or(text.clone(), |(_, body)| body.to_owned())
}

#[test]
fn the_service_of_the_book_greets_and_takes_another_text() {
    let Some(mut machines) = Machines::start(&["base", EXAMPLE], &[]) else { return };
    let admin = machines.server.admin();
    let id = admin.create(&json!({"name": "hi", "clusterTemplate": "greetings", "numMachines": 2}));
    let cluster = admin.active(&id, LIMIT);
    for node in cluster["nodes"].as_array().unwrap() {
        let host = node["properties"]["hostname"].as_str().unwrap();
        assert_eq!(page(node), format!("{host}\nHello admin, one of 2\n"));
    }
    let patch = json!({"patch": {"greeting": {"text": "Good morning"}}});
    admin.post(&format!("/v2/clusters/{id}/reconfigure"), &patch).ok();
    for node in admin.active(&id, LIMIT)["nodes"].as_array().unwrap() {
        assert!(page(node).ends_with("\nGood morning\n"), "{}", page(node));
    }
    admin.delete_cluster(&id, LIMIT);
    machines.server.stop();
    assert_eq!(machines.footprint.now(), [""; 0]);
}
