//! Exports, read by those they are for.

use std::process::Command;

use serde_json::{Value, json};

use crate::terminal::{Terminal, ran};

#[test]
fn exports_are_what_other_programs_read() {
    let terminal = Terminal::new();
    terminal.types("cluster create farm -t farm -n 3 -q").ok();
    let export = |rest: &str| terminal.types(&format!("cluster export farm --format {rest}")).ok();
    let nodes = terminal.types("cluster nodes farm -o json").json();
    let host = nodes[0]["properties"]["hostname"].as_str().unwrap();
    let short = host.split('.').next().unwrap();

    let inventory: Value = serde_saphyr::from_str(&export("ansible")).unwrap();
    let count = |at: &Value| at["hosts"].as_object().unwrap().len();
    let groups = &inventory["all"]["children"];
    assert_eq!((count(&inventory["all"]), count(&groups["web"]), count(&groups["worker"])), (3, 1, 2));
    assert_eq!(
        inventory["all"]["hosts"][host]["ansible_host"],
        nodes[0]["properties"]["ipaddresses"]["access_v4"]
    );
    assert_eq!(inventory["all"]["hosts"][host]["ansible_user"], "root");

    terminal.types("cluster export farm --format ssh-config --to config").ok();
    let config = terminal.home().join("config");
    let shown = ran(Command::new("ssh").arg("-G").arg("-F").arg(&config).arg(short), "").ok();
    let says = |line: &str| shown.lines().any(|it| it == line);
    let address = nodes[0]["properties"]["ipaddresses"]["access_v4"].as_str().unwrap();
    assert!(says(&format!("hostname {address}")) && says("user root"), "{shown}");

    assert!(export("hosts").lines().any(|line| line.ends_with(&format!(" {host} {short}"))));
    let targets: Value = serde_json::from_str(&export("prometheus --port 8080 --service web")).unwrap();
    let labels = json!({"cluster": "farm", "cluster_id": "00000001", "service": "web"});
    assert_eq!(targets, json!([{"targets": [format!("{address}:8080")], "labels": labels}]));
    terminal.types("cluster export farm --format hosts --service none").fails(3, "cooperage cluster nodes");

    let answer = terminal.admin.get("/v2/clusters/1/export?format=prometheus&port=8080&service=web").ok();
    assert_eq!(answer, targets);
    assert_eq!(terminal.admin.get("/v2/clusters/1/export?format=csv").status, 400);
}
