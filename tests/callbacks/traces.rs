//! Jobs as traces, at somebody who collects them.

use serde_json::{Value, json};

use crate::lab::wait_for;
use crate::target::{Target, answer};
use crate::world::{LIMIT, World};

/// What stands under a key of a span's attributes.
fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("{key}: {span}"));
    found["value"].as_object().unwrap().values().next().unwrap()
}

#[test]
fn each_job_is_a_trace_with_a_span_for_each_task_and_is_sent_again_when_it_was_refused() {
    let target = Target::start(&[answer(503, ""), answer(200, "{}")]);
    let world = World::start(&[format!("telemetry.traces_url={}", target.url("/v1/traces"))]);
    let id = world.create("shop");
    let cluster = world.admin.active(&id, LIMIT);
    let calls = wait_for("the trace of the create, refused and sent again", LIMIT, || {
        let calls = target.calls();
        (calls.iter().filter(|call| call.body.contains("cluster_create")).count() == 2).then_some(calls)
    });
    assert!(calls.iter().all(|call| call.path == "/v1/traces"));
    assert_eq!(calls[0].body, calls[1].body, "what was refused is sent again");
    let create = calls.iter().find(|call| call.body.contains("cluster_create")).unwrap();
    let sent: Value = serde_json::from_str(&create.body).unwrap();
    let spans = sent["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let root = &spans[0];
    assert_eq!((&root["name"], &root["status"]["code"]), (&json!("cluster_create"), &json!(1)));
    assert_eq!(
        (attribute(root, "cooperage.cluster.id"), attribute(root, "cooperage.cluster.name")),
        (&json!(id), &json!("shop"))
    );
    assert_eq!((root["traceId"].as_str().unwrap().len(), root["spanId"].as_str().unwrap().len()), (32, 16));
    let time = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
    let nodes: Vec<&Value> = cluster["nodes"].as_array().unwrap().iter().map(|node| &node["id"]).collect();
    assert_eq!(spans.iter().filter(|span| span["name"] == "CREATE").count(), nodes.len());
    for span in &spans[1..] {
        assert_eq!((&span["traceId"], &span["parentSpanId"]), (&root["traceId"], &root["spanId"]));
        assert!(nodes.contains(&attribute(span, "cooperage.node.id")), "{span}");
        assert!(time(span, "startTimeUnixNano") >= time(root, "startTimeUnixNano"));
        assert!(time(span, "endTimeUnixNano") >= time(span, "startTimeUnixNano"));
    }
    let mut ids: Vec<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), spans.len(), "each has an id of its own");
}
