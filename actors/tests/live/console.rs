//! The actors as somebody sees them who looks, and what a hand on them does.

use std::time::Duration;

use cooperage_actors::console::{ActorState, Cause, Fault, Filter, Outcome, SwitchError, caused};
use cooperage_domain::cluster::{ClusterStatus, Event};

use crate::create::SHOP;
use crate::lab::eventually;
use crate::rig::{Rig, Settings, live};
use crate::sketch::Sketch;

const CLUSTER: &str = "/clusters/00000001";
const LONG: Duration = Duration::from_secs(600);

impl Rig {
    fn state_of(&self, path: &str) -> Option<ActorState> {
        self.console.sample(path).iter().rfind(|it| &*it.path == path).map(|it| it.state)
    }

    /// Makes a cluster, which comes as far as this task and does not get on.
    async fn hold_at(&self, task: &str, sketch: &str) {
        self.lab.hold(&[task]);
        self.create(1, &Sketch::new(sketch)).await;
        self.lab.until_begun(task, 1).await;
    }

    fn each_ran_once(&self) {
        let executions = self.lab.executions();
        assert!(executions.values().all(|&times| times == 1), "{executions:?}");
    }
}

#[test]
fn the_tree_has_every_actor_and_counts_what_it_does() {
    live(Settings::default(), async |rig| {
        rig.hold_at("n1:CONFIRM", SHOP).await;
        let _look = rig.console.look();
        let paths: Vec<String> = rig.console.sample("/").iter().map(|it| it.path.to_string()).collect();
        for path in ["/registry", "/janitor", "/provisioner", "/health", "/pools/t1", CLUSTER] {
            assert!(paths.iter().any(|it| it == path), "{path} in {paths:?}");
        }
        assert_eq!(rig.console.sample(CLUSTER).iter().filter(|it| it.kind == "Node").count(), 3);
        rig.lab.release("n1:CONFIRM");
        rig.until(1, 1, ClusterStatus::Active).await;
        let cluster = rig.console.sample(CLUSTER).swap_remove(0);
        assert!(cluster.handled >= 20 && cluster.busy_ns > 0, "{cluster:?}");
        assert_eq!((cluster.kind, cluster.state, cluster.restarts), ("Cluster", ActorState::Running, 0));
        rig.assert_quiet().await;
    });
}

#[test]
fn a_paused_cluster_takes_nothing_and_goes_on_when_it_is_resumed() {
    live(Settings::default(), async |rig| {
        rig.hold_at("n1:CREATE", "web: start\nn1 = web").await;
        rig.console.pause(CLUSTER, LONG).unwrap();
        rig.lab.release("n1:CREATE");
        eventually("a report to wait", async || {
            (rig.console.sample(CLUSTER).iter().any(|it| it.kind == "Cluster" && it.waiting > 0))
                .then_some(())
        })
        .await;
        assert_eq!(rig.state_of(CLUSTER), Some(ActorState::Paused));
        assert_eq!(rig.lab.begun(), ["n1:CREATE"], "nothing goes on");
        rig.console.resume(CLUSTER).unwrap();
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.each_ran_once();
        rig.assert_quiet().await;
    });
}

#[test]
fn a_pause_ends_by_itself_at_its_limit() {
    live(Settings::default(), async |rig| {
        rig.hold_at("n1:CREATE", "web: start\nn1 = web").await;
        rig.console.pause(CLUSTER, Duration::from_millis(50)).unwrap();
        rig.lab.release("n1:CREATE");
        rig.until(1, 1, ClusterStatus::Active).await;
        assert_eq!(rig.console.resume(CLUSTER), Err(SwitchError::NotPaused(CLUSTER.to_owned())));
        rig.assert_quiet().await;
    });
}

#[test]
fn a_restart_while_tasks_run_loses_and_repeats_nothing() {
    live(Settings::default(), async |rig| {
        rig.lab.hold(&["n1:CONFIRM", "n2:CONFIRM"]);
        rig.create(1, &Sketch::new(SHOP)).await;
        rig.lab.until_begun("n1:CONFIRM", 1).await;
        rig.lab.until_begun("n2:CONFIRM", 1).await;
        let node = rig.console.sample(CLUSTER).iter().find(|it| it.kind == "Node").unwrap().path.clone();
        assert_eq!(&*rig.console.restart(&node).unwrap(), CLUSTER, "a node ends with its cluster");
        rig.log.until(1, &["a cluster failed and is started again"]).await;
        rig.lab.release("n1:CONFIRM");
        rig.lab.release("n2:CONFIRM");
        let cluster = rig.until(1, 1, ClusterStatus::Active).await;
        rig.each_ran_once();
        let started = |event: &&Event| matches!(event, Event::AttemptStarted { .. });
        assert_eq!(rig.events(1).iter().filter(started).count(), cluster.latest_job().unwrap().tasks.len());
        let seen = rig.console.sample(CLUSTER).swap_remove(0);
        assert_eq!((seen.restarts, seen.last_error), (1, None), "it did not fail");
        assert!(matches!(rig.console.restart("/registry"), Err(SwitchError::NotStartedAgain { .. })));
        rig.assert_quiet().await;
    });
}

#[test]
fn a_crash_that_was_asked_for_is_survived_and_told() {
    live(Settings::default(), async |rig| {
        rig.hold_at("n1:CREATE", "web: start\nn1 = web").await;
        rig.console.inject(CLUSTER, Fault::Crash).unwrap();
        rig.lab.release("n1:CREATE");
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.each_ran_once();
        let seen = rig.console.sample(CLUSTER).swap_remove(0);
        assert_eq!(seen.restarts, 1);
        assert!(seen.last_error.is_some_and(|it| it.contains("made to break over")), "it is told why");
        rig.assert_quiet().await;
    });
}

#[test]
fn a_delayed_message_and_those_behind_it_come_later_in_their_order() {
    live(Settings::default(), async |rig| {
        rig.hold_at("n1:CREATE", "web: start\nn1 = web").await;
        let mut tail = rig.console.follow(Filter { under: Some(CLUSTER.to_owned()), cause: None });
        rig.console.inject(CLUSTER, Fault::Delay(Duration::from_millis(80))).unwrap();
        rig.lab.release("n1:CREATE");
        rig.until(1, 1, ClusterStatus::Active).await;
        let delayed = loop {
            let message = tail.next().await.unwrap();
            if message.delayed {
                break message;
            }
        };
        assert!(delayed.waited_ns.unwrap() >= 80_000_000, "{delayed:?}");
        assert_eq!((delayed.kind, &*delayed.to), ("Report", CLUSTER));
        rig.assert_quiet().await;
    });
}

#[test]
fn a_lost_message_leaves_work_undone_until_a_restart_takes_it_up() {
    live(Settings::default(), async |rig| {
        rig.hold_at("n1:CREATE", "web: start\nn1 = web").await;
        let mut tail = rig.console.follow(Filter { under: Some(CLUSTER.to_owned()), cause: None });
        rig.console.inject(CLUSTER, Fault::Drop).unwrap();
        rig.lab.release("n1:CREATE");
        while tail.next().await.unwrap().outcome != Outcome::Dropped {}
        rig.console.restart(CLUSTER).unwrap();
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.each_ran_once();
        rig.assert_quiet().await;
    });
}

#[test]
fn messages_are_followed_by_the_request_that_led_to_them_through_pool_journal_and_plugin() {
    live(Settings::default(), async |rig| {
        rig.create(2, &Sketch::new("web: start\nm1 = web")).await;
        rig.until(2, 1, ClusterStatus::Active).await;
        let mut tail = rig.console.follow(Filter { under: None, cause: Some("r-1".to_owned()) });
        let sketch = Sketch::new("web: start\nn1 = web");
        let asked = caused(Some(Cause::new("r-1")), rig.create(1, &sketch));
        let (_, deleted) = tokio::join!(asked, rig.delete(2));
        deleted.unwrap();
        let tasks = rig.until(1, 1, ClusterStatus::Active).await.latest_job().unwrap().tasks.len();
        rig.until(2, 1, ClusterStatus::Terminated).await;
        let mut seen = Vec::new();
        while let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(200), tail.next()).await {
            seen.push(message);
        }
        for (to, kind) in [
            ("/registry", "Create"),
            (CLUSTER, "Found"),
            (CLUSTER, "Durable"),
            ("/clusters/00000001/nodes/n1", "Offer"),
            ("/pools/t1", "RequestSlot"),
            ("/clusters/00000001/nodes/n1", "SlotGranted"),
            (CLUSTER, "Begin"),
            ("/provisioner", "Execute"),
            (CLUSTER, "Report"),
        ] {
            let found = seen.iter().find(|it| &*it.to == to && it.kind == kind);
            assert!(found.is_some(), "{kind} to {to} in {seen:#?}");
        }
        let reports = seen.iter().filter(|it| it.kind == "Report").count();
        assert_eq!(reports, tasks, "each task's, to the end of the job");
        assert!(seen.iter().all(|it| !it.to.contains("00000002")), "nothing of the other cluster");
        let begin = seen.iter().find(|it| it.kind == "Begin").unwrap();
        assert_eq!((begin.outcome, begin.during), (Outcome::Answered, Some("SlotGranted")));
        assert!(begin.taken_ns > 0 && begin.answered_ns.unwrap() >= begin.taken_ns, "{begin:?}");
        assert!(begin.subject.is_some());
        rig.assert_quiet().await;
    });
}

#[test]
fn who_looks_closely_sees_how_long_what_leads_to_what_takes() {
    live(Settings::default(), async |rig| {
        rig.hold_at("n1:CREATE", SHOP).await;
        let close = rig.console.examine(CLUSTER).unwrap();
        rig.lab.release("n1:CREATE");
        rig.until(1, 1, ClusterStatus::Active).await;
        let latencies = close.latencies();
        let begin = latencies.iter().find(|it| it.from == Some("SlotGranted") && it.to == "Begin").unwrap();
        assert!(begin.waited.count() >= 5 && begin.taken.count() == begin.waited.count(), "{latencies:?}");
        drop(close);
        let close = rig.console.examine(CLUSTER).unwrap();
        assert!(close.latencies().is_empty(), "who looks next begins anew");
        rig.assert_quiet().await;
    });
}

#[test]
fn a_cluster_that_rests_is_gone_from_the_tree() {
    let mut settings = Settings::default();
    settings.pace.rest_after = Duration::from_millis(20);
    live(settings, async |rig| {
        rig.create(1, &Sketch::new("web: start\nn1 = web")).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        eventually("the cluster to rest", async || rig.console.sample(CLUSTER).is_empty().then_some(()))
            .await;
        assert_eq!(rig.console.pause(CLUSTER, LONG), Err(SwitchError::Unknown(CLUSTER.to_owned())));
        rig.assert_quiet().await;
    });
}
