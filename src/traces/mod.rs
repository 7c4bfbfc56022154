//! Jobs as traces for OpenTelemetry: one for each job that has ended, with a span for each of its tasks.
//!
//! A trace is put together from the rows of a job once it is over, and sent as OTLP over HTTP in JSON. What cannot be delivered is
//! tried a few times and then left out: the journal has it all the same.

mod otlp;

use std::sync::Arc;
use std::time::Duration;

use cooperage_actors::journal::Counting;
use cooperage_domain::id::JobId;
use cooperage_domain::invalid::Invalid;
use cooperage_schema::{Append, Store, StoreError};
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use slog::{Logger, warn};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::config::Telemetry;

/// Most jobs that wait to be sent.
const MOST_WAITING: usize = 1000;
/// How often one is sent.
const TRIES: u32 = 3;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_secs(2);
/// How long whoever collects traces may take.
const LIMIT: Duration = Duration::from_secs(10);
/// How an event begins that ends a job.
const ENDED: &str = "{\"event\":\"job_ended\"";

/// Tells of jobs that have ended, besides `counting`; with nobody to tell, it is `counting`.
///
/// # Errors
/// When the address cannot be used.
pub fn beside(
    counting: Counting,
    settings: &Telemetry,
    store: &Store,
    logger: &Logger,
) -> Result<Counting, Invalid> {
    if settings.traces_url.is_empty() {
        return Ok(counting);
    }
    let url: url::Url = settings.traces_url.parse().map_err(|fault| {
        Invalid::new(
            "telemetry.traces_url",
            &settings.traces_url,
            format!("is no address ({fault})"),
            "write it like http://127.0.0.1:4318/v1/traces",
        )
    })?;
    let client = reqwest::Client::builder().timeout(LIMIT).build();
    let client = client.map_err(|fault| {
        Invalid::new(
            "telemetry.traces_url",
            url.as_str(),
            format!("cannot be called ({fault})"),
            "correct it, or leave it empty",
        )
    })?;
    let (sender, receiver) = channel(MOST_WAITING);
    let courier = Courier { client, url, store: store.clone(), logger: logger.clone() };
    actix_rt::spawn(courier.run(receiver));
    Ok(Arc::new(move |durable: &Append| {
        counting(durable);
        tell(durable, &sender);
    }))
}

/// Names the jobs that these events end.
fn tell(durable: &Append, sender: &Sender<JobId>) {
    if durable.events.iter().any(|event| event.json.starts_with(ENDED)) {
        for job in durable.projection.jobs.iter().filter(|job| job.ended_ms.is_some()) {
            // With so many waiting, this one is left out.
            let _ = sender.try_send(job.id);
        }
    }
}

/// Sends traces, one after the other.
struct Courier {
    client: reqwest::Client,
    url: url::Url,
    store: Store,
    logger: Logger,
}

impl Courier {
    async fn run(self, mut jobs: Receiver<JobId>) {
        while let Some(job) = jobs.recv().await {
            let store = self.store.clone();
            let trace = actix_web::web::block(move || trace(&store, job)).await;
            match trace {
                Ok(Ok(Some(trace))) => self.deliver(job, &trace).await,
                Ok(Ok(None)) => {}
                Ok(Err(fault)) => self.lost(job, &fault.to_string()),
                Err(fault) => self.lost(job, &fault.to_string()),
            }
        }
    }

    async fn deliver(&self, job: JobId, trace: &Value) {
        let mut fault = String::new();
        for attempt in 0..TRIES {
            if attempt > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
            match request.body(trace.to_string()).send().await {
                Ok(answer) if answer.status().is_success() => return,
                Ok(answer) => fault = format!("answered {}", answer.status()),
                Err(error) => fault = error.without_url().to_string(),
            }
        }
        self.lost(job, &fault);
    }

    fn lost(&self, job: JobId, fault: &str) {
        warn!(self.logger, "a trace was not delivered"; "job" => job.to_string(), "fault" => fault);
    }
}

/// The trace of a job; none when it is not there any more.
fn trace(store: &Store, job: JobId) -> Result<Option<Value>, StoreError> {
    let (Some(cluster), Some(row)) = (store.cluster(job.cluster)?, store.job(job)?) else { return Ok(None) };
    let tasks = store.tasks(job.cluster, Some(job))?;
    Ok(Some(otlp::trace(&cluster, &row, &tasks)))
}
