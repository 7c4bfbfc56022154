//! Real machines, made and set up by a provisioner of its own that is killed meanwhile.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::{Server, wait_for};
use crate::machines::{LIMIT, Machines, machine_settings};

/// How long a provisioner may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A provisioner on the server's host, in a directory of its own.
struct Remote {
    command: Command,
    log: PathBuf,
    child: Child,
}

fn folder(server: &Server) -> PathBuf {
    server.folder().join("remote")
}

impl Remote {
    fn start(server: &Server) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
        command.args(["provisioner", "--server", &server.tasks_base(), "--listen", "127.0.0.1:0"]);
        command.args(["--id", "remote", "--capacity", "8"]);
        for setting in machine_settings() {
            command.args(["--set", &setting]);
        }
        let log = server.folder().join("remote.log");
        let written = OpenOptions::new().create(true).append(true).open(&log).unwrap();
        command.args(["--set", &format!("provisioner.data_dir={}", folder(server).display())]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(written);
        let child = command.spawn().unwrap();
        Self { command, log, child }
    }

    /// Killed as by a power cut, and started again.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = self.command.spawn().unwrap();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!(
                "--- the provisioner's log\n{}\n---",
                std::fs::read_to_string(&self.log).unwrap_or_default()
            );
        }
    }
}

#[test]
fn a_provisioner_that_is_killed_brings_a_real_cluster_up_all_the_same_and_repeats_nothing() {
    let Some(machines) = Machines::start_for(&["base", "web"], &["workers.local=0"], folder) else { return };
    let mut remote = Remote::start(&machines.server);
    let admin = machines.server.admin();
    let workers = json!({"tenant": {"name": "superadmin", "workers": 8}});
    wait_for("the provisioner", PATIENCE, || {
        (admin.put("/v2/tenants/superadmin", &workers).status == 200).then_some(())
    });
    let id = admin.create(&json!({"name": "shop", "clusterTemplate": "web", "numMachines": 3}));
    let tasks = |state: &str| -> usize {
        let plans = admin.get(&format!("/v2/clusters/{id}/plans")).ok();
        let tasks =
            plans.as_array().unwrap().iter().flat_map(|plan| plan["tasks"].as_array().unwrap().clone());
        tasks.filter(|task| task["status"] == state).count()
    };
    // While machines are made, while packages are installed, while services are set up.
    for done in [1, 6, 12] {
        wait_for("the moment to kill", LIMIT, || {
            (tasks("done") >= done && tasks("running") > 0).then_some(())
        });
        remote.kill();
    }
    admin.active(&id, LIMIT);
    assert_eq!(machines.nodes().len(), 3);
    let plans = admin.get(&format!("/v2/clusters/{id}/plans")).ok();
    let attempts = |task: &Value| task["attempts"].as_array().unwrap().clone();
    let all = plans.as_array().unwrap().iter().flat_map(|plan| plan["tasks"].as_array().unwrap());
    let again: Vec<_> = all.filter(|task| attempts(task).len() != 1).collect();
    assert!(again.is_empty(), "nothing failed, so nothing is tried again: {again:#?}");
    let lines = admin.get(&format!("/v2/clusters/{id}/logs")).ok();
    assert!(!lines["lines"].as_array().unwrap().is_empty(), "what the scripts printed is there");

    admin.delete_cluster(&id, LIMIT);
    assert_eq!(machines.nodes(), [""; 0]);
}
