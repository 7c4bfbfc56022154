//! Callbacks and their calls.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Somebody who is called when jobs begin and end. Its secret is never shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Callback {
    name: String,
    url: String,
    /// `start`, `success`, `failure`, `lease-warning`.
    events: Vec<String>,
    /// Kinds of jobs; none: all.
    actions: Vec<String>,
    /// How long an answer may take.
    timeout_ms: u32,
    /// What becomes of a job when a start callback cannot be asked: `allow` or `refuse`.
    on_error: String,
    /// `tenant`, or `settings`: those cannot be changed here.
    source: String,
    /// Milliseconds since 1970.
    created: Option<i64>,
    created_by: Option<String>,
}

/// A callback to be made or changed; what is left out stays.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallbackChange {
    /// Needed for a new one.
    name: Option<String>,
    /// Needed for a new one.
    url: Option<String>,
    /// Needed for a new one.
    events: Option<Vec<String>>,
    actions: Option<Vec<String>>,
    /// Signs calls; 16 characters or more. One is made when none is given.
    secret: Option<String>,
    timeout_ms: Option<u32>,
    on_error: Option<String>,
}

/// A new callback.
#[derive(Serialize, ToSchema)]
pub struct NewCallback {
    #[serde(flatten)]
    about: Callback,
    /// The secret, if it was made here; shown this once.
    secret: Option<String>,
}

/// A call of a callback.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The same at every try, as `X-Cooperage-Delivery`.
    id: String,
    event: String,
    /// The kind of its job.
    action: Option<String>,
    cluster_id: Option<String>,
    /// The id of its job.
    job: Option<String>,
    /// `waiting`, `delivered`, `failed`; of start callbacks `allowed`, `vetoed` or `failed`.
    status: String,
    /// How often it was tried.
    attempts: u32,
    tries_left: u32,
    /// Milliseconds since 1970.
    created: i64,
    /// When it is tried next, in milliseconds since 1970.
    next: Option<i64>,
}

/// One try of a call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryTry {
    /// Milliseconds since 1970.
    time: i64,
    duration_ms: i64,
    /// The HTTP status of the answer.
    code: Option<u16>,
    /// The first part of the answer.
    answer: String,
    /// Why there was no answer.
    fault: Option<String>,
}

/// A call with what was sent and what was answered.
#[derive(Serialize, ToSchema)]
pub struct WholeDelivery {
    #[serde(flatten)]
    about: Delivery,
    #[schema(value_type = Object)]
    body: Value,
    tries: Vec<DeliveryTry>,
}
