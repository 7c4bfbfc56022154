//! Values for the provider that come with a request for something else.

use serde_json::{Map, Value};

use super::command::Command;
use super::decide::decide;
use super::event::Event;
use super::refusal::Refusal;
use super::state::Cluster;

/// The values are kept with the cluster when what they came with is carried out, and only then.
pub(super) fn give(
    cluster: &Cluster,
    fields: Map<String, Value>,
    command: Command,
    by: String,
    now: i64,
) -> Result<Vec<Event>, Refusal> {
    let mut events = decide(cluster, command, now)?;
    if !events.is_empty() && !fields.is_empty() {
        events.insert(0, Event::ProviderFieldsGiven { at: now, fields, by });
    }
    Ok(events)
}
