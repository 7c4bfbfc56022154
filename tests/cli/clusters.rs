//! What becomes of clusters.

use serde_json::{Value, json};

use crate::terminal::{Terminal, ran};

#[test]
fn a_cluster_is_created_changed_and_deleted() {
    let terminal = Terminal::new();
    let preview = terminal.types("cluster create farm -t farm -n 3 --dry-run -o json").json();
    assert_eq!(preview["nodes"].as_array().unwrap().len(), 3);
    assert_eq!(terminal.types("cluster list --all -o name").ok(), "");
    let id = terminal.types("cluster create farm -t farm -n 3 --no-wait -o name").ok();
    assert_eq!(id.trim(), "00000001");
    terminal.types("cluster wait farm --for active --timeout 1m").ok();

    let config = |terminal: &Terminal| terminal.types("cluster config farm -o json").json();
    let dry = terminal.types("cluster config farm --set web.port=8080 --dry-run");
    assert!(dry.err.contains("- ") && dry.err.contains("8080"), "{dry:?}");
    assert_eq!(config(&terminal), json!({"web": {"port": 80}}));
    terminal.types("cluster config farm --set web.port=8080 --set web.name=x --timeout 1m").ok();
    assert_eq!(config(&terminal), json!({"web": {"port": 8080, "name": "x"}}));
    terminal.types("cluster config farm --unset web.name --no-restart").ok();
    let file = terminal.file("config.yaml", "web:\n  port: 1\nmore: [1]\n");
    terminal.types(&format!("cluster config farm --replace {}", file.display())).ok();
    assert_eq!(config(&terminal), json!({"web": {"port": 1}, "more": [1]}));
    let edit = |editor: &str| {
        let mut command = terminal.at_the_server();
        ran(command.env("EDITOR", editor).args(["cluster", "config", "farm", "--edit", "-q"]), "")
    };
    edit("sed -i 's/port: 1/port: 2/'").ok();
    assert_eq!(config(&terminal), json!({"web": {"port": 2}, "more": [1]}));
    edit("false").fails(1, "name another in EDITOR");
    edit("truncate -s 0").fails(1, "left empty");
    let broken = edit("echo ': [' >");
    let kept = broken.err.split("--replace ").nth(1).unwrap().trim().to_owned();
    std::fs::remove_file(&kept).unwrap();
    broken.fails(1, "correct it");
    assert_eq!(config(&terminal)["web"]["port"], 2);
    let unchanged = terminal.types("cluster config farm --set web.port=2");
    assert!(unchanged.err.contains("unchanged"), "{unchanged:?}");

    for line in ["cluster restart farm web", "cluster stop farm", "cluster start farm --timeout 1m"] {
        terminal.types(line).ok();
    }
    terminal.types("cluster sync farm").ok();
    let jobs = terminal.types("cluster jobs farm -o json").json();
    let actions: Vec<&str> =
        jobs.as_array().unwrap().iter().filter_map(|job| job["action"].as_str()).collect();
    assert_eq!(actions.first(), Some(&"START_SERVICES"), "{actions:?}");
    assert!(actions.contains(&"STOP_SERVICES") && actions.contains(&"RESTART_SERVICES"), "{actions:?}");

    let ends =
        |terminal: &Terminal| terminal.types("cluster lease farm -o json").json()["expireTime"].as_i64();
    let before = ends(&terminal).unwrap();
    terminal.types("cluster lease farm --by 1m").ok();
    assert_eq!(ends(&terminal), Some(before + 60_000));
    terminal.types("cluster lease farm --by 3h").fails(1, "remedy");

    terminal.types("cluster delete farm").fails(1, "--yes");
    terminal.types("cluster delete farm --yes --timeout 1m").ok();
    assert_eq!(terminal.types("cluster list --status terminated -o name").ok(), "00000001\n");
}

#[test]
fn services_are_added_to_a_cluster() {
    let terminal = Terminal::new();
    terminal.types("cluster create few -t farm -n 2 --service worker -q").ok();
    let services = |terminal: &Terminal| terminal.types("cluster services few -o name").lines();
    assert_eq!(services(&terminal), ["worker"]);
    let file = terminal.file("more.json", &more().to_string());
    terminal.types(&format!("apply -f {} --yes", file.display())).ok();
    terminal.types("cluster sync few").ok();
    terminal.types("cluster add-service few extra").ok();
    assert_eq!(services(&terminal), ["extra", "worker"]);
}

/// A service that the template did not offer before.
fn more() -> Value {
    let template = crate::catalog::catalog().as_array().unwrap().last().unwrap().clone();
    let mut template = template;
    template["compatibility"]["services"] = json!(["web", "worker", "extra"]);
    json!([
        {"kind": "service", "name": "extra", "dependencies": {"provides": [], "conflicts": []},
         "provisioner": {"actions": {"install": {"type": "simulated", "fields": {}}}}},
        template,
    ])
}

#[test]
fn a_job_is_paused_and_goes_on() {
    let terminal = Terminal::new();
    // Long enough to be paused on the way.
    let scenario = json!({"shortest_ms": 700, "longest_ms": 900}).to_string();
    std::fs::write(terminal.machines.path().join("scenario.json"), scenario).unwrap();
    terminal.types("cluster create farm -t farm -n 2 --no-wait").ok();
    terminal.types("cluster pause farm").ok();
    let status = || terminal.types("cluster status farm -o json").json();
    assert_eq!(status()["actionstatus"], "paused");
    terminal.types("cluster wait farm --for active --timeout 2s").fails(7, "not active yet");
    assert_eq!(status()["actionstatus"], "paused");
    terminal.types("cluster resume farm --timeout 1m").ok();
    assert_eq!(status()["status"], "active");
}
