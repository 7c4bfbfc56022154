//! Every figure there is: its name, what it counts, in which unit, by what, and what it means. The exposition, the book and the
//! check of the dashboard are made from it.

/// What kind of figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Only grows, from the start of the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// How many were at most so large: the limits of its buckets, in its unit.
    Histogram(&'static [Limit]),
}

/// A limit of a bucket, in thousandths of the unit.
pub type Limit = u32;

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// As Prometheus has it.
    pub name: &'static str,
    /// What kind it is.
    pub sort: Sort,
    /// In which unit; `1` for numbers of things.
    pub unit: &'static str,
    /// What it is told apart by.
    pub labels: &'static [&'static str],
    /// What it means.
    pub help: &'static str,
}

/// Requests take milliseconds.
const OF_REQUESTS: Sort = Sort::Histogram(&[1, 5, 10, 25, 50, 100, 250, 1_000, 5_000]);
/// Tasks take seconds, and some of them minutes.
const OF_TASKS: Sort = Sort::Histogram(&[100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 1_200_000]);
/// Jobs take seconds to hours.
const OF_JOBS: Sort = Sort::Histogram(&[1_000, 5_000, 15_000, 60_000, 300_000, 1_200_000, 3_600_000]);

macro_rules! metrics {
    ($($constant:ident = $name:literal, $sort:expr, $unit:literal, [$($label:literal),*], $help:literal;)*) => {
        $(#[doc = $help] pub const $constant: Metric =
            Metric { name: $name, sort: $sort, unit: $unit, labels: &[$($label),*], help: $help };)*
        /// All of them, in the order of the book.
        pub const ALL: &[Metric] = &[$($constant),*];
    };
}

metrics! {
    BUILD = "cooperage_build", Sort::Gauge, "1", ["version"], "Always 1; the label is the version of the program";
    CLUSTERS = "cooperage_clusters", Sort::Gauge, "1", ["status"],
        "Clusters of all tenants by status; terminated ones stay for their history";
    JOBS = "cooperage_jobs_total", Sort::Counter, "1", ["action", "status"],
        "Jobs that ended here, by what they did and how they ended";
    JOB_SECONDS = "cooperage_job_duration_seconds", OF_JOBS, "seconds", ["action"],
        "How long jobs took, from their begin to their end";
    ATTEMPTS = "cooperage_task_attempts_total", Sort::Counter, "1", ["task", "outcome"],
        "Attempts at tasks that were over, by task and whether they were a success or a failure";
    TASK_SECONDS = "cooperage_task_duration_seconds", OF_TASKS, "seconds", ["task"],
        "How long tasks took that succeeded, from the begin of the first attempt to the end of the last";
    EVENTS = "cooperage_journal_events_total", Sort::Counter, "1", ["event"],
        "Events that became durable, by kind";
    COMMITS = "cooperage_journal_commits_total", Sort::Counter, "1", [],
        "Transactions of the writing connection; many appends share one";
    WRITES = "cooperage_journal_writes_total", Sort::Counter, "1", [],
        "Appends and other writes in these transactions";
    FAILED_COMMITS = "cooperage_journal_failed_commits_total", Sort::Counter, "1", [],
        "Transactions of which nothing was stored: the database was away, locked or full. They are tried again";
    WAITING = "cooperage_tasks_waiting", Sort::Gauge, "1", ["tenant"],
        "Tasks that could begin and wait for a worker";
    RUNNING = "cooperage_tasks_running", Sort::Gauge, "1", ["tenant"],
        "Tasks in the hands of a worker, here or elsewhere";
    WORKERS = "cooperage_workers", Sort::Gauge, "1", ["tenant"],
        "Workers of a tenant, here and elsewhere";
    PROVISIONER_CAPACITY = "cooperage_provisioner_capacity", Sort::Gauge, "1", ["provisioner"],
        "Most workers that a provisioner elsewhere brings";
    PROVISIONER_FREE = "cooperage_provisioner_free", Sort::Gauge, "1", ["provisioner"],
        "Workers of a provisioner elsewhere that no tenant has";
    FOLLOWERS = "cooperage_event_followers", Sort::Gauge, "1", [],
        "Clients that follow events now";
    REQUESTS = "cooperage_http_requests_total", Sort::Counter, "1", ["port", "method", "status"],
        "Requests that were answered, by port (user, tasks), method and status";
    REQUEST_SECONDS = "cooperage_http_request_duration_seconds", OF_REQUESTS, "seconds", ["port", "method"],
        "How long it took until an answer began; requests that wait for tasks wait as long as they asked to";
    CPU_SECONDS = "process_cpu_seconds_total", Sort::Counter, "seconds", [],
        "Time of processors that the server took, all threads together";
    MEMORY = "process_resident_memory_bytes", Sort::Gauge, "bytes", [],
        "Memory that the server holds";
    OPEN_FILES = "process_open_fds", Sort::Gauge, "1", [], "Files and connections that the server has open";
    MOST_OPEN_FILES = "process_max_fds", Sort::Gauge, "1", [], "How many it may have open";
    STARTED = "process_start_time_seconds", Sort::Gauge, "seconds", [], "When it was started, since 1970";
}
