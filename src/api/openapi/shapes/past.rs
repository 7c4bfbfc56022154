//! Plans, drafts, and the past of clusters.

use cooperage_domain::cluster::{ClusterRequest, Difference, PlanPreview};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A change that is kept to be made later.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// Its number among the plans and drafts of the cluster.
    id: u64,
    cluster_id: String,
    title: String,
    /// The revision of the cluster it was made on.
    sequence: u64,
    /// Milliseconds since 1970.
    create_time: i64,
    created_by: String,
    /// When it was carried out; none: it was not.
    done_time: Option<i64>,
    done_by: Option<String>,
}

/// A plan that was saved.
#[derive(Serialize, ToSchema)]
pub struct SavedPlan {
    #[serde(flatten)]
    about: Proposal,
    /// What it showed.
    preview: PlanPreview,
}

/// A change to be drafted: an operation, and what its request would carry.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftedOperation {
    /// `configure`, `reconfigure`, `add_services`, `remove_services`, `start_services`, `stop_services`, `restart_services`,
    /// `resize`, `replace`, `upgrade`, `roll_back`, `converge`, `sync_template`, `prolong`, `delete` or `retry`; with the fields that
    /// their requests carry, of which some are named here.
    operation: String,
    /// What it is for.
    title: Option<String>,
    /// Of `configure`: the whole configuration.
    #[schema(value_type = Option<Object>)]
    config: Option<Value>,
    /// Of `configure`: whether to restart services; true unless said otherwise.
    restart: Option<bool>,
    /// Of `add_services` and `remove_services`: their names. Of `resize`: numbers by name.
    #[schema(value_type = Option<Object>)]
    services: Option<Value>,
    /// Of `start_services` and its like: which one; all unless said otherwise.
    service: Option<String>,
    /// Of `prolong`: milliseconds since 1970.
    expire_time: Option<i64>,
    #[schema(value_type = Option<Object>)]
    provider_fields: Option<Value>,
}

/// A draft.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    #[serde(flatten)]
    about: Proposal,
    /// How often it was put; its state in `ETag`.
    edition: Option<u64>,
    change_time: Option<i64>,
    changed_by: Option<String>,
    operation: DraftedOperation,
    /// What it would do now.
    preview: Option<PlanPreview>,
    /// Why it cannot be done now.
    refusal: Option<String>,
}

/// A cluster to be drafted: a title, and what a create would carry.
#[derive(Serialize, ToSchema)]
pub struct NewDraft {
    /// What it is for.
    title: Option<String>,
    #[serde(flatten)]
    request: ClusterRequest,
}

/// A cluster that does not exist yet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DraftedCluster {
    /// The id that the cluster will have.
    id: String,
    title: String,
    /// How often it was put; its state in `ETag`.
    edition: u64,
    request: ClusterRequest,
    /// Milliseconds since 1970.
    create_time: i64,
    created_by: String,
    change_time: i64,
    changed_by: String,
    /// When it was committed; none: it was not.
    done_time: Option<i64>,
    done_by: Option<String>,
    /// What would be created now.
    preview: Option<PlanPreview>,
    /// Why it cannot be created now.
    refusal: Option<String>,
}

/// That a plan or draft was carried out.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CarriedOut {
    id: u64,
    cluster_id: String,
    /// The cluster's revision afterwards.
    sequence: u64,
    latest_job_id: Option<String>,
    /// Of drafts: whether it was made on a later state than it was thought up on.
    rebased: Option<bool>,
    /// Of drafts: what others have changed in between.
    meanwhile: Option<Vec<String>>,
}

/// Something that happened to a cluster.
#[derive(Serialize, ToSchema)]
pub struct Happened {
    /// Its number: the cluster's revision behind it.
    revision: u64,
    /// Milliseconds since 1970.
    time: i64,
    /// A user, or a part of the system.
    who: String,
    /// The kind of event, such as `job_planned`.
    kind: String,
    /// Id of the job it is about.
    job: Option<String>,
    /// What happened, in words.
    text: String,
}

/// What is different between two moments.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDiff {
    cluster_id: String,
    /// The earlier revision.
    from: u64,
    /// The later one.
    to: u64,
    changes: Difference,
}

/// Where a replay found something else than is stored.
#[derive(Serialize, ToSchema)]
pub struct ReplayDifference {
    /// Number of the event.
    revision: u64,
    /// `decision`, `snapshot`, `journal` or `table`.
    what: String,
    detail: String,
}

/// What came of a replay.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    cluster_id: String,
    events: u64,
    /// How many of them came of decisions that were decided again, and the same.
    redecided: u64,
    /// How many came of decisions that cannot be told from what came of them.
    taken_as_they_are: u64,
    /// How many snapshots were found to be what the events before them give.
    snapshots: u64,
    same: bool,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<ReplayDifference>,
}
