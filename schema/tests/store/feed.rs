//! The events of all clusters, in one order.

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Append, ClusterRow, FeedFilter, Projection};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row};

on_both_engines![events_of_all_clusters_come_once_and_in_order_to_those_who_may_see_them];

fn events_of_all_clusters_come_once_and_in_order_to_those_who_may_see_them(fresh: &Fresh) {
    let store = fresh.open();
    assert_eq!(store.newest_place(), Ok(0));
    let owner = |id: u64| if id == 3 { "bob" } else { "ann" };
    for round in 0..10 {
        for id in 1..=4 {
            let tenant = if id == 4 { "dept-b" } else { "dept-a" };
            let row =
                ClusterRow { tenant: tenant.to_owned(), owner: owner(id).to_owned(), ..cluster_row(id) };
            let projection = Projection { cluster: Some(row), ..Projection::default() };
            let events = Append { projection, ..append(id, round * 2, &["a", "b"]) };
            store.journal().append_blocking(events).unwrap();
        }
    }
    let all = store.feed(0, u64::MAX, &FeedFilter::default(), 1000).unwrap();
    assert_eq!(all.len(), 80);
    assert_eq!(store.newest_place().unwrap(), all.last().unwrap().place);
    assert!(all.is_sorted_by(|one, next| one.place < next.place));
    for id in 1..=4 {
        let of: Vec<u64> =
            all.iter().filter(|event| event.cluster == ClusterId(id)).map(|event| event.sequence).collect();
        assert_eq!(of, (1..=20).collect::<Vec<_>>());
    }
    let filters = [
        (FeedFilter { cluster: Some(ClusterId(2)), ..FeedFilter::default() }, 20),
        (FeedFilter { tenant: Some("dept-a".to_owned()), ..FeedFilter::default() }, 60),
        (FeedFilter { tenant: Some("dept-a".into()), owner: Some("bob".into()), cluster: None }, 20),
        (FeedFilter { tenant: Some("dept-b".into()), owner: Some("bob".into()), cluster: None }, 0),
    ];
    for (filter, count) in filters {
        let (mut parts, mut after) = (Vec::new(), 0);
        loop {
            let part = store.feed(after, u64::MAX, &filter, 7).unwrap();
            let Some(last) = part.last() else { break };
            after = last.place;
            parts.extend(part);
        }
        let expected: Vec<_> = all
            .iter()
            .filter(|event| filter.cluster.is_none_or(|id| event.cluster == id))
            .filter(|event| filter.tenant.as_ref().is_none_or(|tenant| *tenant == event.tenant))
            .filter(|event| filter.owner.as_ref().is_none_or(|owner| *owner == event.owner))
            .cloned()
            .collect();
        assert_eq!((parts.len(), parts), (count, expected));
    }
}
