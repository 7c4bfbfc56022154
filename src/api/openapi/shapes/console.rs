//! The actor console.

use serde::Serialize;
use utoipa::ToSchema;

/// One actor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveActor {
    /// `/registry`, `/clusters/ID`, `/clusters/ID/nodes/NODE`, `/pools/TENANT` …
    path: String,
    /// The path of what it belongs to; `null`: the server.
    parent: Option<String>,
    /// What people call the cluster, or the host name of the node; `null` for all others.
    name: Option<String>,
    /// `Cluster`, `Node`, `WorkerPool` …
    kind: String,
    /// `running`, `paused`, `stopping`, or `passivated`: a cluster at rest, without an actor.
    state: String,
    /// Messages in its mailbox.
    waiting: u64,
    /// Messages handled in a second.
    per_second: f64,
    /// Part of the time that it was busy, from 0 to 1.
    busy: f64,
    /// Messages handled since it was started.
    handled: u64,
    /// How often it was started again.
    restarts: u32,
    last_error: Option<String>,
    /// What is to go wrong with its next message: `drop`, `delay` or `crash`.
    fault: Option<String>,
    /// Whether it can be restarted: it would be started again from the journal.
    restartable: bool,
}

/// The actors of a server, by path.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActorTree {
    actors: Vec<LiveActor>,
    /// How many there are that were asked for, those behind the limit too.
    total: u64,
    live: u64,
    per_second: f64,
    /// Whether faults may be injected: `console.faults`.
    faults: bool,
}

/// How many took less than so many µs, and not less than the step before.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LatencyStep {
    below_us: u64,
    count: u64,
}

/// How long something took, in µs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LatencyTimes {
    count: u64,
    mean_us: u64,
    median_us: u64,
    p95_us: u64,
    longest_us: u64,
    steps: Vec<LatencyStep>,
}

/// Messages of one kind that were sent while those of another were handled.
#[derive(Serialize, ToSchema)]
pub struct MessageLatency {
    /// The kind that led to it; `null`: none, as far as is known.
    from: Option<String>,
    to: String,
    /// From when it was sent until it was its turn.
    waited: LatencyTimes,
    /// How long it was handled.
    taken: LatencyTimes,
}

/// One actor from close by.
#[derive(Serialize, ToSchema)]
pub struct ActorDetail {
    actor: LiveActor,
    latencies: Vec<MessageLatency>,
}

/// What is to be done with an actor.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActorOrder {
    path: String,
    /// `pause`, `resume`, `restart` or `fault`.
    action: String,
    /// How long a pause may last; 60 unless said otherwise, 3600 at most.
    seconds: Option<u64>,
    /// `drop`, `delay` or `crash`, on the next message.
    fault: Option<String>,
    delay_ms: Option<u64>,
}

/// What was done.
#[derive(Serialize, ToSchema)]
pub struct ActorOrdered {
    /// The actor it was done with: a node is restarted with its cluster.
    path: String,
    action: String,
}
