//! Limits of running tasks hold at every moment, nobody waits while there is room, and those that wait too long are told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, Handler, System};
use cooperage_actors::console::{Console, Live as _};
use cooperage_actors::pace::Pace;
use cooperage_actors::worker_pool::{
    GetStanding, RESERVED, RequestSlot, Resize, RunningLimit, Slot, SlotGranted, WorkerPool,
};
use cooperage_domain::cluster::{ClusterStatus, Command, Limits, Overdue, WaitCode};
use cooperage_domain::id::{ClusterId, NodeId};

use crate::lab::{Behaviour, eventually};
use crate::rig::{Settings, live};
use crate::sketch::{Sketch, node_id};

fn limited(nodes: u32, most: u32) -> Sketch {
    let limits = Limits { max_running_tasks: most, retry_delay: 1, max_retry_delay: 5, ..Limits::default() };
    Sketch { limits, ..Sketch::alike("install configure start", nodes) }
}

#[test]
fn a_cluster_keeps_its_limit_and_nothing_is_forgotten() {
    live(Settings { slots: 12, ..Settings::default() }, async |rig| {
        // Every third execution fails, so that tasks go back and machines are made anew.
        let count = Mutex::new(0_u32);
        rig.lab.script(move |_| {
            let mut count = count.lock().unwrap();
            *count += 1;
            if (*count).is_multiple_of(3) && *count < 60 { Behaviour::Fail(1) } else { Behaviour::Succeed }
        });
        let mut sketch = limited(12, 3);
        sketch.limits.max_attempts = 50;
        rig.create(1, &sketch).await;
        rig.lab.until_any_begun(5).await;
        let by = || "ann".to_owned();
        rig.tell(1, Command::Pause { by: by() }).await.unwrap();
        rig.tell(1, Command::Resume { by: by() }).await.unwrap();
        rig.until(1, 1, ClusterStatus::Active).await;
        assert!(rig.lab.most_at_once() <= 3, "{}", rig.lab.most_at_once());
        rig.delete(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Terminated).await;
        assert!(rig.lab.most_at_once() <= 3, "{}", rig.lab.most_at_once());
        rig.assert_quiet().await;
    });
}

#[test]
fn a_task_that_waited_for_the_limit_begins_the_moment_another_ends() {
    live(Settings { slots: 8, ..Settings::default() }, async |rig| {
        rig.lab.script(|_| Behaviour::Wait);
        rig.create(1, &limited(3, 1)).await;
        rig.lab.until_any_begun(1).await;
        // The others ask for no worker meanwhile.
        rig.until_pool(1, 0).await;
        for begun in 1..=3 {
            rig.lab.until_any_begun(begun).await;
            assert_eq!(rig.lab.running(), 1);
            rig.lab.release(&rig.lab.begun()[begun - 1]);
        }
        rig.lab.script(|_| Behaviour::Succeed);
        rig.lab.until_any_begun(4).await;
        let waiting = rig.lab.begun();
        waiting.iter().for_each(|label| rig.lab.release(label));
        rig.until(1, 1, ClusterStatus::Active).await;
        assert_eq!(rig.lab.most_at_once(), 1);
        rig.assert_quiet().await;
    });
}

fn impatient(overdue: Overdue) -> Sketch {
    let limits = Limits { queue_timeout: 200, overdue, ..Limits::default() };
    Sketch { limits, ..Sketch::alike("start", 2) }
}

#[test]
fn a_task_that_nobody_takes_fails_and_says_that_there_are_no_workers() {
    live(Settings { slots: 0, ..Settings::default() }, async |rig| {
        rig.create(1, &impatient(Overdue::Fail)).await;
        let cluster = rig.until(1, 1, ClusterStatus::Terminated).await;
        let message = cluster.latest_job().unwrap().message.clone().unwrap();
        assert!(
            message.contains("No worker took it for 0 s: it waited for a worker: the tenant has 0 workers"),
            "{message}"
        );
        assert_eq!(rig.lab.begun().len(), 0);
        rig.assert_quiet().await;
    });
}

#[test]
fn where_it_is_set_so_it_is_told_and_goes_on_when_there_are_workers() {
    live(Settings { slots: 0, ..Settings::default() }, async |rig| {
        rig.create(1, &impatient(Overdue::Flag)).await;
        rig.log.until(2, &["nobody takes a task", "the tenant has 0 workers"]).await;
        rig.pool.send(Resize { slots: 1 }).await.unwrap();
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn an_attempt_that_takes_longer_than_its_like_is_told_once() {
    let pace = Pace { straggler_floor: Duration::from_millis(300), ..Settings::default().pace };
    live(Settings { slots: 6, pace, ..Settings::default() }, async |rig| {
        rig.create(1, &Sketch::alike("start", 6)).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        rig.lab.hold(&["slow:CREATE"]);
        rig.create(2, &Sketch::new("web: start\nslow = web")).await;
        rig.log.until(1, &["a task takes longer than its like", "CREATE on slow.local"]).await;
        assert_eq!(rig.lab.running(), 1, "it is left alone");
        rig.lab.release("slow:CREATE");
        rig.until(2, 1, ClusterStatus::Active).await;
        assert_eq!(rig.log.count(&["a task takes longer than its like"]), 1);
    });
}

/// Holds the slots it is given for a moment, and counts.
struct Holder {
    tally: Arc<Mutex<Tally>>,
    hold: Option<Duration>,
    kept: Vec<Slot>,
}

#[derive(Default)]
struct Tally {
    now: usize,
    most: usize,
    served: usize,
}

impl Actor for Holder {
    type Context = Context<Self>;
}

impl Handler<SlotGranted> for Holder {
    type Result = ();

    fn handle(&mut self, granted: SlotGranted, ctx: &mut Self::Context) {
        let mut tally = self.tally.lock().unwrap();
        tally.now += 1;
        tally.served += 1;
        tally.most = tally.most.max(tally.now);
        drop(tally);
        match self.hold {
            None => self.kept.push(granted.slot),
            Some(pause) => {
                ctx.run_later(pause, move |holder, _| {
                    holder.tally.lock().unwrap().now -= 1;
                    drop(granted);
                });
            }
        }
    }
}

fn request(cluster: u64, node: &str, urgent: bool, holder: &actix::Addr<Holder>) -> RequestSlot {
    let (cluster, node) = (ClusterId(cluster), node_id(node));
    RequestSlot { cluster, node, rank: 1, urgent, reply: holder.downgrade().recipient() }
}

#[test]
fn tenants_share_the_limit_of_the_installation_and_all_are_served() {
    System::new().block_on(async {
        let limit = RunningLimit::new(5);
        let tally = Arc::new(Mutex::new(Tally::default()));
        let hold = Some(Duration::from_millis(2));
        let holder = Holder { tally: Arc::clone(&tally), hold, kept: Vec::new() }.start();
        let pools: Vec<_> = ["a", "b", "c"]
            .map(|tenant| WorkerPool::new(4).within(limit.clone(), tenant).live(&Console::default(), tenant))
            .into_iter()
            .collect();
        for number in 0..60_u64 {
            for (index, pool) in pools.iter().enumerate() {
                let cluster = number % 7 + 10 * index as u64;
                pool.do_send(request(cluster, &format!("n{index}-{number}"), number % 11 == 0, &holder));
            }
        }
        let served = async || {
            let tally = tally.lock().unwrap();
            (tally.served == 180 && tally.now == 0).then_some(())
        };
        eventually("all to be served", served).await;
        let most = tally.lock().unwrap().most;
        assert!((5..=5 + RESERVED).contains(&most), "{most} at once");
        let free = async || (limit.standing().0 == 0).then_some(());
        eventually("all permits to be back", free).await;
    });
}

#[test]
fn what_gives_machines_back_gets_through_and_waiting_requests_know_why() {
    System::new().block_on(async {
        let limit = RunningLimit::new(2);
        let tally = Arc::new(Mutex::new(Tally::default()));
        let keeper = Holder { tally: Arc::clone(&tally), hold: None, kept: Vec::new() }.start();
        let [a, b] = ["a", "b"]
            .map(|tenant| WorkerPool::new(9).within(limit.clone(), tenant).live(&Console::default(), tenant));
        for node in ["n1", "n2", "n3"] {
            a.do_send(request(1, node, false, &keeper));
        }
        b.do_send(request(2, "m1", false, &keeper));
        for node in ["d1", "d2", "d3"] {
            b.do_send(request(2, node, true, &keeper));
        }
        let served = async || (tally.lock().unwrap().served == 2 + RESERVED).then_some(());
        eventually("the limit to be reached", served).await;
        let standing = b.send(GetStanding { cluster: ClusterId(2) }).await.unwrap();
        assert_eq!((standing.running, standing.waiting, standing.busy), (4, 2, 2));
        let reason = standing.reason(&NodeId("m1".to_owned()));
        assert_eq!(reason.code, WaitCode::GlobalLimit);
        assert!(reason.text.contains("at most 2 may run at once"), "{}", reason.text);
        // A pool that goes away with what it waits for keeps no permit from others.
        drop(a);
        drop(keeper);
        let free = async || (limit.standing().0 == 0).then_some(());
        eventually("all permits to be back", free).await;
    });
}
