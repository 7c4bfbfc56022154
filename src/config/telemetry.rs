//! What the process tells of itself: its log, and traces.

use serde::{Deserialize, Serialize};

/// Who is told of jobs as traces.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Where traces are sent (OTLP over HTTP); empty: nowhere.
    pub traces_url: String,
}

/// What is logged, and how.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// `text` or `json`.
    pub format: LogFormat,
    /// Least important level that is logged.
    pub level: String,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one JSON object a line.
    Json,
}
