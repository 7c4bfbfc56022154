//! Invariant 7: replaying a journal gives the state that was.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Cluster, Event, apply, replay};
use cooperage_domain::id::ClusterId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checker, Verdict};
use crate::ledger::Ledger;
use crate::seen::Seen;

/// Beside every cluster another one is led by its events alone, each read back from the text that is stored.
#[derive(Debug, Default)]
pub struct ReplayGivesTheState {
    shadows: BTreeMap<ClusterId, Option<Cluster>>,
}

/// Through the text that is stored.
fn stored<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, String> {
    let text = serde_json::to_string(value).map_err(|fault| fault.to_string())?;
    serde_json::from_str(&text).map_err(|fault| format!("{fault}: {text}"))
}

/// Where two clusters differ, in short.
fn same(is: &Cluster, expected: Option<&Cluster>, what: &str) -> Verdict {
    let Some(expected) = expected else { return Err(format!("{what} {}, which has no events", is.id)) };
    if is == expected {
        return Ok(());
    }
    let text = |cluster: &Cluster| serde_json::to_value(cluster).unwrap_or_default();
    let (is_value, expected_value) = (text(is), text(expected));
    let fields = is_value.as_object().into_iter().flatten();
    let differing: Vec<&String> = fields
        .filter(|(key, value)| expected_value.get(key.as_str()) != Some(value))
        .map(|(key, _)| key)
        .collect();
    Err(format!(
        "{what} {} at event {}, and its journal says something else about {differing:?}",
        is.id, is.sequence
    ))
}

impl Checker for ReplayGivesTheState {
    fn name(&self) -> &'static str {
        "replay-gives-the-state"
    }

    fn see(&mut self, _: &Ledger, seen: &Seen<'_>) -> Verdict {
        match seen {
            Seen::Recorded { after, texts, .. } => {
                let shadow = self.shadows.entry(after.id).or_default();
                for text in *texts {
                    let event = serde_json::from_str(text).map_err(|fault| format!("{fault}: {text}"))?;
                    apply(shadow, &event);
                }
                same(after, shadow.as_ref(), "the server sees")
            }
            Seen::Recovered { state } => {
                same(state, self.shadows.get(&state.id).and_then(Option::as_ref), "a restart finds")
            }
            Seen::Over { clusters, journal, .. } => {
                for (id, texts) in *journal {
                    let events: Result<Vec<Event>, _> =
                        texts.iter().map(|text| serde_json::from_str(text)).collect();
                    let events =
                        events.map_err(|fault| format!("the journal of {id} cannot be read: {fault}"))?;
                    let Some(cluster) = clusters.get(id) else { continue };
                    same(cluster, replay(&events).as_ref(), "in the end there is")?;
                    // From a snapshot in the middle, too.
                    let middle = events.len() / 2;
                    let mut again = replay(&events[..middle]).as_ref().map(stored).transpose()?;
                    events[middle..].iter().for_each(|event| apply(&mut again, event));
                    same(cluster, again.as_ref(), "from a snapshot there is not")?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
