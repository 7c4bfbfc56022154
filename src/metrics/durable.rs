//! Counting what became durable: the events, and what they say of attempts and jobs.

use cooperage_schema::Append;
use serde::Deserialize;

use super::{Metrics, table};

/// What an event begins with, as it is written.
const HEAD: &str = "{\"event\":\"";

/// What is taken of those events that end something.
#[derive(Deserialize)]
struct Ended {
    task: Option<u32>,
    job: Option<u32>,
}

/// Counts an append.
pub fn count(metrics: &Metrics, durable: &Append) {
    for event in &durable.events {
        let kind = event.json.strip_prefix(HEAD).and_then(|rest| rest.split('"').next()).unwrap_or("unknown");
        metrics.count(&table::EVENTS, &[kind]);
        // Events that begin clusters are long; only these are read.
        if !matches!(kind, "task_succeeded" | "task_failed" | "job_ended") {
            continue;
        }
        let Ok(ended) = serde_json::from_str::<Ended>(&event.json) else { continue };
        match (ended.task, ended.job) {
            (Some(task), _) => attempt(metrics, durable, task, kind == "task_succeeded"),
            (None, Some(job)) => end_of_job(metrics, durable, job),
            (None, None) => {}
        }
    }
}

fn attempt(metrics: &Metrics, durable: &Append, number: u32, succeeded: bool) {
    let Some(task) = durable.projection.tasks.iter().find(|task| task.id.number == number) else { return };
    let name = task.name.to_string();
    let outcome = if succeeded { "success" } else { "failure" };
    metrics.count(&table::ATTEMPTS, &[&name, outcome]);
    if let Some(seconds) = seconds(task.started_ms, task.ended_ms).filter(|_| succeeded) {
        metrics.observe(&table::TASK_SECONDS, &[&name], seconds);
    }
}

fn end_of_job(metrics: &Metrics, durable: &Append, number: u32) {
    let Some(job) = durable.projection.jobs.iter().find(|job| job.id.number == number) else { return };
    metrics.count(&table::JOBS, &[&job.action, &job.status]);
    if let Some(seconds) = seconds(job.started_ms, job.ended_ms) {
        metrics.observe(&table::JOB_SECONDS, &[&job.action], seconds);
    }
}

/// Between two times in milliseconds.
fn seconds(from: Option<i64>, to: Option<i64>) -> Option<f64> {
    let between = to?.saturating_sub(from?);
    Some(std::time::Duration::from_millis(u64::try_from(between).ok()?).as_secs_f64())
}
