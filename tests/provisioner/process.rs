//! A provisioner's process, and a server that has others do its work.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::{Client, Server, apply, wait_for, within};
use crate::world::{World, catalog};

/// Longest time anything may take on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(60);
/// Lines of a log that a failed test shows.
const LINES_SHOWN: usize = 40;

/// A provisioner in a directory of its own. Killed, and its directory removed, when dropped; a failed test shows its log.
pub struct Provisioner {
    id: String,
    folder: tempfile::TempDir,
    server: String,
    settings: Vec<String>,
    child: Option<Child>,
}

impl Provisioner {
    /// Starts one for this server, with so many workers.
    pub fn start(id: &str, server: &Server, world: &World, capacity: u32) -> Self {
        Self::with_settings(id, server, world, capacity, &[])
    }

    /// With some more settings (`section.key=value`).
    pub fn with_settings(id: &str, server: &Server, world: &World, capacity: u32, settings: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("cooperage-provisioner-").tempdir().unwrap();
        let own = [
            format!("data_dir={}", folder.path().join("data").display()),
            format!("simulation.dir={}", world.path().display()),
            format!("provisioner.id={id}"),
            "provisioner.listen=127.0.0.1:0".to_owned(),
            "provisioner.heartbeat_seconds=1".to_owned(),
        ];
        let given = settings.iter().map(|setting| (*setting).to_owned());
        let settings = own.into_iter().chain(given).collect();
        let (id, server) = (id.to_owned(), server.tasks_base());
        let mut provisioner = Self { id, folder, server, settings, child: None };
        provisioner.set_capacity(capacity);
        provisioner.run();
        provisioner
    }

    /// Writes its settings file.
    pub fn set_capacity(&self, capacity: u32) {
        std::fs::write(self.file(), format!("[provisioner]\ncapacity = {capacity}\n")).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("cooperage.toml")
    }

    /// Starts it again after its end.
    pub fn run(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
        command.args(["provisioner", "--server", &self.server]).arg("--config").arg(self.file());
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        let log = OpenOptions::new().create(true).append(true).open(self.log_path()).unwrap();
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.current_dir(self.folder.path()).spawn().unwrap());
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sends it a signal, by name.
    pub fn signal(&self, name: &str) {
        let told = Command::new("kill").args([&format!("-{name}"), &self.process().to_string()]).status();
        assert!(told.unwrap().success());
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.as_mut().and_then(|child| child.try_wait().unwrap())
    }

    /// Waits for its end.
    pub fn end(&mut self) -> ExitStatus {
        wait_for("the end of the provisioner", LIMIT, || self.ended())
    }

    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data").join("provisioner")
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("provisioner.log")
    }

    /// What it logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Waits until it has logged these words so many times.
    pub fn until_logged(&self, words: &str, times: usize) {
        let found = within(LIMIT, || (self.log().matches(words).count() >= times).then_some(()));
        assert!(found.is_some(), "{words:?} was not logged {times} times");
    }
}

impl Drop for Provisioner {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            let shown = &lines[lines.len().saturating_sub(LINES_SHOWN)..];
            eprintln!("--- last lines of the log of {}\n{}\n---", self.id, shown.join("\n"));
        }
    }
}

/// A server without workers of its own, with the catalog of simulated machines.
pub fn server(world: &World, settings: &[&str]) -> Server {
    let mut all = vec![
        format!("simulation.dir={}", world.path().display()),
        "workers.local=0".to_owned(),
        "jobs.retry_delay_ms=20".to_owned(),
        "jobs.max_retry_delay_ms=100".to_owned(),
    ];
    all.extend(settings.iter().map(|setting| (*setting).to_owned()));
    let server = Server::start(&all);
    apply(&server.admin(), &catalog());
    server
}

/// The superadmin's tenant is to have so many workers, as soon as there are so many.
pub fn want_workers(client: &Client, workers: u32) {
    let tenant = json!({"tenant": {"name": "superadmin", "workers": workers}});
    wait_for("room for the workers", LIMIT, || {
        (client.put("/v2/tenants/superadmin", &tenant).status == 200).then_some(())
    });
}

/// What the server knows of a provisioner.
pub fn known(client: &Client, id: &str) -> Option<Value> {
    let answer = client.get(&format!("/v2/provisioners/{id}"));
    (answer.status == 200).then_some(answer.body)
}

/// Waits until a provisioner says that it brings so many workers.
pub fn until_brings(client: &Client, id: &str, workers: u64) {
    wait_for(&format!("{workers} workers of {id}"), LIMIT, || {
        let found = known(client, id)?;
        (found["usage"]["superadmin"].as_u64().unwrap_or(0) == workers).then_some(())
    });
}

/// Asks for a cluster of so many machines.
pub fn create(client: &Client, name: &str, machines: u32) -> String {
    client.create(&json!({"name": name, "clusterTemplate": "sim", "numMachines": machines}))
}

/// Who carried out every attempt of a cluster: task, attempt, worker.
pub fn workers(client: &Client, id: &str) -> Vec<(String, u64, String)> {
    let plans = client.get(&format!("/v2/clusters/{id}/plans")).ok();
    let tasks = plans.as_array().unwrap().iter().flat_map(|plan| plan["tasks"].as_array().unwrap().clone());
    let attempts = tasks.flat_map(|task| {
        let name = task["id"].as_str().unwrap().to_owned();
        task["attempts"].as_array().unwrap().clone().into_iter().map(move |attempt| {
            let worker = attempt["worker"].as_str().unwrap().to_owned();
            (name.clone(), attempt["number"].as_u64().unwrap(), worker)
        })
    });
    attempts.collect()
}

/// Ends everything that runs on the simulated machines, as when the machines die.
pub fn end_runs(world: &Path) {
    let runs = std::fs::read_dir(world.join("runs")).into_iter().flatten().flatten();
    let started = runs.filter(|run| !run.path().join("rc").exists());
    let groups: Vec<String> = started
        .filter_map(|run| std::fs::read_to_string(run.path().join("started")).ok())
        .map(|process| format!("-{}", process.trim()))
        .collect();
    if !groups.is_empty() {
        // One of them may just have ended by itself.
        let _ = Command::new("kill").args(["-TERM", "--"]).args(groups).status();
    }
}
