//! Secrets in a running server: what its tasks print, its key file, and keys that are changed while it is away.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::catalog::catalog;
use crate::lab::{Server, apply};

const LIMIT: Duration = Duration::from_secs(60);
/// What simulated tasks print, here a secret.
const PRINTED: &str = "is done";

/// Everything in the files below a folder.
fn contents(folder: &Path) -> Vec<u8> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { contents(&path) } else { std::fs::read(path).unwrap() })
        .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn what_tasks_print_is_stored_and_shown_without_secrets() {
    let world = tempfile::tempdir().unwrap();
    let mut server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    let mut catalog = catalog();
    catalog[0]["provisioner"] = json!({"account": "lab", "api_key": PRINTED});
    apply(&admin, &catalog);
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 2}));
    let cluster = admin.active(&id, LIMIT);
    assert_eq!(cluster["provider"]["provisioner"], json!({"account": "lab", "api_key": "********"}));
    let logs = admin.get(&format!("/v2/clusters/{id}/logs")).ok();
    let lines: Vec<&str> =
        logs["lines"].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.ends_with("[redacted]")), "{lines:?}");
    // After a crash too, when they come from the database.
    server.kill();
    server.run();
    assert_eq!(admin.get("/v2/providers/sim?secrets=true").ok()["provisioner"]["api_key"], PRINTED);
    assert!(!holds(&contents(server.folder()), PRINTED));
    admin.delete_cluster(&id, LIMIT);
    server.stop();
    assert!(!holds(&contents(server.folder()), PRINTED));
}

#[test]
fn a_key_file_that_cannot_be_right_is_named_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("my.key");
    std::fs::write(&key, "nonsense").unwrap();
    let said = Server::refused(&[format!("secrets.key_file={}", key.display())]);
    assert!(said.contains("my.key"), "{said}");
}

#[test]
fn keys_are_changed_while_no_server_runs() {
    let world = tempfile::tempdir().unwrap();
    let mut server = Server::start(&[format!("simulation.dir={}", world.path().display())]);
    let admin = server.admin();
    let provider =
        json!({"name": "p", "providertype": "simulated", "provisioner": {"api_key": "k-4711-of-p"}});
    admin.post("/v2/providers", &provider).ok();
    let key = || std::fs::read(server.data_dir().join("secrets.key")).unwrap();
    let before = key();
    let data = format!("data_dir={}", server.data_dir().display());
    let rotate = || {
        let program = env!("CARGO_BIN_EXE_cooperage");
        let rotate = ["secrets", "rotate", "--offline", "-o", "json", "--set", &data];
        Command::new(program).args(rotate).output().unwrap()
    };
    let busy = rotate();
    let said = String::from_utf8_lossy(&busy.stderr).into_owned();
    assert!(!busy.status.success() && said.contains("in use") && key() == before, "{said}");
    server.stop();
    let done = rotate();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let told: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&told["rewrapped"], &told["entityVersions"]), (&json!(2), &json!(1)), "{told}");
    let after = std::fs::read(server.data_dir().join("secrets.key")).unwrap();
    assert_ne!(before, after);
    server.run();
    assert_eq!(admin.get("/v2/providers/p?secrets=true").ok()["provisioner"]["api_key"], "k-4711-of-p");
}
