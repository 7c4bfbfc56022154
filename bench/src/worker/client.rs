//! Remote workers that do nothing: they take a task and say at once that it is done.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use cooperage_domain::worker_protocol::TakeBatch;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

use crate::BenchError;
use crate::catalogue::TENANT;
use crate::wire::Wire;

/// Name of the provisioner that all workers belong to.
pub const PROVISIONER: &str = "bench";
/// Pause of a worker that was told that there is no task; those of Coopr wait for a second.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a request for many tasks may wait for the first one, in seconds.
const WAIT_SECONDS: u32 = 5;
/// How long nothing may come before what is measured has stopped for good.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two heartbeats, without which the server forgets who is silent.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// What stands before a task's id in its order.
const TASK_ID: &[u8] = b"\"taskId\":\"";

/// What all workers share.
#[derive(Debug)]
pub struct Work {
    tasks: SocketAddr,
    /// Tasks that are still to be finished.
    left: Cell<usize>,
    /// When the last one was.
    last: Cell<Instant>,
    /// Told when it was.
    over: Notify,
    /// How long each answered request took.
    pub takes: RefCell<Vec<Duration>>,
    /// The same for reports.
    pub finishes: RefCell<Vec<Duration>>,
}

impl Work {
    /// So many tasks, of a server that listens there for provisioners.
    #[must_use]
    pub fn new(tasks: SocketAddr, count: usize) -> Rc<Self> {
        Rc::new(Self {
            tasks,
            left: Cell::new(count),
            last: Cell::new(Instant::now()),
            over: Notify::new(),
            takes: RefCell::default(),
            finishes: RefCell::default(),
        })
    }

    /// Until the last one is finished, and when that was.
    ///
    /// # Errors
    /// When nothing happens any more.
    pub async fn done(&self) -> Result<Instant, BenchError> {
        while self.left.get() > 0 {
            if tokio::time::timeout(PATIENCE, self.over.notified()).await.is_err()
                && self.last.get().elapsed() > PATIENCE
            {
                return Err(BenchError::Server(format!("{} tasks never came", self.left.get())));
            }
        }
        Ok(self.last.get())
    }

    fn is_over(&self) -> bool {
        self.left.get() == 0
    }

    async fn finish(&self, wire: &mut Wire, worker: &str, task: &str) -> Result<(), BenchError> {
        let report = format!(
            r#"{{"workerId":"{worker}","provisionerId":"{PROVISIONER}","tenantId":"{TENANT}","taskId":"{task}","status":"0"}}"#
        );
        let begun = Instant::now();
        let answer = wire.ask("POST", "/v2/tasks/finish", report.as_bytes()).await?;
        if answer.status != 200 {
            let said = String::from_utf8_lossy(&answer.body).into_owned();
            return Err(BenchError::Refused {
                request: "POST /v2/tasks/finish".to_owned(),
                status: answer.status,
                said,
            });
        }
        self.finishes.borrow_mut().push(begun.elapsed());
        self.last.set(Instant::now());
        self.left.set(self.left.get().saturating_sub(1));
        if self.is_over() {
            self.over.notify_waiters();
            self.over.notify_one();
        }
        Ok(())
    }
}

/// Says again and again that the provisioner lives.
///
/// # Errors
/// When the server is gone, or knows it no more.
pub async fn beat(work: Rc<Work>) -> Result<(), BenchError> {
    let mut wire = Wire::open(work.tasks, None).await?;
    let usage = json!({"usage": {}});
    while !work.is_over() {
        wire.must("POST", &format!("/v2/provisioners/{PROVISIONER}/heartbeat"), &usage).await?;
        tokio::time::sleep(HEARTBEAT).await;
    }
    Ok(())
}

/// One worker as Coopr's are: asks, does, reports, and asks again.
///
/// # Errors
/// When the server refuses, or is gone.
pub async fn plain(work: Rc<Work>, number: usize) -> Result<(), BenchError> {
    let mut wire = Wire::open(work.tasks, None).await?;
    let worker = number.to_string();
    let who = json!({"workerId": worker, "provisionerId": PROVISIONER, "tenantId": TENANT}).to_string();
    while !work.is_over() {
        let begun = Instant::now();
        let answer = wire.ask("POST", "/v2/tasks/take", who.as_bytes()).await?;
        match answer.status {
            200 => {
                work.takes.borrow_mut().push(begun.elapsed());
                let task = task_id(&answer.body)?;
                work.finish(&mut wire, &worker, task).await?;
            }
            204 => tokio::time::sleep(PAUSE).await,
            status => {
                let said = String::from_utf8_lossy(&answer.body).into_owned();
                return Err(BenchError::Refused { request: "POST /v2/tasks/take".to_owned(), status, said });
            }
        }
    }
    Ok(())
}

/// The id of the task, which stands in front: nothing else of it is read, so that it costs the client next to nothing.
fn task_id(order: &[u8]) -> Result<&str, BenchError> {
    let found = order.windows(TASK_ID.len()).position(|window| window == TASK_ID);
    let id = found.and_then(|at| order[at + TASK_ID.len()..].split(|byte| *byte == b'"').next());
    id.and_then(|id| std::str::from_utf8(id).ok())
        .ok_or_else(|| BenchError::Server("an order without a task".to_owned()))
}

/// Workers as our own provisioners have them: one request asks for tasks for all that are free, and waits until there are.
#[derive(Debug, Default)]
pub struct Batch {
    free: RefCell<Vec<String>>,
    /// Tasks that were given to workers, and not reported.
    given: RefCell<VecDeque<(String, String)>>,
    is_given: Notify,
    is_free: Notify,
}

/// What is looked at of the answer to a request for many tasks.
#[derive(Deserialize)]
struct Taken {
    tasks: Vec<TakenTask>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TakenTask {
    worker_id: String,
    task: Order,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    task_id: String,
}

impl Batch {
    /// So many workers, all free.
    #[must_use]
    pub fn new(workers: usize) -> Rc<Self> {
        let free = (1..=workers).map(|number| number.to_string()).collect();
        Rc::new(Self { free: RefCell::new(free), ..Self::default() })
    }

    /// Asks for tasks, over one connection.
    ///
    /// # Errors
    /// When the server refuses, or is gone.
    pub async fn take(self: Rc<Self>, work: Rc<Work>) -> Result<(), BenchError> {
        let mut wire = Wire::open(work.tasks, None).await?;
        while !work.is_over() {
            let worker_ids = self.free.take();
            if worker_ids.is_empty() {
                self.is_free.notified().await;
                continue;
            }
            let (provisioner_id, tenant_id) = (PROVISIONER.to_owned(), TENANT.to_owned());
            let asked = worker_ids.clone();
            let batch = TakeBatch { provisioner_id, tenant_id, worker_ids, wait_seconds: WAIT_SECONDS };
            let begun = Instant::now();
            let answer = wire.ask("POST", "/v2/tasks/take/batch", &serde_json::to_vec(&batch)?).await?;
            let taken: Taken = answer.json()?;
            work.takes.borrow_mut().extend(taken.tasks.iter().map(|_| begun.elapsed()));
            let busy: Vec<&String> = taken.tasks.iter().map(|task| &task.worker_id).collect();
            self.free.borrow_mut().extend(asked.into_iter().filter(|worker| !busy.contains(&worker)));
            let given = taken.tasks.into_iter().map(|task| (task.worker_id, task.task.task_id));
            self.given.borrow_mut().extend(given);
            self.is_given.notify_waiters();
        }
        Ok(())
    }

    /// Reports what was taken, over one of several connections.
    ///
    /// # Errors
    /// When the server refuses, or is gone.
    pub async fn finish(self: Rc<Self>, work: Rc<Work>) -> Result<(), BenchError> {
        let mut wire = Wire::open(work.tasks, None).await?;
        while !work.is_over() {
            let next = self.given.borrow_mut().pop_front();
            let Some((worker, task)) = next else {
                self.is_given.notified().await;
                continue;
            };
            work.finish(&mut wire, &worker, &task).await?;
            self.free.borrow_mut().push(worker);
            self.is_free.notify_one();
        }
        Ok(())
    }
}
