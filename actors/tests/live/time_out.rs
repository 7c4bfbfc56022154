//! Attempts that take too long.

use std::time::Duration;

use cooperage_actors::pace::Pace;
use cooperage_domain::cluster::{ClusterStatus, Limits};

use crate::failing::quick;
use crate::lab::{Behaviour, label};
use crate::rig::{Settings, live};
use crate::sketch::Sketch;

/// So short that the test is, and so long that what ends at once does not run into it.
const TIME_OUT: i64 = 1_500;

fn impatient(text: &str, max_attempts: u32) -> Sketch {
    let sketch = quick(text, max_attempts);
    Sketch { limits: Limits { task_timeout: TIME_OUT, ..sketch.limits }, ..sketch }
}

fn settings() -> Settings {
    let pace = Pace { grace: Duration::from_millis(50), ..Settings::default().pace };
    Settings { slots: 1, pace, ..Settings::default() }
}

#[test]
fn an_attempt_whose_time_is_up_is_cancelled_and_counts_as_failed() {
    live(settings(), async |rig| {
        rig.lab.hold(&["n1:CONFIRM", "n1:START:web"]);
        rig.lab.release("n1:CONFIRM");
        rig.create(1, &impatient("web: start\nn1 = web", 1)).await;
        rig.lab.until_cancelled("n1:START:web").await;
        let cluster = rig.until(1, 1, ClusterStatus::Incomplete).await;
        let message = cluster.latest_job().unwrap().message.clone().unwrap();
        assert!(message.contains("Timed out: no result after 1 s"), "{message}");
        rig.assert_quiet().await;
    });
}

#[test]
fn a_plugin_that_does_not_stop_blocks_its_machine_but_not_its_job_or_worker() {
    live(settings(), async |rig| {
        rig.lab.script(|order| match label(order).as_str() {
            "n1:START:web" => Behaviour::Deaf,
            _ => Behaviour::Succeed,
        });
        rig.create(1, &impatient("web: start\nn1 = web", 2)).await;
        rig.until(1, 1, ClusterStatus::Incomplete).await;
        assert_eq!(rig.lab.running(), 1, "the plugin is still at it");
        let begun = rig.lab.begun();
        assert_eq!(
            begun.iter().filter(|it| *it == "n1:START:web").count(),
            1,
            "nothing else began: {begun:?}"
        );
        rig.until_pool(0, 0).await;
        // Another cluster of the tenant uses the worker.
        rig.create(2, &Sketch::new("web: install\nn2 = web")).await;
        rig.until(2, 1, ClusterStatus::Active).await;
        // The machine's next task waits for the plugin to return, and then runs.
        rig.delete(1).await.unwrap();
        rig.until_pool(1, 0).await;
        rig.lab.release("n1:START:web");
        rig.until(1, 1, ClusterStatus::Terminated).await;
        assert_eq!(rig.lab.begun().last().map(String::as_str), Some("n1:DELETE"));
        rig.assert_quiet().await;
    });
}
