//! Tasks that fail.

use cooperage_domain::cluster::{ClusterStatus, Limits};
use cooperage_domain::node_action::ActionStatus;
use cooperage_domain::task::TaskName;

use crate::lab::{Behaviour, label};
use crate::rig::{Settings, live};
use crate::sketch::{Sketch, node_id};

pub fn quick(text: &str, max_attempts: u32) -> Sketch {
    let limits = Limits { max_attempts, retry_delay: 5, max_retry_delay: 10, ..Limits::default() };
    Sketch { limits, ..Sketch::new(text) }
}

#[test]
fn a_task_that_keeps_failing_ends_the_job_with_what_it_printed_and_a_retry_finishes_it() {
    live(Settings { slots: 1, ..Settings::default() }, async |rig| {
        rig.lab.script(|order| match label(order).as_str() {
            "n1:INSTALL:web" => Behaviour::Fail(7),
            _ => Behaviour::Succeed,
        });
        rig.create(1, &quick("web: install start\nn1 = web\nn2 = web\nn3 = web", 3)).await;
        let cluster = rig.until(1, 1, ClusterStatus::Incomplete).await;
        let message = cluster.latest_job().unwrap().message.clone().unwrap();
        assert!(message.contains("INSTALL web failed on n1.local after 3 attempts with code 7"), "{message}");
        let actions = cluster.node_actions(&node_id("n1"));
        let failed: Vec<_> = actions.iter().filter(|it| it.status == ActionStatus::Failed).collect();
        assert_eq!(failed.len(), 3);
        assert_eq!(failed[0].stdout.as_deref(), Some("on the way"));
        assert!(failed[0].stderr.as_deref().unwrap().contains("the disk is on fire\nit broke"));
        rig.assert_quiet().await;

        rig.lab.script(|_| Behaviour::Succeed);
        rig.retry(1).await.unwrap();
        rig.until(1, 1, ClusterStatus::Active).await;
        let creates = rig.lab.begun().iter().filter(|it| it.ends_with(":CREATE")).count();
        assert_eq!(creates, 3, "what was done is not done again");
        rig.assert_quiet().await;
    });
}

#[test]
fn a_machine_that_does_not_come_up_is_made_anew() {
    live(Settings::default(), async |rig| {
        rig.lab.script(|order| match (order.task_name, order.attempt) {
            (TaskName::Confirm, 1 | 2) => Behaviour::Fail(1),
            _ => Behaviour::Succeed,
        });
        rig.create(1, &quick("web: start\nn1 = web", 3)).await;
        rig.until(1, 1, ClusterStatus::Active).await;
        let once = ["n1:CREATE", "n1:CONFIRM", "n1:DELETE"];
        let expected: Vec<_> = once.into_iter().chain(once).chain(["n1:CREATE", "n1:CONFIRM"]).collect();
        assert_eq!(rig.lab.begun()[..8], expected);
        rig.assert_quiet().await;
    });
}

#[test]
fn a_create_of_which_nothing_was_made_is_terminated() {
    live(Settings::default(), async |rig| {
        rig.lab.script(|_| Behaviour::Fail(200));
        rig.create(1, &quick("web: start\nn1 = web", 2)).await;
        rig.until(1, 1, ClusterStatus::Terminated).await;
        rig.assert_quiet().await;
    });
}

#[test]
fn a_task_whose_configuration_cannot_be_expanded_fails_and_blocks_nothing() {
    live(Settings { slots: 1, ..Settings::default() }, async |rig| {
        let mut sketch = quick("web: install start\nn1 = web", 2);
        let web = sketch.services.get_mut("web").unwrap();
        for action in web.provisioner.actions.values_mut() {
            action.fields.insert("where".to_owned(), "%ip.service.web%".to_owned());
        }
        rig.create(1, &sketch).await;
        let cluster = rig.until(1, 1, ClusterStatus::Incomplete).await;
        assert!(cluster.latest_job().unwrap().message.as_deref().unwrap().contains("macros"));
        rig.assert_quiet().await;
    });
}
