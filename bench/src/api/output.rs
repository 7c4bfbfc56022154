//! What a task printed: how fast it is taken in, and how soon its end, and what is looked for in it, is there.

use std::time::{Duration, Instant};

use cooperage_domain::worker_protocol::Extension;
use serde::Serialize;
use serde_json::{Value, json};

use super::load::PROVISIONER;
use crate::figure::{Figure, Target};
use crate::installation::Installation;
use crate::wire::Wire;
use crate::{BenchError, Grid, catalogue, milliseconds};

/// Tasks of the node whose first one prints.
const TASKS_PER_NODE: u32 = 7;
/// Lines that are sent together.
const TOGETHER: u64 = 4_000;
/// Lines that may be on their way: the server keeps some 65,000, and leaves out what goes beyond.
const ON_THEIR_WAY: u64 = 40_000;
/// How often each question is put.
const TIMES: usize = 5;
/// How long what was sent may take to be there.
const LIMIT: Duration = Duration::from_secs(120);

/// What came of so many lines.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Printed {
    lines: u64,
    /// Text of all of them, in MiB.
    text: f64,
    /// Lines taken in and durable in a second.
    lines_per_second: f64,
    /// How long it takes until answers are here, the quickest of some, in ms: the last hundred lines, …
    tail: f64,
    /// … lines in the middle, …
    middle: f64,
    /// … a text that stands in the first line only, from the end, …
    search: f64,
    /// … one that is nowhere, in any case, …
    any_case: f64,
    /// … and an expression that fits nowhere.
    expression: f64,
}

/// Prints up to each number of lines, and looks at them.
///
/// # Errors
/// When the server fails.
pub async fn measure(server: &Installation, sizes: &[u64]) -> Result<Vec<Printed>, BenchError> {
    let token = server.token()?;
    let mut user = Wire::open(server.user(), Some(&token)).await?;
    let mut tasks = Wire::open(server.tasks(), None).await?;
    catalogue::stock(&mut user, TASKS_PER_NODE).await?;
    catalogue::create(&mut user, "printer", 1, TASKS_PER_NODE).await?;
    catalogue::register(&mut tasks, PROVISIONER, &[Extension::TakeBatch, Extension::Output]).await?;
    let mut task = Task::take(&mut tasks).await?;
    let mut printed = Vec::new();
    for lines in sizes {
        let (from, bytes, begun) = (task.sent, task.bytes, Instant::now());
        task.print(&mut tasks, &mut user, *lines).await?;
        let rate = (lines - from) as f64 / begun.elapsed().as_secs_f64();
        debug_assert!(task.bytes > bytes);
        let logs = format!("/v2/clusters/{}/logs?task={}", task.cluster(), task.id);
        let middle = lines / 2;
        printed.push(Printed {
            lines: *lines,
            text: task.bytes as f64 / 1024.0 / 1024.0,
            lines_per_second: rate,
            tail: quickest(&mut user, &format!("{logs}&tail=100"), 100).await?,
            middle: quickest(&mut user, &format!("{logs}&after={middle}&limit=100"), 100).await?,
            search: quickest(&mut user, &format!("{logs}&tail=100&search=the-very-first-line"), 1).await?,
            any_case: quickest(
                &mut user,
                &format!("{logs}&search=NOWHERE%20TO%20BE%20FOUND&ignoreCase=true"),
                0,
            )
            .await?,
            expression: quickest(
                &mut user,
                &format!("{logs}&search=%5Efailed+%5B0-9%5D%2B+times%24&regex=true"),
                0,
            )
            .await?,
        });
    }
    Ok(printed)
}

/// A task that prints.
struct Task {
    id: String,
    attempt: Value,
    worker: Value,
    /// Lines sent, and their bytes.
    sent: u64,
    bytes: u64,
}

impl Task {
    async fn take(tasks: &mut Wire) -> Result<Self, BenchError> {
        let batch = json!({"provisionerId": PROVISIONER, "tenantId": catalogue::TENANT, "workerIds": ["p"],
            "waitSeconds": 20});
        let taken = tasks.must("POST", "/v2/tasks/take/batch", &batch).await?;
        let first = &taken["tasks"][0];
        let id = first["task"]["taskId"].as_str();
        let id = id.ok_or_else(|| BenchError::Server("it gave no task".to_owned()))?.to_owned();
        let attempt = first["task"]["attempt"].clone();
        let attempt = if attempt.is_null() { 1.into() } else { attempt };
        Ok(Self { id, attempt, worker: first["workerId"].clone(), sent: 0, bytes: 0 })
    }

    fn cluster(&self) -> &str {
        self.id.split('-').next().unwrap_or_default()
    }

    /// Prints until there are so many lines, and waits until all can be seen.
    async fn print(&mut self, tasks: &mut Wire, user: &mut Wire, lines: u64) -> Result<(), BenchError> {
        while self.sent < lines {
            let last = (self.sent + TOGETHER).min(lines);
            let text: Vec<Value> = (self.sent..last).map(|number| self.line(number)).collect();
            let part = json!({"taskId": self.id, "attempt": self.attempt, "workerId": self.worker,
                "first": self.sent, "lines": text});
            let batch = json!({"provisionerId": PROVISIONER, "outputs": [part]});
            tasks.must("POST", "/v2/tasks/output", &batch).await?;
            self.sent = last;
            self.wait(user, last.saturating_sub(ON_THEIR_WAY)).await?;
        }
        self.wait(user, lines).await
    }

    async fn wait(&self, user: &mut Wire, lines: u64) -> Result<(), BenchError> {
        let path = format!("/v2/clusters/{}/logs?task={}&tail=1", self.cluster(), self.id);
        let begun = Instant::now();
        if lines == 0 {
            return Ok(());
        }
        loop {
            let newest = user.must("GET", &path, &Value::Null).await?["newest"].as_u64();
            if newest.is_some_and(|newest| newest >= lines) {
                return Ok(());
            }
            if begun.elapsed() > LIMIT {
                return Err(BenchError::Server(format!("of {lines} lines only {newest:?} were kept")));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Lines like those of package managers and servers: alike, with numbers that differ.
    fn line(&mut self, number: u64) -> Value {
        const WORDS: [&str; 4] =
            ["Unpacking", "Setting up", "INFO  DataNode: received block", "Processing triggers for"];
        let drawn = fastrand::Rng::with_seed(number).u64(..);
        let word = WORDS[usize::try_from(drawn % 4).unwrap_or_default()];
        let text = if number == 0 {
            "the-very-first-line".to_owned()
        } else {
            format!(
                "2026-11-21 20:{:02}:{:02}.{:03} {word} libfoo-{} ({}.{}) of {} bytes at 0x{:08x}",
                number / 60_000 % 60,
                number / 1_000 % 60,
                number % 1_000,
                drawn % 1_000,
                drawn >> 20 & 7,
                drawn >> 24 & 31,
                drawn >> 30 & 0xffff,
                drawn >> 32,
            )
        };
        self.bytes += text.len() as u64;
        json!({"stream": "stdout", "text": text})
    }
}

/// How long it takes until an answer with so many lines is here, with all its parts, in ms: the quickest of some.
async fn quickest(user: &mut Wire, path: &str, lines: usize) -> Result<f64, BenchError> {
    let mut quickest = f64::MAX;
    for _ in 0..TIMES {
        let (mut found, mut next) = (0, Some(path.to_owned()));
        let begun = Instant::now();
        while let Some(path) = next.filter(|_| found < lines || lines == 0) {
            let answer = user.must("GET", &path, &Value::Null).await?;
            found += answer["lines"].as_array().map_or(0, Vec::len);
            next = answer["next"].as_str().map(str::to_owned);
        }
        quickest = quickest.min(milliseconds(begun.elapsed()));
        if found != lines {
            return Err(BenchError::Server(format!("{found} lines instead of {lines} at {path}")));
        }
    }
    Ok(quickest)
}

impl Printed {
    pub fn figures(all: &[Self]) -> Vec<Figure> {
        let Some(last) = all.last() else { return Vec::new() };
        let worst = last.search.max(last.any_case).max(last.expression);
        vec![
            Figure::new(format!("end of {} lines", last.lines), last.tail, "ms", Target::AtMost(200.0)),
            Figure::new(
                format!("search in {} lines, slowest", last.lines),
                worst,
                "ms",
                Target::AtMost(500.0),
            ),
        ]
    }

    pub fn grid(all: &[Self]) -> Grid {
        let row = |one: &Self| {
            let time = |ms: f64| format!("{ms:.1} ms");
            [
                one.lines.to_string(),
                format!("{:.1} MiB", one.text),
                format!("{:.0}/s", one.lines_per_second),
                time(one.tail),
                time(one.middle),
                time(one.search),
                time(one.any_case),
                time(one.expression),
            ]
        };
        let headings = ["LINES", "TEXT", "TAKEN IN", "TAIL", "MIDDLE", "SEARCH", "ANY CASE", "EXPRESSION"];
        Grid::new(headings, all.iter().map(row))
    }
}
