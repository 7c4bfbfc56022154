//! Journals of earlier versions are read for ever: `journals/version-N.json` holds one, and what its cluster was in the
//! end. The file of the present version is written anew with `UPDATE_GOLDEN=1`, those of earlier ones never.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use cooperage_domain::cluster::{
    CareChange, Cluster, ClusterStatus, Command, EVENT_VERSION, Event, OnFailure, Rollout, ServiceChange,
    create, replay,
};
use cooperage_domain::id::ClusterId;
use cooperage_domain::layout::NoLayout;
use cooperage_domain::task::TaskName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::check;
use crate::family;
use crate::sketch::Sketch;
use crate::world::{MORNING, World};

/// The journal of one cluster, and what is known of its end.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    name: String,
    status: ClusterStatus,
    jobs: usize,
    attempts: usize,
    events: Vec<Value>,
}

fn file(version: u32) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/kernel/journals", &format!("version-{version}.json")].iter().collect()
}

fn journal(name: &str, world: &World) -> Journal {
    Journal {
        name: name.to_owned(),
        status: world.cluster.status,
        jobs: world.cluster.jobs.len(),
        attempts: attempts(&world.cluster),
        events: world.journal.iter().flatten().map(|event| serde_json::to_value(event).unwrap()).collect(),
    }
}

fn attempts(cluster: &Cluster) -> usize {
    cluster.jobs.values().flat_map(|job| job.tasks.values()).map(|task| task.attempts.len()).sum()
}

/// Journals in which every kind of event occurs.
fn journals() -> Vec<Journal> {
    let sketch = Sketch::new("db: install start\nweb: start | db\nn1 = db\nn2 = web");
    let mut troubled = World::new(&sketch);
    troubled.run_with(|task| i64::from(task.attempts.len() == 1));
    troubled.delete().unwrap();
    troubled.run_all();
    let mut failed = World::new(&sketch);
    failed.run_with(|_| 250);
    let mut aborted = World::new(&sketch);
    aborted.run("n1:CREATE", 0);
    aborted.abort().unwrap();
    let refused = World::of(create(sketch.order(), Err(NoLayout { reasons: Vec::new() }), MORNING).unwrap());
    let changed = changed(&sketch);
    vec![
        journal("built upon another one, and built upon", &family()),
        journal("resized, upgraded, probed, cancelled and undone", &operated()),
        journal("created, changed in every way, and deleted", &changed),
        journal("created with every task failing once, and deleted", &troubled),
        journal("refused by the provider", &failed),
        journal("aborted", &aborted),
        journal("without a layout", &refused),
    ]
}

/// A cluster to which everything is done that can be done to one that lives.
fn changed(sketch: &Sketch) -> World {
    let mut world = World::new(sketch);
    world.pause().unwrap();
    world.resume().unwrap();
    world.run_all();
    world.change(ServiceChange::Stop, "db").unwrap();
    world.run_all();
    world.change(ServiceChange::Restart, "web").unwrap();
    world.run_all();
    world.add(&["log"], "log: install start").unwrap();
    world.run_failing(TaskName::Install, 1);
    world.configure(true).unwrap();
    world.run_all();
    world.prolong(MORNING + 3_600_000).unwrap();
    world.now = world.now.max(MORNING + 3_300_000);
    world.tell(Command::WarnOfExpiry).unwrap();
    let template = Box::new(world.cluster.template.clone());
    world.tell(Command::SyncTemplate { template, by: "ann".into() }).unwrap();
    let maintenance =
        |reason: Option<&str>| CareChange::Maintenance { node: None, reason: reason.map(str::to_owned) };
    for change in [maintenance(Some("new disks")), maintenance(None)] {
        world.tell(Command::Care { changes: vec![change], by: "ann".into() }).unwrap();
    }
    world.delete().unwrap();
    world.run_all();
    world
}

/// A cluster whose parent publishes something else, and which carries another one for a while.
fn family() -> World {
    let mut world = World::created(&family::shop());
    let (child, needs) = (ClusterId(9), BTreeSet::from(["app".to_owned()]));
    world.tell(Command::Adopt { child, name: "top".into(), needs }).unwrap();
    world.tell(Command::Inherit { from: family::BASE, lineage: family::base("10.0.0.2", 5432) }).unwrap();
    world.run_all();
    world.tell(Command::Release { child }).unwrap();
    world
}

/// A cluster whose wanted state was changed, and changed back.
fn operated() -> World {
    let mut world = World::created(&Sketch::alike("install configure start stop probe", 2));
    world.tell(Command::Converge { mend: true, by: "ann".into() }).unwrap();
    world.run_with(|task| i64::from(task.name == TaskName::Probe));
    let mut config = world.cluster.config.clone();
    config.insert("key".into(), "newer".into());
    let rollout = Some(Rollout { canary: 1, on_failure: OnFailure::Pause, hold: 5, ..Rollout::default() });
    world
        .tell(Command::Reconfigure {
            config,
            nodes: std::collections::BTreeMap::new(),
            rollout,
            by: "ann".into(),
        })
        .unwrap();
    world.run_with(|task| i64::from(task.name == TaskName::Probe));
    world.tell(Command::Cancel { undo: true, by: "ann".into() }).unwrap();
    world.run_all();
    world.delete().unwrap();
    world.tell(Command::Delete { now: true, by: "ann".into() }).unwrap();
    world.run_all();
    world
}

/// What is kept of a version; the present one is written first when that is asked for.
fn kept(version: u32) -> Vec<Journal> {
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| {
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(file(EVENT_VERSION), text(&journals())).unwrap();
        }
    });
    serde_json::from_str(&fs::read_to_string(file(version)).unwrap()).unwrap()
}

/// JSON with one event per line.
fn text(journals: &[Journal]) -> String {
    let one = |journal: &Journal| {
        let events: Vec<String> = journal.events.iter().map(Value::to_string).collect();
        let head = Journal { name: journal.name.clone(), events: Vec::new(), ..*journal };
        let head = serde_json::to_string(&head).unwrap();
        head.replace(r#""events":[]"#, &format!("\"events\":[\n{}\n]", events.join(",\n")))
    };
    format!("[{}]\n", journals.iter().map(one).collect::<Vec<_>>().join(",\n"))
}

#[test]
fn journals_of_every_version_are_read() {
    for version in 1..=EVENT_VERSION {
        for journal in kept(version) {
            let read = |event: &Value| serde_json::from_value::<Event>(event.clone()).unwrap();
            let events: Vec<Event> = journal.events.iter().map(read).collect();
            let cluster = replay(&events).unwrap();
            check(&cluster);
            let found = (cluster.status, cluster.jobs.len(), attempts(&cluster));
            assert_eq!(
                found,
                (journal.status, journal.jobs, journal.attempts),
                "{version}: {}",
                journal.name
            );
        }
    }
}

#[test]
fn events_are_written_as_their_version_says() {
    for (now, then) in journals().iter().zip(&kept(EVENT_VERSION)) {
        assert_eq!(
            now.events, then.events,
            "{}: events of version {EVENT_VERSION} look different now: raise EVENT_VERSION, or UPDATE_GOLDEN=1 if \
             none was ever stored",
            now.name
        );
    }
}

#[test]
fn every_kind_of_event_is_among_them() {
    let journals = journals();
    let has = |key: &str, value: &str| {
        let within = |event: &Value| event[key] == value || event["next"][key] == value;
        assert!(journals.iter().flat_map(|it| &it.events).any(within), "{value}");
    };
    for kind in [
        "cluster_requested",
        "layout_found",
        "layout_refused",
        "job_planned",
        "services_wanted",
        "services_added",
        "config_replaced",
        "template_replaced",
        "lease_changed",
        "care_changed",
        "job_paused",
        "job_resumed",
        "attempt_started",
        "task_succeeded",
        "task_failed",
        "job_failed",
        "job_ended",
        "job_extended",
        "wanted_changed",
        "follow_up_set",
        "unit_probed",
        "child_adopted",
        "child_released",
        "inherited",
    ] {
        has("event", kind);
    }
    for next in ["repeat", "recreate", "give_up"] {
        has("next", next);
    }
}

#[test]
fn limits_that_an_old_cluster_does_not_know_have_their_defaults() {
    let mut event = serde_json::to_value(&World::new(&Sketch::alike("", 1)).journal[0][0]).unwrap();
    event["order"]["limits"] = serde_json::json!({"max_attempts": 5});
    let cluster = replay(&[serde_json::from_value(event).unwrap()]).unwrap();
    assert_eq!((cluster.limits.max_attempts, cluster.limits.task_timeout), (5, 1_800_000));
}
