//! What tasks printed: its end, what is looked for in it, and parts.

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Server, apply};

const LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

fn texts(answer: &Value) -> Vec<String> {
    answer["lines"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn lines_are_found_by_text_expression_time_and_from_the_end() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": "3"}));
    admin.active(&id, LIMIT);
    let logs = format!("/v2/clusters/{id}/logs");
    let all = admin.get(&logs).ok();
    let lines = all["lines"].as_array().unwrap();
    assert!(lines.len() > 5, "{all}");
    let text = lines[2]["text"].as_str().unwrap();
    let word = text.split_whitespace().next().unwrap();
    let with =
        |has: &dyn Fn(&str) -> bool| texts(&all).into_iter().filter(|text| has(text)).collect::<Vec<_>>();

    let found = admin.get(&format!("{logs}?search={word}")).ok();
    assert_eq!(texts(&found), with(&|text| text.contains(word)));
    let upper = word.to_uppercase();
    assert_eq!(texts(&admin.get(&format!("{logs}?search={upper}&ignoreCase=true")).ok()), texts(&found));
    assert_eq!(texts(&admin.get(&format!("{logs}?search={}", "no-such-text")).ok()), Vec::<String>::new());
    let begins = admin.get(&format!("{logs}?search=%5E{word}&regex=true")).ok();
    assert_eq!(texts(&begins), with(&|text| text.starts_with(word)));

    let (time, task) = (lines[4]["time"].as_i64().unwrap(), lines[4]["task"].as_str().unwrap());
    let late = admin.get(&format!("{logs}?since={time}")).ok();
    assert!(late["lines"].as_array().unwrap().iter().all(|line| line["time"].as_i64().unwrap() >= time));
    assert!(!texts(&late).is_empty());
    assert_eq!(texts(&admin.get(&format!("{logs}?since=2999-01-01T00:00:00Z")).ok()), Vec::<String>::new());

    let of_task = admin.get(&format!("{logs}?task={task}")).ok();
    let count = of_task["lines"].as_array().unwrap().len();
    assert_eq!(of_task["newest"], json!(count));
    let end = admin.get(&format!("{logs}?task={task}&tail=1")).ok();
    assert_eq!(texts(&end), texts(&of_task)[count - 1..]);
    assert_eq!(end["newest"], json!(count));
    let last_two = admin.get(&format!("{logs}?tail=2")).ok();
    assert_eq!(texts(&last_two), texts(&all)[lines.len() - 2..]);
    let before = admin.get(last_two["next"].as_str().unwrap()).ok();
    assert_eq!(texts(&before), texts(&all)[lines.len() - 4..lines.len() - 2]);
}

#[test]
fn what_cannot_be_looked_for_is_said() {
    let world = tempfile::tempdir().unwrap();
    let server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": "3"}));
    for (query, field) in [
        ("search=", "search"),
        ("search=(&regex=true", "search"),
        ("search=a%7B1000%7D%7B1000%7D&regex=true", "search"),
        ("since=soon", "since"),
        ("tail=0", "tail"),
        ("tail=1001", "tail"),
    ] {
        let refused = admin.get(&format!("/v2/clusters/{id}/logs?{query}"));
        assert_eq!(refused.status, 400, "{query}");
        assert_eq!(refused.body["field"], field, "{query}: {}", refused.body);
        assert!(refused.body["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{query}");
    }
}
