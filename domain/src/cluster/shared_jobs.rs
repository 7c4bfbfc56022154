//! Jobs that states of a cluster share, as JSON: a state is copied often, and a job that has ended never changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serializer};

use super::job::Job;

/// As a map.
///
/// # Errors
/// When it cannot be written.
pub(super) fn serialize<S: Serializer>(
    jobs: &BTreeMap<u32, Arc<Job>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(jobs.iter().map(|(number, job)| (number, &**job)))
}

/// From a map.
///
/// # Errors
/// When it is none.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<u32, Arc<Job>>, D::Error> {
    let jobs = BTreeMap::<u32, Job>::deserialize(deserializer)?;
    Ok(jobs.into_iter().map(|(number, job)| (number, Arc::new(job))).collect())
}
