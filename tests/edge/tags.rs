//! `ETag`: what is known is not sent again, and no change is lost to another.

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::lab::{Server, apply};

const ONE: &str = "/v2/hardwaretypes/small";

fn hardware(description: &str) -> Value {
    json!({"name": "small", "description": description, "providermap": {}})
}

#[test]
fn what_is_known_is_not_sent_again() {
    let server = Server::start(&[]);
    let admin = Caller::admin(&server);
    admin.post("/v2/hardwaretypes", &[], &hardware("a")).is(200);
    for path in [ONE, "/v2/hardwaretypes", "/v2/clusters", "/v2/export"] {
        let first = admin.get(path).is(200);
        let tag = first.header("etag").to_owned();
        assert!(tag.starts_with('"'), "{path}: strong: {tag:?}");
        let again = admin.ask("GET", path, &[("If-None-Match", &tag)], "").is(304);
        assert_eq!((again.text.as_str(), again.header("etag")), ("", tag.as_str()));
        admin.ask("GET", path, &[("If-None-Match", "\"other-tag\"")], "").is(200);
        let head = admin.ask("HEAD", path, &[], "").is(200);
        assert_eq!((head.header("etag"), head.text.as_str()), (tag.as_str(), ""));
        // Packed it is another body, with another tag, which is known as well.
        let packed = admin.ask("GET", path, &[("Accept-Encoding", "gzip")], "").is(200);
        assert!(packed.header("content-encoding") != "gzip" || packed.header("etag").ends_with("-gzip\""));
        admin.ask("GET", path, &[("If-None-Match", packed.header("etag"))], "").is(304);
    }
    let tag = admin.get(ONE).header("etag").to_owned();
    admin.put(ONE, &[], &hardware("b")).is(200);
    admin.ask("GET", ONE, &[("If-None-Match", &tag)], "").is(200);
}

#[test]
fn a_change_based_on_something_else_is_refused() {
    let server = Server::start(&[]);
    let admin = Caller::admin(&server);
    admin.put(ONE, &[("If-None-Match", "*")], &hardware("a")).is(200);
    admin.put(ONE, &[("If-None-Match", "*")], &hardware("a")).refused(412, "", "ETag");
    let old = admin.get(ONE).header("etag").to_owned();
    admin.put(ONE, &[("If-Match", &old)], &hardware("b")).is(200);
    admin.put(ONE, &[("If-Match", &old)], &hardware("c")).refused(412, "", "ETag");
    admin.ask("DELETE", ONE, &[("If-Match", &old)], "").refused(412, "", "ETag");
    assert_eq!(admin.get(ONE).json()["description"], "b");
    // An old version has a tag of its own.
    let first = format!("{ONE}/1");
    assert_eq!(admin.get(&first).header("etag"), old);
    let newest = admin.get(ONE).header("etag").to_owned();
    admin.ask("DELETE", &first, &[("If-Match", &newest)], "").refused(412, "", "ETag");
    admin.ask("DELETE", &first, &[("If-Match", &old)], "").is(200);
    // Deleted and made again it has the old version's number, and is another one all the same.
    admin.ask("DELETE", ONE, &[("If-Match", "*")], "").is(200);
    admin.put(ONE, &[("If-Match", "*")], &hardware("d")).refused(412, "", "If-Match");
    admin.put(ONE, &[], &hardware("d")).is(200);
    assert_eq!(admin.get(ONE).json()["version"], 1);
    admin.put(ONE, &[("If-Match", &old)], &hardware("e")).refused(412, "", "ETag");
}

#[test]
fn of_two_writers_exactly_one_wins() {
    let server = Server::start(&[]);
    let admin = Caller::admin(&server);
    admin.put(ONE, &[], &hardware("0")).is(200);
    for round in 0..20 {
        let tag = admin.get(ONE).header("etag").to_owned();
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (admin, tag) = (admin.clone(), tag.clone());
                std::thread::spawn(move || {
                    admin.put(ONE, &[("If-Match", &tag)], &hardware(&format!("{round} {writer}"))).status
                })
            })
            .collect();
        let mut answers: Vec<u16> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        answers.sort_unstable();
        assert_eq!(answers, [200, 412, 412, 412], "round {round}");
    }
    assert_eq!(admin.get(ONE).json()["version"], 21);
}

#[test]
fn a_cluster_is_changed_only_as_it_was_seen() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let client = server.admin();
    apply(&client, &crate::keys::catalog());
    let id = client.create(&crate::keys::request("seen"));
    client.active(&id, std::time::Duration::from_secs(30));
    let admin = Caller::admin(&server);
    let path = format!("/v2/clusters/{id}");
    let config = format!("{path}/config");
    let old = admin.get(&path).is(200).header("etag").to_owned();
    let change =
        |tag: &str, value: u32| admin.put(&config, &[("If-Match", tag)], &json!({"config": {"a": value}}));
    change(&old, 1).is(200);
    change(&old, 2).refused(412, "", "ETag");
    admin.ask("DELETE", &path, &[("If-Match", &old)], "").refused(412, "", "ETag");
    client.active(&id, std::time::Duration::from_secs(30));
    assert_eq!(admin.get(&config).json()["a"], 1);
    // Of several at the same moment one is made; another lease is a change after which the next one could be made too.
    let created = admin.get(&path).json()["createTime"].as_i64().unwrap();
    for round in 1..=10 {
        // Any part of the cluster tells its state.
        let tag = admin.get(&config).header("etag").to_owned();
        let changes: Vec<_> = (0..4)
            .map(|writer| {
                let (admin, tag, path) = (admin.clone(), tag.clone(), path.clone());
                let expires = created + 3_600_000 - (round * 4 + writer) * 1_000;
                std::thread::spawn(move || {
                    admin.post(&path, &[("If-Match", &tag)], &json!({"expireTime": expires})).status
                })
            })
            .collect();
        let mut answers: Vec<u16> = changes.into_iter().map(|one| one.join().unwrap()).collect();
        answers.sort_unstable();
        assert_eq!(answers, [200, 412, 412, 412], "round {round}");
    }
}
