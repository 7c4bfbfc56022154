//! Both ends as Coopr knows them: a server that is asked by an old provisioner, and a provisioner that is asked by an old
//! server.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::lab::{Client, upload, wait_for};
use crate::process::{LIMIT, Provisioner, create, known, server, want_workers};
use crate::world::World;

/// Takes one request and gives its first line and its body.
fn one_request(listener: &TcpListener) -> (String, Value) {
    let (mut stream, _) = listener.accept().unwrap();
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut chunk).unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        if let Ok(body) = serde_json::from_str(body) {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
            return (head.lines().next().unwrap().to_owned(), body);
        }
    }
}

#[test]
fn a_provisioner_that_names_no_extensions_sees_no_difference() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    upload(&client, "web.sh", b"one");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let tasks = Client::with_headers(&server.tasks_base(), &[("Coopr-UserID", "admin")]);
    let registration = json!({"id": "master-1", "host": "127.0.0.1", "port": port, "capacityTotal": "10"});
    assert_eq!(
        tasks.put("/v2/provisioners/master-1", &registration).ok(),
        "",
        "the answer is empty, as ever"
    );
    let asked = std::thread::spawn(move || one_request(&listener));
    want_workers(&client, 3);
    let (line, body) = asked.join().unwrap();
    assert_eq!(line, "PUT /v2/tenants/superadmin HTTP/1.1");
    assert_eq!(body["workers"], 3);
    let scripts = &body["resources"]["automatortypes"]["shell"]["scripts"];
    assert_eq!(
        scripts["active"],
        json!([{"name": "web.sh", "version": 1}]),
        "no hash, which it does not know"
    );

    let id = json!({"provisionerId": "master-1", "workerId": "host.7", "tenantId": "superadmin"});
    assert_eq!(tasks.post("/v2/tasks/take", &id).status, 204);
    create(&client, "shop", 2);
    let task = wait_for("a task", LIMIT, || {
        let answer = tasks.post("/v2/tasks/take", &id);
        (answer.status == 200).then_some(answer.body)
    });
    let mut report = id;
    let fields = report.as_object_mut().unwrap();
    fields.insert("taskId".to_owned(), task["taskId"].clone());
    fields.insert("status".to_owned(), "0".into());
    assert_eq!(tasks.post("/v2/tasks/finish", &report).status, 200);
    assert_eq!(tasks.post("/v2/tasks/finish", &report).status, 417, "it does not hold it any more");
}

#[test]
fn a_provisioner_answers_what_an_old_server_asks() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let _one = Provisioner::start("one", &server, &world, 4);
    let port = wait_for("its port", LIMIT, || known(&client, "one")?["port"].as_u64());
    let one = Client::with_headers(&format!("http://127.0.0.1:{port}"), &[]);
    wait_for("its registration", LIMIT, || (one.get("/status").body == "OK").then_some(()));
    assert_eq!(one.get("/heartbeat").ok(), json!({"usage": {}}));

    let wanted = json!({"workers": "3", "plugins": {}, "resources": {"automatortypes": null}});
    let answer = one.put("/v2/tenants/dept", &wanted).ok();
    assert_eq!(
        (&answer["status"], &answer["workers"]),
        (&json!(0), &json!("3")),
        "what was said, and a status"
    );
    assert_eq!(one.get("/heartbeat").ok(), json!({"usage": {"dept": 3}}));
    one.post("/v2/tenants", &json!({"id": "other", "resources": null})).ok();
    assert_eq!(one.get("/heartbeat").ok(), json!({"usage": {"dept": 3, "other": 0}}));

    assert_eq!(one.delete("/v2/tenants/dept").status, 200);
    let gone = || one.get("/heartbeat").ok()["usage"].get("dept").is_none_or(|workers| *workers == 0);
    wait_for("no workers for the tenant", LIMIT, || gone().then_some(()));
    assert_eq!(one.delete("/v2/tenants/nobody").status, 404);
    assert_eq!(one.post("/v2/tenants", &json!({"workers": 1})).status, 400);
    assert_eq!(one.post_bytes("/v2/tenants", b"nonsense").status, 400);
}
