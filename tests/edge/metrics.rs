//! Figures for Prometheus, as they are scraped.

use std::time::Duration;

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::keys::simulated;
use crate::lab::{Client, http, wait_for};

const LIMIT: Duration = Duration::from_secs(60);

/// The value of a figure with these labels, as it is written; 0 when it is not there.
fn value(text: &str, figure: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

#[test]
fn what_happens_is_counted_and_only_superadmins_see_it() {
    let (_world, server) = simulated(&[]);
    let (admin, caller) = (server.admin(), Caller::admin(&server));
    let scrape = || caller.ask("GET", "/metrics", &[], "").is(200);
    let first = scrape();
    assert!(first.header("content-type").starts_with("application/openmetrics-text; version=1.0.0"));
    assert!(first.text.ends_with("# EOF\n"), "{}", first.text);
    assert_eq!(value(&first.text, "cooperage_clusters{status=\"active\"}"), 0.0);
    assert!(value(&first.text, "process_resident_memory_bytes") > 1e6, "{}", first.text);
    assert_eq!(value(&first.text, "cooperage_workers{tenant=\"superadmin\"}"), 16.0);

    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 2}));
    admin.active(&id, LIMIT);
    let text = scrape().text;
    for (figure, expected) in [
        ("cooperage_clusters{status=\"active\"}", 1.0),
        ("cooperage_jobs_total{action=\"cluster_create\",status=\"complete\"}", 1.0),
        ("cooperage_job_duration_seconds_count{action=\"cluster_create\"}", 1.0),
        ("cooperage_task_attempts_total{task=\"CREATE\",outcome=\"success\"}", 2.0),
        ("cooperage_task_duration_seconds_count{task=\"CREATE\"}", 2.0),
        ("cooperage_journal_events_total{event=\"cluster_requested\"}", 1.0),
        ("cooperage_tasks_waiting{tenant=\"superadmin\"}", 0.0),
        ("cooperage_tasks_running{tenant=\"superadmin\"}", 0.0),
    ] {
        assert_eq!(value(&text, figure), expected, "{figure}: {text}");
    }
    assert!(value(&text, "cooperage_journal_commits_total") > 0.0, "{text}");
    let asked = "cooperage_http_requests_total{port=\"user\",method=\"POST\",status=\"201\"}";
    let posted = "cooperage_http_requests_total{port=\"user\",method=\"POST\",status=\"200\"}";
    assert!(value(&text, asked) + value(&text, posted) >= 1.0, "{text}");
    assert!(value(&text, "process_cpu_seconds_total") > 0.0, "{text}");

    let nobody = Caller::new(&server.base(), "", http());
    nobody.ask("GET", "/metrics", &[], "").is(401);
}

#[test]
fn workers_elsewhere_are_their_tenants() {
    let (_world, server) = simulated(&[]);
    let admin = server.admin();
    let rack = json!({"id": "rack", "host": "127.0.0.1", "port": 1, "capacityTotal": 9});
    let token = admin.post("/v2/tokens", &json!({"role": "provisioner", "user": "rack"})).ok();
    let on_tasks = Client::with_token(&server.tasks_base(), token["token"].as_str().unwrap());
    on_tasks.put("/v2/provisioners/rack", &rack).ok();
    admin.post("/v2/tenants", &json!({"tenant": {"name": "dept", "workers": 5}})).ok();
    let text = Caller::admin(&server).ask("GET", "/metrics", &[], "").is(200).text;
    assert_eq!(value(&text, "cooperage_workers{tenant=\"dept\"}"), 5.0, "{text}");
    assert_eq!(value(&text, "cooperage_provisioner_free{provisioner=\"rack\"}"), 4.0, "{text}");
}

#[test]
fn an_hour_is_kept_for_charts() {
    let (_world, server) = simulated(&[]);
    let admin = server.admin();
    let line = |shown: &Value, name: &str| -> Vec<Value> {
        let figures = shown["figures"].as_array().unwrap();
        figures.iter().find(|one| one["name"] == name).unwrap()["values"].as_array().unwrap().clone()
    };
    let shown = || admin.get("/v2/metrics/history").ok();
    let of_workers = |shown: &Value| line(shown, "workers").first().cloned();
    let first = wait_for("the first sample", LIMIT, || Some(shown()).filter(|it| of_workers(it).is_some()));
    assert_eq!((of_workers(&first), &first["everyMs"]), (Some(json!(16.0)), &json!(10_000)));
    assert!(first["until"].as_i64().unwrap() > 1_700_000_000_000, "{first}");
    assert!(line(&first, "memory")[0].as_f64().unwrap() > 1e6, "{first}");
}
