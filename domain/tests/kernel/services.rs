//! Rules of starting, stopping and restarting services.

use cooperage_domain::cluster::ServiceChange::{Restart, Start, Stop};
use cooperage_domain::cluster::{ClusterStatus, JobStatus, Refusal, ServiceChange};
use cooperage_domain::plan::ClusterAction;
use cooperage_domain::plan::Observed::{Started, Stopped};
use cooperage_domain::plan::Wanted;
use cooperage_domain::task::TaskName;

use crate::sketch::Sketch;
use crate::world::World;

/// Three services, each of which needs the one before it.
const TOWER: &str = "db: start stop\nmid: start stop | db\nweb: start stop | mid\nn1 = db\nn2 = mid web";

fn tower() -> World {
    World::created(&Sketch::new(TOWER))
}

/// The tasks that a change plans, sorted by number.
fn planned(world: &World, change: ServiceChange, service: &str) -> Vec<String> {
    let mut world = world.clone();
    world.change(change, service).unwrap();
    world.planned()
}

#[test]
fn a_change_takes_along_what_the_service_needs_or_what_needs_it() {
    for (change, service, expected) in [
        (Stop, "mid", vec!["n2:STOP:web", "n2:STOP:mid"]),
        (Stop, "", vec!["n2:STOP:web", "n2:STOP:mid", "n1:STOP:db"]),
        (Start, "mid", vec!["n1:START:db", "n2:START:mid"]),
        (Start, "", vec!["n1:START:db", "n2:START:mid", "n2:START:web"]),
        (Restart, "web", vec!["n2:STOP:web", "n2:START:mid", "n2:START:web"]),
        (
            Restart,
            "db",
            vec!["n2:STOP:web", "n2:STOP:mid", "n1:STOP:db", "n1:START:db", "n2:START:mid", "n2:START:web"],
        ),
    ] {
        let mut found = planned(&tower(), change, service);
        let mut expected = expected;
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{change:?} {service}");
    }
}

#[test]
fn they_go_down_from_the_top_and_come_up_from_the_bottom() {
    let mut world = tower();
    world.change(Restart, "db").unwrap();
    for step in ["n2:STOP:web", "n2:STOP:mid", "n1:STOP:db", "n1:START:db", "n2:START:mid", "n2:START:web"] {
        assert_eq!(world.ready(), [step]);
        world.run(step, 0);
    }
    assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 6, 6));
    assert_eq!(world.job().action, ClusterAction::RestartServices);
}

#[test]
fn what_is_wanted_and_what_is_known_follow() {
    let world = tower().changed(Stop, "mid");
    assert_eq!(world.unit("n1/db"), (Started, Wanted::Running));
    assert_eq!(world.unit("n2/mid"), (Stopped, Wanted::Stopped));
    assert_eq!(world.unit("n2/web"), (Stopped, Wanted::Stopped));
    let world = world.changed(Start, "mid");
    assert_eq!(world.unit("n2/mid"), (Started, Wanted::Running));
    assert_eq!(world.unit("n2/web"), (Stopped, Wanted::Stopped));
}

#[test]
fn what_was_stopped_is_only_started_on_request() {
    let stopped = || tower().changed(Stop, "web");
    let mut world = stopped();
    world.configure(true).unwrap();
    assert!(!world.planned().iter().any(|task| task.ends_with("START:web")), "{:?}", world.planned());
    world.run_failing(TaskName::Bootstrap, 1);
    world.retry().unwrap();
    assert!(!world.planned().iter().any(|task| task.ends_with("START:web")), "{:?}", world.planned());
    world.run_all();
    assert_eq!(world.unit("n2/web"), (Stopped, Wanted::Stopped));
    // Nor is it when something it needs is restarted.
    let world = stopped().changed(Restart, "db");
    assert_eq!(world.unit("n2/web"), (Stopped, Wanted::Stopped));
    assert_eq!(world.unit("n2/mid"), (Started, Wanted::Running));
}

#[test]
fn a_service_that_is_named_is_stopped_and_started_wherever_it_is() {
    // It may have died, or somebody may have started it by hand.
    let stopped = tower().changed(Stop, "web");
    assert_eq!(planned(&stopped, Stop, "web"), ["n2:STOP:web"]);
    assert_eq!(planned(&stopped, Restart, "web"), ["n2:START:mid", "n2:STOP:web", "n2:START:web"]);
    assert_eq!(planned(&tower(), Start, "db"), ["n1:START:db"]);
    let restarted = stopped.changed(Restart, "web");
    assert_eq!(restarted.unit("n2/web"), (Started, Wanted::Running));
}

#[test]
fn a_restart_brings_up_all_that_the_service_needs() {
    let mut world = tower().changed(Stop, "db");
    world.change(Restart, "web").unwrap();
    for step in ["n2:STOP:web", "n1:START:db", "n2:START:mid", "n2:START:web"] {
        assert!(world.ready().iter().any(|it| it == step), "{step}: {:?}", world.ready());
        world.run(step, 0);
    }
    assert_eq!(world.cluster.status, ClusterStatus::Active);
    for unit in ["n1/db", "n2/mid", "n2/web"] {
        assert_eq!(world.unit(unit), (Started, Wanted::Running), "{unit}");
    }
}

#[test]
fn without_tasks_it_is_complete_at_once() {
    let mut world = World::created(&Sketch::alike("install", 2));
    for change in [Start, Stop, Restart] {
        world.change(change, "web").unwrap();
        assert_eq!(world.standing(), (ClusterStatus::Active, JobStatus::Complete, 0, 0), "{change:?}");
    }
}

#[test]
fn a_task_that_fails_for_good_leaves_the_cluster_inconsistent_and_a_retry_ends_it() {
    for (change, fails, left) in [
        (Start, "db", vec!["n1:START:db", "n2:START:mid", "n2:START:web"]),
        (Start, "web", vec!["n2:START:web"]),
        (Stop, "db", vec!["n1:STOP:db"]),
        (Restart, "mid", vec!["n1:STOP:db", "n1:START:db", "n2:STOP:mid", "n2:START:mid", "n2:START:web"]),
    ] {
        let mut world = tower();
        world.change(change, "").unwrap();
        world.run_with(|task| i64::from(task.service.as_deref() == Some(fails)));
        assert_eq!(world.cluster.status, ClusterStatus::Inconsistent, "{change:?} {fails}");
        world.retry().unwrap();
        let (mut found, mut left) = (world.planned(), left);
        found.sort_unstable();
        left.sort_unstable();
        assert_eq!(found, left, "{change:?} {fails}");
        world.run_all();
        assert_eq!(world.cluster.status, ClusterStatus::Active);
        assert_eq!(world.cluster.units, tower().changed(change, "").cluster.units, "{change:?} {fails}");
    }
}

#[test]
fn a_service_that_is_not_there_is_refused_whatever_the_cluster_is() {
    let mut terminated = tower();
    terminated.delete().unwrap();
    terminated.run_all();
    for mut world in [tower(), World::new(&Sketch::new(TOWER)), terminated] {
        let refusal = world.change(Stop, "fake").unwrap_err();
        assert!(
            matches!(&refusal, Refusal::UnknownService { service, .. } if service == "fake"),
            "{refusal}"
        );
    }
}

#[test]
fn only_an_active_cluster_takes_them() {
    for (status, remedy) in [
        (ClusterStatus::Pending, "wait"),
        (ClusterStatus::Incomplete, "retry"),
        (ClusterStatus::Inconsistent, "configure"),
        (ClusterStatus::Terminated, "create another"),
    ] {
        let mut world = tower();
        world.cluster.status = status;
        for (change, service) in [(Start, ""), (Stop, "web"), (Restart, "db")] {
            let refusal = world.change(change, service).unwrap_err();
            assert!(matches!(refusal, Refusal::WrongState { .. }), "{refusal}");
            assert!(refusal.to_string().contains(remedy), "{refusal}");
        }
    }
}
