//! Events as they are sent: written once, whoever listens.

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::web::{Bytes, BytesMut};
use cooperage_domain::id::{ClusterId, JobId};
use cooperage_schema::{FeedFilter, PlacedEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is told of an event beside its circumstances; whatever else it has stays in the journal.
#[derive(Debug, Deserialize)]
struct Happened {
    event: String,
    job: Option<u32>,
    task: Option<u32>,
    attempt: Option<u32>,
    status: Option<Value>,
    message: Option<Value>,
}

/// An event as clients get it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    id: u64,
    cluster_id: ClusterId,
    revision: u64,
    time: i64,
    who: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a Value>,
}

/// One event in the words of the protocol. One that cannot be read is passed over, and its place with it.
fn write(event: &PlacedEvent) -> Option<String> {
    Some(format!("id: {}\ndata: {}\n\n", event.place, data(event)?))
}

/// One event as JSON, on one line.
pub fn data(event: &PlacedEvent) -> Option<String> {
    let happened: Happened = serde_json::from_str(&event.json).ok()?;
    let told = Told {
        id: event.place,
        cluster_id: event.cluster,
        revision: event.sequence,
        time: event.at_ms,
        who: &event.who,
        kind: &happened.event,
        job: happened.job.map(|number| JobId { cluster: event.cluster, number }),
        task: happened.task,
        attempt: happened.attempt,
        status: happened.status.as_ref().filter(|status| status.is_string()),
        message: happened.message.as_ref().filter(|message| message.is_string()),
    };
    serde_json::to_string(&told).ok()
}

/// Where one event lies in the text of its tenant.
#[derive(Debug)]
struct Frame {
    place: u64,
    cluster: ClusterId,
    owner: Arc<str>,
    text: Bytes,
}

/// The events of one tenant.
#[derive(Debug, Default)]
struct OfTenant {
    whole: Bytes,
    frames: Vec<Frame>,
}

/// Events that follow each other, of all tenants.
#[derive(Debug)]
pub struct Batch {
    /// The place before the first.
    pub after: u64,
    /// The place of the last.
    pub last: u64,
    /// About how much memory it takes, in bytes.
    pub size: usize,
    tenants: HashMap<String, OfTenant>,
}

/// What one tenant is told: all events in one piece, and where each ends in it.
type Text<'a> = (BytesMut, Vec<(&'a PlacedEvent, usize)>);

impl Batch {
    /// Writes events down.
    pub fn new(after: u64, events: &[PlacedEvent]) -> Self {
        let mut texts: HashMap<&str, Text<'_>> = HashMap::new();
        for event in events {
            let Some(text) = write(event) else { continue };
            let (whole, ends) = texts.entry(&event.tenant).or_default();
            whole.extend_from_slice(text.as_bytes());
            ends.push((event, whole.len()));
        }
        let mut size = 0;
        let tenants = texts.into_iter().map(|(tenant, (whole, ends))| {
            let whole = whole.freeze();
            size += whole.len() + ends.len() * size_of::<Frame>();
            let mut owners: HashMap<&str, Arc<str>> = HashMap::new();
            let mut frames = Vec::with_capacity(ends.len());
            let mut begin = 0;
            for (event, end) in ends {
                let owner = owners.entry(event.owner.as_str()).or_insert_with(|| event.owner.as_str().into());
                frames.push(Frame {
                    place: event.place,
                    cluster: event.cluster,
                    owner: Arc::clone(owner),
                    text: whole.slice(begin..end),
                });
                begin = end;
            }
            (tenant.to_owned(), OfTenant { whole, frames })
        });
        let tenants = tenants.collect();
        let last = events.last().map_or(after, |event| event.place);
        Self { after, last, size, tenants }
    }

    /// The texts that somebody wants who has seen everything up to `after`: one for all, where all are wanted.
    pub fn wanted(&self, filter: &FeedFilter, after: u64) -> Vec<Bytes> {
        let Some(of) = filter.tenant.as_ref().and_then(|tenant| self.tenants.get(tenant)) else {
            return Vec::new();
        };
        if after <= self.after && filter.cluster.is_none() && filter.owner.is_none() {
            return vec![of.whole.clone()];
        }
        let frames = of.frames.iter().filter(|frame| {
            frame.place > after
                && filter.cluster.is_none_or(|cluster| cluster == frame.cluster)
                && filter.owner.as_deref().is_none_or(|owner| owner == &*frame.owner)
        });
        frames.map(|frame| frame.text.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(place: u64, cluster: u64, owner: &str) -> PlacedEvent {
        PlacedEvent {
            place,
            cluster: ClusterId(cluster),
            tenant: "a".to_owned(),
            owner: owner.to_owned(),
            sequence: place,
            at_ms: 7,
            who: "ann".to_owned(),
            json: r#"{"event":"task_failed","task":3,"attempt":1,"report":{"status":1},"job":2}"#.to_owned(),
        }
    }

    #[test]
    fn an_event_is_one_line_of_data_with_its_place() {
        assert_eq!(
            write(&event(9, 1, "ann")).unwrap(),
            "id: 9\ndata: {\"id\":9,\"clusterId\":\"00000001\",\"revision\":9,\"time\":7,\"who\":\"ann\",\
             \"kind\":\"task_failed\",\"job\":\"00000001-002\",\"task\":3,\"attempt\":1}\n\n"
        );
    }

    #[test]
    fn everybody_gets_what_is_wanted_and_not_seen() {
        let events = [event(4, 1, "ann"), event(5, 2, "bob"), event(7, 1, "ann")];
        let batch = Batch::new(3, &events);
        let places = |filter: &FeedFilter, after| {
            let text: Vec<u8> = batch.wanted(filter, after).concat();
            let text = String::from_utf8(text).unwrap();
            text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect::<Vec<u64>>()
        };
        let tenant = FeedFilter { tenant: Some("a".to_owned()), ..FeedFilter::default() };
        assert_eq!(batch.wanted(&tenant, 3).len(), 1, "one text for all");
        assert_eq!(places(&tenant, 0), [4, 5, 7]);
        assert_eq!(places(&tenant, 4), [5, 7]);
        assert_eq!(places(&tenant, 7), Vec::<u64>::new());
        assert_eq!(places(&FeedFilter { owner: Some("bob".to_owned()), ..tenant.clone() }, 3), [5]);
        assert_eq!(places(&FeedFilter { cluster: Some(ClusterId(1)), ..tenant.clone() }, 4), [7]);
        assert_eq!(places(&FeedFilter { tenant: Some("b".to_owned()), ..tenant }, 0), Vec::<u64>::new());
    }
}
