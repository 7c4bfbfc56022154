//! Taking over the newest version of a cluster's template.

use super::add_services::groups;
use super::decide::wrong_state;
use super::event::Event;
use super::refusal::Refusal;
use super::state::{Cluster, ClusterStatus};
use crate::entity::ClusterTemplate;
use crate::layout::check_sync;

/// The nodes as they are must keep the new template's rules. Only the cluster's copy changes; nothing is run.
pub(super) fn sync(
    cluster: &Cluster,
    template: ClusterTemplate,
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    if cluster.status != ClusterStatus::Active {
        return Err(wrong_state(cluster, "given another template"));
    }
    check_sync(&template, &groups(cluster))?;
    Ok(vec![Event::TemplateReplaced { at: now, template: Box::new(template), by }])
}
