//! Events as they happen.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Server, apply};

const LIMIT: Duration = Duration::from_secs(60);

/// Reads events with a plain socket, so that nothing comes between.
struct Stream {
    lines: BufReader<TcpStream>,
    last: Option<u64>,
}

impl Stream {
    fn open(server: &Server, path: &str, last: Option<u64>) -> Self {
        let (stream, head) = Self::head(server, path, last);
        assert!(head[0].contains(" 200 "), "{head:?}");
        let head = head.join("\n").to_lowercase();
        assert!(head.contains("content-type: text/event-stream") && !head.contains("gzip"), "{head}");
        stream
    }

    /// A stream, and the lines of its head.
    fn head(server: &Server, path: &str, last: Option<u64>) -> (Self, Vec<String>) {
        let base = server.base();
        let address = base.trim_start_matches("http://").to_owned();
        let mut socket = TcpStream::connect(&address).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        let seen = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
        let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
        let token = token.trim();
        let ask = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer {token}\r\n{seen}\r\n"
        );
        socket.write_all(ask.as_bytes()).unwrap();
        let mut stream = Self { lines: BufReader::new(socket), last };
        let head = std::iter::from_fn(|| Some(stream.line()).filter(|line| !line.is_empty())).collect();
        (stream, head)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.lines.read_line(&mut line).unwrap() > 0, "the stream ended");
        line.trim_end().to_owned()
    }

    /// The next event.
    fn next(&mut self) -> Value {
        loop {
            // Sizes of chunks, comments and empty lines lie between.
            let line = self.line();
            if let Some(id) = line.strip_prefix("id: ") {
                let id: u64 = id.parse().unwrap();
                assert!(self.last.is_none_or(|last| id > last), "{id} comes behind {:?}", self.last);
                self.last = Some(id);
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// Events until one of this kind, of a cluster.
    fn until(&mut self, kind: &str, cluster: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let event = self.next();
            let is_it = event["kind"] == kind && event["clusterId"] == cluster;
            seen.push(event);
            if is_it {
                return seen;
            }
        }
    }
}

fn revisions(events: &[Value], cluster: &str) -> Vec<u64> {
    events
        .iter()
        .filter(|event| event["clusterId"] == cluster)
        .map(|event| event["revision"].as_u64().unwrap())
        .collect()
}

#[test]
fn every_event_comes_once_also_across_reconnects_and_restarts() {
    let world = tempfile::tempdir().unwrap();
    let mut server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let mut stream = Stream::open(&server, "/v2/events", None);
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": "3"}));
    let mut seen = vec![stream.next(), stream.next()];
    // One that goes away and comes back.
    let mut stream = Stream::open(&server, "/v2/events", stream.last);
    seen.extend(stream.until("job_ended", &id));
    assert!(seen.iter().any(|event| event["kind"] == "task_succeeded" && event["task"].is_u64()), "{seen:?}");
    let last = seen.last().unwrap();
    assert_eq!((&last["job"], &last["status"]), (&json!(format!("{id}-002")), &json!("active")));
    let history = admin.get(&format!("/v2/clusters/{id}/history?limit=1")).ok();
    let newest = history[0]["revision"].as_u64().unwrap();
    assert_eq!(revisions(&seen, &id)[..], (1..=newest).collect::<Vec<_>>()[..revisions(&seen, &id).len()]);

    let other = admin.create(&json!({"name": "other", "clusterTemplate": "farm", "numMachines": "3"}));
    let mut of_one = Stream::open(&server, &format!("/v2/clusters/{other}/events?after=0"), None);
    let of_other = of_one.until("job_ended", &other);
    assert!(of_other.iter().all(|event| event["clusterId"] == *other));
    let found = revisions(&of_other, &other);
    assert_eq!(found, (1..=found.len() as u64).collect::<Vec<_>>());

    server.stop();
    server.run();
    // From memory that is gone: from the journal.
    let mut stream = Stream::open(&server, "/v2/events", stream.last);
    let rest = stream.until("job_ended", &other);
    assert_eq!(revisions(&rest, &other), found);
    let admin = server.admin();
    let listed = admin.get("/v2/events?after=0").ok();
    assert_eq!(revisions(listed["events"].as_array().unwrap(), &other), found);
    assert_eq!(listed["last"].as_u64(), stream.last);
    let mut all = Stream::open(&server, "/v2/events?after=0", None);
    let all = all.until("job_ended", &other);
    assert_eq!(revisions(&all, &id)[0], 1);
    assert_eq!(revisions(&all, &other), found);
}

#[test]
fn who_listens_is_counted_and_what_is_no_id_is_said() {
    let server = Server::start(&["http.max_event_streams=1".to_owned()]);
    let admin = server.admin();
    let refused = admin.get("/v2/events?after=x");
    assert_eq!((refused.status, &refused.body["field"]), (400, &json!("after")));
    let mut stream = Stream::open(&server, "/v2/events", None);
    assert!(Stream::head(&server, "/v2/events", None).1[0].contains(" 503 "));
    assert_eq!(admin.get("/v2/events").ok(), json!({"events": [], "last": 0}), "a list is no stream");
    assert_eq!(stream.line().len(), "d".len(), "the size of the first chunk");
    drop(stream);
}

#[test]
fn a_node_and_a_task_are_followed_on_their_own() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": "3"}));
    admin.active(&id, LIMIT);
    let plan = admin.get(&format!("/v2/clusters/{id}/plans/{id}-002")).ok();
    let tasks = plan["tasks"].as_array().unwrap().clone();
    let (node, task) = (tasks[0]["nodeId"].as_str().unwrap(), tasks[0]["id"].as_str().unwrap());
    let number =
        |task: &Value| task["id"].as_str().unwrap().rsplit('-').next().unwrap().parse::<u64>().unwrap();
    let own: Vec<u64> = tasks.iter().filter(|task| task["nodeId"] == node).map(number).collect();
    assert!(own.len() < tasks.len());

    let listed = |path: &str| admin.get(&format!("/v2/clusters/{id}/{path}/events?after=0")).ok();
    let kinds = |events: &Value| -> Vec<String> {
        let events = events["events"].as_array().unwrap();
        events.iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
    };
    let of_task = listed(&format!("tasks/{task}"));
    assert_eq!(kinds(&of_task), ["attempt_started", "task_succeeded"], "{of_task}");
    let of_node = listed(&format!("nodes/{node}"));
    assert_eq!(kinds(&of_node)[..2], ["layout_found", "job_planned"], "{of_node}");
    let seen: Vec<u64> =
        of_node["events"].as_array().unwrap().iter().filter_map(|event| event["task"].as_u64()).collect();
    assert!(
        own.iter().all(|task| seen.contains(task)) && seen.iter().all(|task| own.contains(task)),
        "{of_node}"
    );

    // Somebody who comes back in the middle of a job that began since, and stays.
    let mut stream =
        Stream::open(&server, &format!("/v2/clusters/{id}/nodes/{node}/events"), of_node["last"].as_u64());
    let other = tasks.iter().find(|task| task["nodeId"] != node).unwrap()["nodeId"].clone();
    admin.post(&format!("/v2/clusters/{id}/replace"), &json!({"nodes": [node, other]})).ok();
    let mut fresh = Vec::new();
    while !fresh.iter().any(|event: &Value| event["kind"] == "task_succeeded") {
        fresh.push(stream.next());
    }
    assert_eq!(
        (&fresh[0]["kind"], &fresh[1]["kind"]),
        (&json!("wanted_changed"), &json!("job_planned")),
        "{fresh:?}"
    );
    admin.active(&id, LIMIT);
    let after = admin.get(&format!("/v2/clusters/{id}/plans/{id}-003")).ok();
    let told: Vec<u64> = fresh.iter().filter_map(|event| event["task"].as_u64()).collect();
    let mine = after["tasks"].as_array().unwrap().iter().filter(|task| task["nodeId"] == node).map(number);
    let mine: Vec<u64> = mine.collect();
    assert!(!mine.is_empty() && told.iter().all(|task| mine.contains(task)), "{told:?} {mine:?}");

    for path in ["nodes/none", &format!("tasks/{id}-002-999"), "tasks/00000099-001-001", "tasks/first"] {
        assert_eq!(admin.get(&format!("/v2/clusters/{id}/{path}/events")).status, 404, "{path}");
    }
}
