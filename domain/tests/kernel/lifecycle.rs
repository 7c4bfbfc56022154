//! Runs the case files about the life of a cluster, as far as it needs no server.

use cooperage_domain::cluster::{
    Account, Asking, Catalog, ClusterRequest, ClusterStatus, Command, Effect, Job, Limits, Origins, Refusal,
    create, due, order,
};
use cooperage_domain::id::ClusterId;
use cooperage_domain::plan::stages;
use cooperage_domain::task::TaskReport;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cases::{Case, Verdict, equal, run_all};
use crate::living;
use crate::sketch::Sketch;
use crate::world::{MORNING, World};

#[test]
fn clusters_live_as_the_case_files_say() {
    run_all("kernel/cases", |case| match case.op() {
        "scenario" if Scenario::knows(case) => Some(Scenario::new(case).run()),
        "run_janitor" => Some(run_janitor(case)),
        _ => living::run(case),
    });
}

/// A case being run: a cluster, once it has been asked for, and the task a worker has taken last.
struct Scenario<'a> {
    case: &'a Case,
    catalog: Catalog,
    world: Option<World>,
    taken: Option<(u32, u32)>,
    /// The tasks that several workers have taken at once.
    held: Vec<(u32, u32)>,
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{value}: {e}"))
}

/// The documents of a kind that the case gives.
fn given<T: DeserializeOwned>(case: &Case, kind: &str) -> Vec<T> {
    case.given[kind].as_array().into_iter().flatten().map(read).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn steps(case: &Case) -> impl Iterator<Item = &Value> {
    case.when["steps"].as_array().into_iter().flatten()
}

impl<'a> Scenario<'a> {
    /// Whether all of it is about one cluster that is made here, and its owner.
    fn knows(case: &Case) -> bool {
        const STEPS: [&str; 15] = [
            "create_cluster",
            "wait_for_status",
            "check_status",
            "take_task",
            "finish_task",
            "let_scheduler_queue_tasks",
            "abort",
            "delete_cluster",
            "retry",
            "get_plan",
            "get_plans",
            "pause",
            "resume",
            "take_both_creates",
            "finish_both_creates",
        ];
        let known = |step: &Value| {
            STEPS.contains(&text(&step["do"])) && step["as"].is_null() && step["provisionerId"].is_null()
        };
        case.given["cluster"].is_null() && case.given["callback"].is_null() && steps(case).all(known)
    }

    fn new(case: &'a Case) -> Self {
        let catalog = Catalog {
            provider_types: given(case, "providertypes"),
            providers: given(case, "providers"),
            hardware: given(case, "hardwaretypes"),
            images: given(case, "imagetypes"),
            services: given(case, "services"),
            templates: given(case, "clustertemplates"),
            partials: Vec::new(),
        };
        Self { case, catalog, world: None, taken: None, held: Vec::new() }
    }

    fn run(mut self) -> Verdict {
        for (place, step) in steps(self.case).enumerate() {
            self.step(place, step)
                .map_err(|fault| format!("step {place}, {}: {fault}", text(&step["do"])))?;
        }
        let world = self.world.as_ref().ok_or("no cluster was made")?;
        let expect = &self.case.expect;
        shows(&status(world), &expect["final"])?;
        if let Some(message) = expect["message"].as_str() {
            equal(&world.message(), &message)?;
        }
        if !expect["node_actions"].is_null() {
            equal(&actions(world), &expect["node_actions"])?;
        }
        if !expect["plan"].is_null() {
            shows(&plan(world.job()), &expect["plan"])?;
        }
        if let Some(expected) = expect["plans_newest_first"].as_array() {
            let plans: Vec<Value> = world.cluster.jobs.values().rev().map(|job| plan(job)).collect();
            equal(&plans.len(), &expected.len())?;
            plans.iter().zip(expected).try_for_each(|(plan, expected)| shows(plan, expected))?;
        }
        Ok(())
    }

    fn step(&mut self, place: usize, step: &Value) -> Verdict {
        let then = &step["then"];
        let told = match text(&step["do"]) {
            "create_cluster" => {
                // Planning takes no time here: a step before its end sees the request and nothing more.
                let next = steps(self.case).nth(place + 1).map(|next| text(&next["when"]));
                self.create(step, next == Some("before planning has finished"));
                200
            }
            "take_task" => return self.take(then),
            "finish_task" => {
                self.finish(step)?;
                200
            }
            "take_both_creates" => {
                for _ in 0..2 {
                    self.take(&json!({"taskName": "CREATE"}))?;
                    self.held.extend(self.taken.take());
                }
                200
            }
            "finish_both_creates" => {
                for taken in std::mem::take(&mut self.held) {
                    self.taken = Some(taken);
                    self.finish(&json!({"status": 0}))?;
                }
                200
            }
            "pause" => self.tell(Command::Pause { by: "ann".into() }),
            "resume" => self.tell(Command::Resume { by: "ann".into() }),
            "abort" => self.tell(Command::Abort { by: "ann".into() }),
            "delete_cluster" => self.tell(Command::Delete { now: false, by: "ann".into() }),
            "retry" => self.tell(Command::Retry { by: "ann".into() }),
            _ => 200,
        };
        let world = self.world.as_ref().ok_or("no cluster was made")?;
        let mut found = status(world);
        found["http_status"] = json!(told);
        found["node_actions"] = actions(world);
        shows(&found, then)
    }

    fn create(&mut self, step: &Value, unplanned: bool) {
        let request: ClusterRequest = read(&step["request"]);
        let asking = Asking {
            account: Account { user_id: "ann".into(), tenant_id: "t1".into() },
            id: ClusterId(1),
            seed: Uuid::nil(),
            now: MORNING,
            limits: Limits::default(),
            origins: Origins::default(),
        };
        let accepted = request.accept(&self.catalog, asking).unwrap();
        let nodes = accepted.lay_out(&self.catalog);
        let mut events = create(accepted.order, nodes, MORNING).unwrap();
        if unplanned {
            events.truncate(1);
        }
        let cluster = cooperage_domain::cluster::replay(&events).unwrap();
        self.world = Some(World { cluster, journal: vec![events], now: MORNING });
    }

    fn tell(&mut self, command: Command) -> u16 {
        match self.world.as_mut().unwrap().tell(command) {
            Ok(_) => 200,
            Err(Refusal::WrongState { .. }) => 409,
            Err(_) => 400,
        }
    }

    /// A worker asks for a task, and waits for the end of a pause if need be.
    fn take(&mut self, then: &Value) -> Verdict {
        let world = self.world.as_mut().ok_or("no cluster was made")?;
        let offered = due(&world.cluster).into_iter().find_map(|effect| match effect {
            Effect::Start { task, not_before, .. } => Some((task, not_before)),
            _ => None,
        });
        let Some((task, not_before)) = offered else { return equal(&json!(true), &then["none"]) };
        world.now = world.now.max(not_before);
        world.tell(Command::StartAttempt { task, worker: "w1".into() }).unwrap();
        let attempt = world.job().tasks[&task].open_attempt().unwrap().number;
        self.taken = Some((task, attempt));
        let order = order(&world.cluster, task, attempt).map_err(|fault| fault.to_string())?;
        let found = json!({
            "taskName": order.task_name,
            "config_cluster": order.config.cluster,
            "config_ipaddresses": order.config.node.ipaddresses,
            "node_actions": actions(world),
        });
        shows(&found, then)
    }

    fn finish(&mut self, step: &Value) -> Verdict {
        let (task, attempt) = self.taken.take().ok_or("no task was taken")?;
        let report: TaskReport = read(step);
        let told =
            self.world.as_mut().unwrap().tell(Command::FinishAttempt { task, attempt, report }).map(drop);
        told.map_err(|refusal| refusal.to_string())
    }
}

/// What a request for the status of a cluster answers.
fn status(world: &World) -> Value {
    let mut status = serde_json::to_value(world.cluster.progress()).unwrap();
    status["status"] = json!(world.cluster.status);
    status
}

/// The actions of the first node.
fn actions(world: &World) -> Value {
    let node = world.cluster.nodes.keys().next();
    let actions = node.map(|id| world.cluster.node_actions(id)).unwrap_or_default();
    actions.iter().map(|it| json!([it.action, it.status])).collect()
}

fn plan(job: &Job) -> Value {
    let (graph, numbers) = job.graph();
    let stages: Vec<Vec<usize>> = stages(&graph);
    let is_done = |place: &usize| job.tasks[&numbers[*place]].attempts.iter().any(|a| a.outcome.is_some());
    let current = stages.iter().position(|stage| !stage.iter().all(is_done));
    let task = |place: &usize| {
        let task = &graph.tasks()[*place];
        json!({"taskName": task.name, "service": task.service.clone().unwrap_or_default()})
    };
    let stages: Vec<Vec<Value>> = stages.iter().map(|stage| stage.iter().map(task).collect()).collect();
    json!({"action": job.action.as_upper(), "currentStage": current.unwrap_or_default(), "stages": stages})
}

/// Whether a document shows what is expected of it; the keys that are not expected do not matter.
fn shows(found: &Value, expected: &Value) -> Verdict {
    for (key, expected) in expected.as_object().into_iter().flatten() {
        equal(&found[key], expected).map_err(|fault| format!("{key}: {fault}"))?;
    }
    Ok(())
}

/// Which of the clusters given are to be deleted because their leases have ended.
fn run_janitor(case: &Case) -> Verdict {
    let mut world = World::created(&Sketch::alike("", 1));
    let mut requested = Vec::new();
    for cluster in case.given["clusters"].as_array().unwrap() {
        let offset = cluster["expire_offset_ms"].as_i64();
        world.cluster.expires = offset.map_or(0, |offset| world.now + offset);
        world.cluster.status = read::<ClusterStatus>(&cluster["status"]);
        let now = world.now;
        let ended = |effect: &Effect| matches!(effect, Effect::Expire { at } if *at <= now);
        if due(&world.cluster).iter().any(ended) {
            requested.push(cluster["id"].clone());
        }
    }
    equal(&Value::from(requested), &case.expect["delete_requested"])
}
