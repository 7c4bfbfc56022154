//! Kills of the server while it creates and deletes clusters.

use std::thread::JoinHandle;
use std::time::Duration;

use cooperage_domain::task::TaskName;
use cooperage_plugins::simulated::{Fault, Scenario};
use serde_json::{Value, json};

use crate::lab::{Client, Server, apply, wait_for, within};
use crate::random::Random;
use crate::world::{World, catalog};
use crate::{journal, postgres};

/// Longest time a job may take, kills included.
const LIMIT: Duration = Duration::from_secs(60);
/// Kills lie at most so far behind the line of the log they wait for.
const JITTER_MS: u64 = 40;

#[test]
fn on_sqlite_clusters_survive_kills_at_any_moment() {
    let mut survival = Survival::new(Vec::new());
    (0..20).for_each(|round| survival.round(round));
    let database = survival.server.data_dir().join("cooperage.db");
    survival.finish(database.to_str().unwrap());
}

#[test]
fn on_postgresql_clusters_survive_kills_at_any_moment() {
    let url = postgres::SHARED.new_database();
    let mut survival = Survival::new(vec![format!("database.url={url}")]);
    (0..5).for_each(|round| survival.round(round));
    survival.finish(&url);
}

/// One server, its machines, and what becomes of them.
struct Survival {
    world: World,
    server: Server,
    random: Random,
}

impl Survival {
    fn new(mut settings: Vec<String>) -> Self {
        let world = World::new();
        settings.push(format!("simulation.dir={}", world.path().display()));
        settings.extend(["jobs.retry_delay_ms=20", "jobs.max_retry_delay_ms=100"].map(str::to_owned));
        let server = Server::start(&settings);
        apply(&server.admin(), &catalog());
        Self { world, server, random: Random::new() }
    }

    /// A cluster is created and deleted, with kills in between.
    fn round(&mut self, round: u64) {
        let machines = 2 + self.random.below(4);
        let (faults, expected) = self.faults(round);
        let seed = self.random.next();
        self.world.play(&Scenario { seed, shortest_ms: 5, longest_ms: 60, faults });
        let name = format!("round{round}");
        println!("{name}: {machines} machines, ends {expected}");
        let request = json!({"name": name, "clusterTemplate": "sim", "numMachines": machines});

        let id = self.create_with_kills(&name, &request);
        self.check(&id, expected);
        if expected == "active" {
            assert_eq!(self.world.machines(), self.nodes(&id), "machines of {id}");
        }
        self.world.play(&Scenario { seed, shortest_ms: 5, longest_ms: 60, faults: Vec::new() });
        self.delete_with_kills(&id, machines);
        self.check(&id, "terminated");
        assert_eq!(self.world.machines(), Default::default(), "machines left by {id}");
    }

    /// What goes wrong in a round besides the kills, and how its create ends.
    fn faults(&mut self, round: u64) -> (Vec<Fault>, &'static str) {
        let node = Some(1000 + u32::try_from(self.random.below(2)).unwrap());
        let fault =
            |task, attempts, code| vec![Fault { task: Some(task), node, service: None, attempts, code }];
        match round % 6 {
            1 => (fault(TaskName::Create, 1, 1), "active"),
            2 => (fault(TaskName::Confirm, 1, 1), "active"),
            3 => (fault(TaskName::Install, 2, 5), "active"),
            4 => (fault(TaskName::Create, 1, 200), "active"),
            5 => (fault(TaskName::Configure, 99, 7), "incomplete"),
            _ => (Vec::new(), "active"),
        }
    }

    fn create_with_kills(&mut self, name: &str, request: &Value) -> String {
        let preview = self.server.admin().post("/v2/clusters?dryRun=true", request).ok();
        let moments = self.moments(preview["tasks"].as_u64().unwrap());
        let (client, name, request) = (self.server.admin(), name.to_owned(), request.clone());
        let asking = std::thread::spawn(move || create_at_last(&client, &name, &request));
        moments.into_iter().for_each(|moment| self.kill_at(moment, &asking));
        asking.join().unwrap()
    }

    fn delete_with_kills(&mut self, id: &str, machines: u64) {
        let moments = self.moments(machines);
        let (client, id) = (self.server.admin(), id.to_owned());
        let asking = std::thread::spawn(move || delete_at_last(&client, &id));
        moments.into_iter().for_each(|moment| self.kill_at(moment, &asking));
        asking.join().unwrap();
    }

    /// When to kill: at so many lines of the log beyond those there are now, and so many ms after it.
    fn moments(&mut self, tasks: u64) -> Vec<(usize, Duration)> {
        let now = self.world.log_length();
        let kills = 1 + self.random.below(3);
        let mut lines: Vec<usize> =
            (0..kills).map(|_| now + usize::try_from(self.random.below(2 * tasks)).unwrap()).collect();
        lines.sort_unstable();
        lines.into_iter().map(|line| (line, Duration::from_millis(self.random.below(JITTER_MS)))).collect()
    }

    /// Kills the server at this moment, or when nothing is left to do, and starts it again.
    fn kill_at<T>(&mut self, (line, pause): (usize, Duration), asking: &JoinHandle<T>) {
        let client = self.server.admin();
        wait_for("the moment to kill", LIMIT, || {
            let idle = || {
                let pending = client.get("/v2/clusters?status=pending").ok();
                asking.is_finished() && pending.as_array().is_some_and(Vec::is_empty)
            };
            (self.world.log_length() >= line || idle()).then_some(())
        });
        std::thread::sleep(pause);
        self.server.kill();
        self.server.run();
    }

    /// The cluster has ended as it would have without kills, and nothing was done twice, at once, or too early.
    fn check(&mut self, id: &str, expected: &str) {
        let client = self.server.admin();
        let settled = within(LIMIT, || {
            let status = client.get(&format!("/v2/clusters/{id}/status")).ok()["status"].clone();
            (status != "pending").then_some(status)
        });
        // First what was done, since it explains why a job does not end.
        self.world.check_executions();
        assert_eq!(settled, Some(expected.into()), "{:#}", client.cluster(id)["message"]);
        let plans = client.get(&format!("/v2/clusters/{id}/plans")).ok();
        self.world.check_plans(plans.as_array().unwrap());
    }

    fn nodes(&self, id: &str) -> std::collections::BTreeSet<String> {
        let cluster = self.server.admin().cluster(id);
        let nodes = cluster["nodes"].as_array().unwrap().iter();
        nodes.map(|node| node["id"].as_str().unwrap().to_owned()).collect()
    }

    /// A replay of the journals gives the state that was: shown by another start, and in the database.
    fn finish(mut self, url: &str) {
        let client = self.server.admin();
        let shown = |client: &Client| -> Vec<Value> {
            let clusters = client.get("/v2/clusters").ok();
            let ids = clusters.as_array().unwrap().iter().map(|cluster| cluster["id"].as_str().unwrap());
            let one = |id: &str| {
                let mut plans = client.get(&format!("/v2/clusters/{id}/plans")).ok();
                plans.as_array_mut().unwrap().iter_mut().for_each(forget_predictions);
                json!([client.cluster(id), plans])
            };
            ids.map(one).collect()
        };
        let before = shown(&client);
        self.server.kill();
        self.server.run();
        assert_eq!(shown(&client), before);
        self.server.stop();
        journal::check(url);
    }
}

/// Predictions learn from every task that has ended since.
fn forget_predictions(plan: &mut Value) {
    let plan = plan.as_object_mut().unwrap();
    plan.retain(|key, _| key != "predictedMs" && key != "criticalPath");
    for task in plan["tasks"].as_array_mut().unwrap() {
        task.as_object_mut().unwrap().remove("estimateMs");
    }
}

/// Asks until there is such a cluster: answers get lost with the server, and so do requests.
fn create_at_last(client: &Client, name: &str, request: &Value) -> String {
    wait_for("a cluster", LIMIT, || {
        let clusters = client.try_ask("GET", "/v2/clusters", Vec::new())?.ok();
        let found = clusters.as_array().unwrap().iter().find(|cluster| cluster["name"] == name);
        let found = found.map(|cluster| cluster["id"].clone());
        let ask = || {
            let answer =
                client.try_ask("POST", "/v2/clusters?strict=true", request.to_string().into_bytes())?;
            Some(answer.ok()["id"].clone())
        };
        Some(found.or_else(ask)?.as_str().unwrap().to_owned())
    })
}

/// Asks until the delete is under way or over. When an answer got lost, what was asked for may be under way already.
fn delete_at_last(client: &Client, id: &str) {
    let mut lost = false;
    wait_for("the delete", LIMIT, || {
        let answer = client.try_ask("DELETE", &format!("/v2/clusters/{id}"), Vec::new());
        let accepted = answer.as_ref().map(|answer| answer.status == 200 || lost && answer.status == 409);
        assert_ne!(accepted, Some(false), "{answer:?}");
        lost |= accepted.is_none();
        accepted.map(drop)
    });
}
