//! The three shapes of trouble, for every kind of job: each task fails once, each report comes twice, and the program
//! stops after each event that became durable. All end where a run without trouble ends.

use cooperage_domain::cluster::{
    Cluster, ClusterStatus, Command, Event, NodeStatus, ServiceChange, due, replay,
};
use cooperage_domain::plan::{ClusterAction, Units};
use cooperage_domain::task::TaskName;

use crate::check::check;
use crate::sketch::Sketch;
use crate::world::{World, report};

const SKETCH: &str = "db: install configure initialize start stop\nweb: install start stop | db\nn1 = db\nn2 = web\nn3 = db web";

fn creating() -> World {
    World::new(&Sketch::new(SKETCH))
}

fn created() -> World {
    World::created(&Sketch::new(SKETCH))
}

fn deleting() -> World {
    let mut world = created();
    world.delete().unwrap();
    world
}

fn configuring(restart: bool) -> World {
    let mut world = created();
    world.configure(restart).unwrap();
    world
}

fn changing(mut world: World, change: ServiceChange) -> World {
    world.change(change, "").unwrap();
    world
}

fn adding() -> World {
    let mut world = created();
    world.add(&["log", "app"], "log: install start\napp: install configure start | log db").unwrap();
    world
}

const JOBS: [fn() -> World; 8] = [
    creating,
    deleting,
    || configuring(false),
    || configuring(true),
    || changing(created(), ServiceChange::Stop),
    || changing(created().changed(ServiceChange::Stop, ""), ServiceChange::Start),
    || changing(created(), ServiceChange::Restart),
    adding,
];

/// What a cluster is in the end, whatever the way there.
fn end(cluster: &Cluster) -> (ClusterStatus, Units, Vec<NodeStatus>) {
    let nodes = cluster.nodes.values().map(|node| cluster.node_status(node)).collect();
    (cluster.status, cluster.units.clone(), nodes)
}

#[test]
fn a_failure_of_any_task_leaves_no_trace_in_the_end() {
    for start in JOBS.map(|job| job()) {
        let mut smooth = start.clone();
        let tasks: Vec<u32> = smooth.job().tasks.keys().copied().collect();
        smooth.run_all();
        for failing in tasks {
            for code in [1, 250, -1] {
                let mut world = start.clone();
                world.run_with(
                    |task| {
                        if task.id.number == failing && task.attempts.len() == 1 { code } else { 0 }
                    },
                );
                assert_eq!(end(&world.cluster), end(&smooth.cluster), "task {failing}, code {code}");
                let confirm = world.job().tasks[&failing].name == TaskName::Confirm;
                let more = if confirm { 2 } else { 0 };
                assert_eq!(world.job().tasks.len(), smooth.job().tasks.len() + more);
            }
        }
    }
}

#[test]
fn a_task_that_keeps_failing_stops_the_job_and_a_second_request_ends_it() {
    for start in JOBS.map(|job| job()) {
        let (status, again): (_, fn(String) -> Command) = match start.job().action {
            ClusterAction::ClusterCreate => (ClusterStatus::Incomplete, |by| Command::Retry { by }),
            ClusterAction::ClusterDelete => {
                (ClusterStatus::Incomplete, |by| Command::Delete { now: false, by })
            }
            _ => (ClusterStatus::Inconsistent, |by| Command::Retry { by }),
        };
        let mut smooth = start.clone();
        let tasks: Vec<u32> = smooth.job().tasks.keys().copied().collect();
        smooth.run_all();
        for failing in tasks {
            let mut world = start.clone();
            world.run_with(|task| i64::from(task.id.number == failing));
            assert_eq!(world.cluster.status, status, "task {failing}");
            world.tell(again("ann".into())).unwrap();
            world.run_all();
            assert_eq!(end(&world.cluster), end(&smooth.cluster), "task {failing}");
        }
    }
}

#[test]
fn a_report_that_comes_twice_counts_once() {
    for start in JOBS.map(|job| job()) {
        let mut smooth = start.clone();
        smooth.run_all();
        let mut world = start.clone();
        while let Some(label) = world.ready().first().cloned() {
            let (task, attempt) = world.start(&label);
            world.finish(&label, 0);
            for code in [0, 1] {
                let before = world.cluster.clone();
                let again = Command::FinishAttempt { task, attempt, report: report(code) };
                assert!(world.tell(again).is_err(), "{label}");
                assert_eq!(world.cluster, before, "{label}");
            }
        }
        assert_eq!(world.cluster, smooth.cluster);
    }
}

#[test]
fn the_program_may_stop_after_anything_that_is_durable() {
    for start in JOBS.map(|job| job()) {
        let mut smooth = start.clone();
        // With a machine made anew and a repeated task on the way.
        let trouble = |task: &cooperage_domain::cluster::Task| {
            use TaskName::{Configure, Confirm, Delete, Stop};
            i64::from(task.attempts.len() == 1 && matches!(task.name, Configure | Confirm | Delete | Stop))
        };
        smooth.run_with(trouble);
        for stop in start.journal.len()..smooth.journal.len() {
            let kept = smooth.journal[..stop].to_vec();
            let cluster = replay(kept.iter().flatten()).unwrap();
            check(&cluster);
            let mut world = World { cluster, journal: kept, now: smooth.now };
            assert!(!due(&world.cluster).is_empty(), "something is due at {stop}");
            world.run_with(trouble);
            assert_eq!(end(&world.cluster), end(&smooth.cluster), "stopped after {stop}");
        }
    }
}

#[test]
fn what_is_decided_together_is_only_seen_together() {
    // The journal keeps the events of one decision as a whole, so no reader ever sees an open job with nothing due.
    for events in &deleting().journal {
        let ends = events.iter().position(|event| matches!(event, Event::JobEnded { .. }));
        assert!(ends.is_none_or(|place| place + 1 == events.len()));
    }
}
