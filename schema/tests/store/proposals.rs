//! Plans and drafts: numbered per cluster, changed by one editor at a time, carried out once.

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Expected, Proposal, ProposalKind, Store, StoreError};

use crate::fresh::{Fresh, on_both_engines};

on_both_engines![
    each_cluster_numbers_its_own,
    of_two_editors_the_second_is_refused,
    it_is_carried_out_once_and_only_as_it_was_seen,
    a_tenant_sees_its_own_drafts_of_new_clusters,
];

fn new(cluster: u64, kind: ProposalKind) -> Proposal {
    Proposal {
        cluster: ClusterId(cluster),
        tenant: None,
        number: 0,
        kind,
        title: "more memory".to_owned(),
        base: 17,
        document: r#"{"operation":"configure"}"#.to_owned(),
        decided: None,
        preview: None,
        edition: 0,
        created_ms: 5,
        created_by: "ann".to_owned(),
        changed_ms: 0,
        changed_by: String::new(),
        done: None,
    }
}

fn get(store: &Store, number: u64) -> Proposal {
    store.proposal(ClusterId(1), number).unwrap().unwrap()
}

fn each_cluster_numbers_its_own(fresh: &Fresh) {
    let store = fresh.open();
    let plan = Proposal {
        decided: Some("[]".to_owned()),
        preview: Some("{}".to_owned()),
        ..new(1, ProposalKind::Plan)
    };
    assert_eq!(store.add_proposal(new(1, ProposalKind::Draft)), Ok(1));
    assert_eq!(store.add_proposal(plan.clone()), Ok(2));
    assert_eq!(store.add_proposal(new(2, ProposalKind::Draft)), Ok(1));
    let found = get(&store, 2);
    let expected = Proposal { number: 2, edition: 1, changed_ms: 5, changed_by: "ann".to_owned(), ..plan };
    assert_eq!(found, expected);
    let numbers = |kind| -> Vec<u64> {
        store.proposals(ClusterId(1), kind).unwrap().into_iter().map(|found| found.number).collect()
    };
    assert_eq!((numbers(ProposalKind::Draft), numbers(ProposalKind::Plan)), (vec![1], vec![2]));
    store.delete_proposal(ClusterId(1), 1).unwrap();
    assert_eq!(store.proposal(ClusterId(1), 1), Ok(None));
    assert!(matches!(store.delete_proposal(ClusterId(1), 1), Err(StoreError::NotFound { .. })));
}

fn of_two_editors_the_second_is_refused(fresh: &Fresh) {
    let store = fresh.open();
    store.add_proposal(new(1, ProposalKind::Draft)).unwrap();
    let edited = |title: &str, by: &str| Proposal {
        title: title.to_owned(),
        base: 20,
        changed_ms: 9,
        changed_by: by.to_owned(),
        ..get(&store, 1)
    };
    let seen = Expected::OneOf(vec!["1".to_owned()]);
    store.change_proposal(edited("a", "ann"), seen.clone()).unwrap();
    let refused = store.change_proposal(edited("b", "ben"), seen);
    assert!(matches!(refused, Err(StoreError::Changed { now: Some(now), .. }) if now == "2"));
    store.change_proposal(edited("c", "ben"), Expected::Anything).unwrap();
    let found = get(&store, 1);
    assert_eq!((found.title.as_str(), found.edition, found.base), ("c", 3, 20));
    assert_eq!((found.created_by.as_str(), found.changed_by.as_str(), found.changed_ms), ("ann", "ben", 9));
}

fn it_is_carried_out_once_and_only_as_it_was_seen(fresh: &Fresh) {
    let store = fresh.open();
    store.add_proposal(new(1, ProposalKind::Draft)).unwrap();
    let seen = get(&store, 1);
    store.take_proposal(&seen, 30, "ben").unwrap();
    assert_eq!(get(&store, 1).done, Some((30, "ben".to_owned())));
    let is_done =
        |result: Result<(), StoreError>| matches!(result, Err(StoreError::Done { by, .. }) if by == "ben");
    assert!(is_done(store.take_proposal(&seen, 31, "eve")));
    assert!(is_done(store.change_proposal(seen.clone(), Expected::Anything)));
    assert!(is_done(store.delete_proposal(ClusterId(1), 1)));
    // It came to nothing, and may be carried out after all; but not when it is another by then.
    store.release_proposal(ClusterId(1), 1).unwrap();
    store.change_proposal(seen.clone(), Expected::Anything).unwrap();
    assert!(matches!(store.take_proposal(&seen, 32, "eve"), Err(StoreError::Changed { .. })));
    store.take_proposal(&get(&store, 1), 33, "eve").unwrap();
    assert_eq!(get(&store, 1).done, Some((33, "eve".to_owned())));
}

fn a_tenant_sees_its_own_drafts_of_new_clusters(fresh: &Fresh) {
    let store = fresh.open();
    let of = |tenant: &str, cluster| Proposal {
        tenant: Some(tenant.to_owned()),
        ..new(cluster, ProposalKind::NewCluster)
    };
    for draft in [of("a", 7), of("b", 8), of("a", 9)] {
        assert_eq!(store.add_proposal(draft), Ok(1));
    }
    store.add_proposal(new(10, ProposalKind::Draft)).unwrap();
    let found = store.drafted_clusters("a").unwrap();
    assert_eq!(found.iter().map(|draft| draft.cluster.0).collect::<Vec<_>>(), [9, 7], "newest first");
    assert_eq!(found[0].tenant.as_deref(), Some("a"));
}
