//! What is too large, too slow or packed too well; and what every answer says.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::caller::Caller;
use crate::lab::{Server, wait_for};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn bodies_are_unpacked_and_a_bomb_is_refused() {
    let server = Server::start(&[]);
    let admin = Caller::admin(&server);
    let gzip = [("Content-Encoding", "gzip")];
    let send =
        |body: Vec<u8>, headers: &[(&str, &str)]| admin.try_ask("PUT", "/v2/profile", headers, body).unwrap();
    send(packed(br#"{"packed": true}"#), &gzip).is(200);
    assert_eq!(admin.get("/v2/profile").json()["packed"], true);
    // 64 MiB in 64 KiB.
    let bomb = packed(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 100_000);
    send(bomb.clone(), &gzip).refused(413, "", "16777216");
    let keyed = [("Content-Encoding", "gzip"), ("Idempotency-Key", "k")];
    admin.try_ask("POST", "/v2/apply", &keyed, bomb).unwrap().refused(413, "", "16777216");
    let keyed = admin.try_ask("POST", "/v2/getClusterStatuses", &keyed, packed(b"{}")).unwrap();
    keyed.is(200);
    send(vec![b' '; (16 << 20) + 1], &[]).refused(413, "", "16777216");
    let whole = packed(br#"{"packed": "cut off"}"#);
    send(whole[..whole.len() / 2].to_vec(), &gzip).is(400);
    send(b"not packed at all".to_vec(), &gzip).is(400);
    let unknown = send(b"{}".to_vec(), &[("Content-Encoding", "br")]);
    assert_eq!(unknown.header("accept-encoding"), "gzip, deflate");
    unknown.refused(415, "Content-Encoding", "gzip");
    // A resource is stored unpacked.
    let scripts = "/v2/plugins/automatortypes/shell/scripts/x.sh";
    let stored = admin.try_ask("POST", scripts, &gzip, packed(b"#!/bin/sh\n")).unwrap().is(200);
    assert_eq!(stored.json()["size"], 10);
    // And answers are packed for those who unpack them.
    let all = admin.ask("GET", "/v2/plugins/automatortypes", &[("Accept-Encoding", "gzip")], "").is(200);
    assert_eq!(all.header("content-encoding"), "gzip");
}

#[test]
fn heads_that_are_too_large_are_refused_with_the_limit() {
    let server = Server::start(&["http.max_header_bytes=4096".to_owned()]);
    let admin = Caller::admin(&server);
    admin.ask("GET", "/status", &[("X-Long", &"x".repeat(5000))], "").refused(431, "", "headers");
    admin.ask("GET", &format!("/status?{}", "x".repeat(5000)), &[], "").refused(431, "", "query");
    admin.ask("GET", "/v2/hardwaretypes/a%00b", &[], "").refused(400, "", "%00");
    admin.get("/status").is(200);
}

/// What a server says to one who sends so many bytes of a body and then nothing.
fn said_to_the_slow(server: &Server, head: &str) -> (String, Duration) {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(("127.0.0.1", server.ports()[0])).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut said = vec![0; 4096];
    let read = stream.read(&mut said).unwrap();
    (String::from_utf8_lossy(&said[..read]).into_owned(), begun.elapsed())
}

#[test]
fn who_sends_too_slowly_is_not_waited_for() {
    let server = Server::start(&[
        "http.body_timeout_seconds=1".to_owned(),
        "http.request_timeout_seconds=1".to_owned(),
    ]);
    let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
    let body = format!(
        "PUT /v2/profile HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 9\r\n\r\n{{",
        token.trim()
    );
    for (head, remedy) in [(body.as_str(), "http.body_timeout_seconds"), ("GET /status HTTP/1.1\r\nHo", "")] {
        let (said, took) = said_to_the_slow(&server, head);
        assert!(said.starts_with("HTTP/1.1 408") && said.contains(remedy), "{said}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn every_path_answers_head_and_options_and_says_what_browsers_may_do() {
    let server = Server::start(&[]);
    let admin = Caller::admin(&server);
    let whole = admin.get("/v2/clusters").is(200);
    let head = admin.ask("HEAD", "/v2/clusters", &[], "").is(200);
    assert_eq!((head.text.as_str(), head.header("content-length")), ("", whole.header("content-length")));
    admin.ask("HEAD", "/v2/clusters/00000099", &[], "").is(404);
    let options = admin.ask("OPTIONS", "/v2/clusters", &[], "").is(204);
    assert_eq!(options.header("allow"), "GET, POST, HEAD, OPTIONS");
    let refused = admin.ask("PATCH", "/v2/clusters", &[], "");
    assert_eq!(refused.header("allow"), "GET, POST, HEAD, OPTIONS");
    refused.refused(405, "", "GET, POST");
    for (path, cache) in [
        ("/v2/clusters", "private, no-cache"),
        ("/v2/providers?secrets=true", "no-store"),
        ("/v2/nothing", "private, no-cache"),
    ] {
        let told = admin.get(path);
        let seen = ["x-content-type-options", "x-frame-options", "referrer-policy", "cache-control"];
        assert_eq!(seen.map(|name| told.header(name)), ["nosniff", "DENY", "no-referrer", cache], "{path}");
        assert!(told.header("content-security-policy").contains("default-src 'none'"), "{path}");
    }
    let stored = admin.post("/v2/hardwaretypes", &[], &json!({"name": "h", "providermap": {}}));
    assert_eq!(stored.header("cache-control"), "no-store");
}

#[test]
fn faults_of_ours_are_told_by_an_id_that_is_in_the_log() {
    let mut server = Server::start(&[]);
    server.stop();
    let url = server.data_dir().join("cooperage.db").to_str().unwrap().parse().unwrap();
    let store = cooperage_schema::Store::open(&url, Default::default()).unwrap();
    store.put_profile("superadmin", "admin", "{\"broken\": !!!".to_owned()).unwrap();
    store.close();
    server.run();
    let told = Caller::admin(&server).get("/v2/profile").is(500);
    let id = told.json()["id"].as_str().unwrap().to_owned();
    assert!(!told.text.contains("line 1") && told.text.contains(&id), "{told:?}");
    let line = wait_for("the line of the log", Duration::from_secs(20), || {
        server.logged().lines().find(|line| line.contains(&id)).map(str::to_owned)
    });
    assert!(line.contains("line 1") && line.contains("GET /v2/profile"), "{line}");
}
