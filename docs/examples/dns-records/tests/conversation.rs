//! The program as the server runs it: an order in, lines out.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// What it says at last, and whether it ended well.
fn ask(task: &str, folder: &Path) -> (Value, bool) {
    let order = json!({"taskName": task, "nodeId": "7c0e", "config": {
        "hostname": "shop7-1001.local", "ipaddresses": {"access_v4": "192.0.2.7"},
        "service": {"name": "web", "action": {"type": "dns-records", "fields": {"folder": folder, "name": "web.lab.example"}}}}});
    let mut program = Command::new(env!("CARGO_BIN_EXE_dns-records"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(order.to_string().as_bytes()).unwrap();
    let told = program.wait_with_output().unwrap();
    let last = String::from_utf8(told.stdout).unwrap().lines().last().unwrap().to_owned();
    (serde_json::from_str(&last).unwrap(), told.status.success())
}

#[test]
fn a_service_that_starts_has_a_name_until_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("7c0e-web");
    for task in ["INSTALL", "START", "START"] {
        assert_eq!(ask(task, folder.path()), (json!({"result": {}}), true), "{task}");
        assert_eq!(file.exists(), task == "START");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "192.0.2.7 web.lab.example shop7-1001.local\n");
    for task in ["STOP", "STOP", "REMOVE"] {
        assert_eq!(ask(task, folder.path()), (json!({"result": {}}), true), "{task}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let (said, is_well) = ask("START", Path::new("/nonexistent/hosts"));
    let message = said["result"]["message"].as_str().unwrap();
    assert!(!is_well && said["result"]["status"] == 1 && message.contains("the field folder"), "{said}");
}
