//! Answers that never arrive: a task that was handed out, a report that was taken.

use serde_json::{Value, json};

use crate::lab::{Client, Server, wait_for};
use crate::process::{LIMIT, create, server};
use crate::world::World;

/// A provisioner of this test's own, which loses what it likes.
struct Hand {
    tasks: Client,
}

impl Hand {
    fn new(server: &Server) -> Self {
        let tasks = Client::with_headers(&server.tasks_base(), &[]);
        let registration = json!({"id": "me", "host": "127.0.0.1", "port": 1, "capacityTotal": 9,
            "extensions": ["take-batch", "drain"]});
        tasks.put("/v2/provisioners/me", &registration).ok();
        Self { tasks }
    }

    fn take(&self, tenant: &str, workers: &[&str], wait: u32) -> Vec<(String, Value)> {
        let batch =
            json!({"provisionerId": "me", "tenantId": tenant, "workerIds": workers, "waitSeconds": wait});
        let taken = self.tasks.post("/v2/tasks/take/batch", &batch).ok();
        let tasks = taken["tasks"].as_array().unwrap().iter();
        tasks.map(|one| (one["workerId"].as_str().unwrap().to_owned(), one["task"].clone())).collect()
    }

    fn finish(&self, worker: &str, task: &Value, attempt: u64, status: i64) -> u16 {
        let report = json!({"provisionerId": "me", "tenantId": "superadmin", "workerId": worker,
            "taskId": task["taskId"], "attempt": attempt, "status": status});
        self.tasks.post("/v2/tasks/finish", &report).status
    }
}

#[test]
fn a_task_whose_answer_was_lost_is_given_again_to_its_worker_and_to_nobody_else() {
    let world = World::new();
    let mut server = server(&world, &[]);
    let client = server.admin();
    let hand = Hand::new(&server);
    create(&client, "shop", 2);
    let lost = hand.take("superadmin", &["a"], 20);
    assert_eq!(lost.len(), 1);
    // Another worker gets the other task, and then there is none.
    let other = hand.take("superadmin", &["b"], 20);
    assert_ne!(other[0].1["taskId"], lost[0].1["taskId"]);
    assert_eq!(hand.take("superadmin", &["c"], 0), []);
    assert_eq!(hand.take("another", &["a"], 0), [], "no tenant gets what is another one's");
    assert_eq!(hand.take("superadmin", &["a"], 0), lost, "the same execution");
    server.kill();
    server.run();
    let again = wait_for("the same after a restart", LIMIT, || {
        Some(hand.take("superadmin", &["c", "a"], 0)).filter(|taken| !taken.is_empty())
    });
    assert_eq!(again, lost);
}

#[test]
fn a_report_that_comes_twice_is_taken_once() {
    let world = World::new();
    let server = server(&world, &["jobs.max_attempts=2"]);
    let client = server.admin();
    let hand = Hand::new(&server);
    create(&client, "shop", 2);
    let mut taken = hand.take("superadmin", &["a"], 20);
    // The other machine's task is in other hands.
    taken.extend(hand.take("superadmin", &["b"], 20));
    let (worker, task) = taken.remove(0);
    assert_eq!(hand.finish("b", &task, 1, 0), 417, "the report of somebody else");
    assert_eq!(hand.finish(&worker, &task, 2, 0), 417, "the report of an attempt that never was");
    assert_eq!(hand.finish(&worker, &task, 1, 7), 200);
    assert_eq!(hand.finish(&worker, &task, 1, 7), 200, "the answer to the first one was lost");
    assert_eq!(hand.finish(&worker, &task, 1, 0), 417, "another report");
    // The second attempt, in the hands of the same worker: late words of the first one are not its report.
    let (_, second) = wait_for("the second attempt", LIMIT, || {
        let taken = hand.take("superadmin", &["a"], 1);
        taken.into_iter().find(|(_, taken)| taken["taskId"] == task["taskId"])
    });
    assert_eq!(second["attempt"], 2);
    assert_eq!(hand.finish("a", &second, 1, 0), 417);
    assert_eq!(hand.finish("a", &second, 2, 0), 200);
}

#[test]
fn whoever_leaves_is_answered_at_once_and_gets_no_more() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let hand = Hand::new(&server);
    let (answered, when) = std::sync::mpsc::channel();
    std::thread::scope(|threads| {
        threads.spawn(|| answered.send(hand.take("superadmin", &["a"], 25)).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(300));
        let leaving = json!({"id": "me", "host": "127.0.0.1", "port": 1, "capacityTotal": 9,
            "extensions": ["take-batch", "drain"], "draining": true});
        hand.tasks.put("/v2/provisioners/me", &leaving).ok();
        let limit = std::time::Duration::from_secs(15);
        assert_eq!(when.recv_timeout(limit).unwrap(), [], "the request waits on");
    });
    create(&client, "shop", 2);
    assert_eq!(hand.take("superadmin", &["a"], 1), []);
}
