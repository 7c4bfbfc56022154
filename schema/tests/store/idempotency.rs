//! Keys of requests: claimed once, completed with what they create, forgotten in time.

use cooperage_domain::entity::{Base, HardwareType, Kind};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{Claim, Expected, KeptAnswer, NodePlace, RequestKey, StoreError};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row, node_row};

on_both_engines![
    a_key_stands_for_one_request_until_its_time_is_over,
    what_is_created_and_its_answer_are_durable_together_or_not_at_all,
    a_key_names_one_cluster,
    a_write_is_done_only_on_what_is_expected,
    nodes_are_listed_behind_a_place,
];

fn key(name: &str) -> RequestKey {
    RequestKey { tenant: "t".to_owned(), user: "ann".to_owned(), key: name.to_owned() }
}

fn answer(body: &str) -> KeptAnswer {
    KeptAnswer { status: 200, content_type: Some("application/json".to_owned()), body: body.to_owned() }
}

fn hardware(description: &str) -> HardwareType {
    let base =
        Base { name: "small".to_owned(), description: Some(description.to_owned()), ..Base::default() };
    HardwareType { base, ..HardwareType::default() }
}

fn a_key_stands_for_one_request_until_its_time_is_over(fresh: &Fresh) {
    let store = fresh.open();
    let claim =
        |name: &str, request: &str, now| store.claim_key(key(name), request.to_owned(), now, now + 100);
    assert_eq!(claim("k", "a", 0), Ok(Claim::New));
    assert_eq!(claim("k", "a", 1), Ok(Claim::Unanswered(None)));
    assert_eq!(claim("k", "b", 1), Ok(Claim::OtherRequest));
    let others = RequestKey { user: "bob".to_owned(), ..key("k") };
    assert_eq!(store.claim_key(others, "b".to_owned(), 1, 2), Ok(Claim::New));
    store.complete_key(key("k"), answer("first")).unwrap();
    store.complete_key(key("k"), answer("second")).unwrap();
    store.release_key(key("k")).unwrap();
    assert_eq!(claim("k", "a", 99), Ok(Claim::Answered(answer("first"))));
    assert_eq!(claim("k", "b", 100), Ok(Claim::New), "its time is over");
    store.release_key(key("k")).unwrap();
    assert_eq!(claim("k", "c", 101), Ok(Claim::New), "it was released");
    store.close();
    let store = fresh.open();
    assert_eq!(store.sweep_keys(200), Ok(1), "that of the other user");
    assert_eq!(store.sweep_keys(201), Ok(1));
}

fn what_is_created_and_its_answer_are_durable_together_or_not_at_all(fresh: &Fresh) {
    let store = fresh.open();
    store.claim_key(key("k"), "a".to_owned(), 0, 9).unwrap();
    store.completing(key("k"), answer("")).create_entity("t", hardware("a"), 1).unwrap();
    assert_eq!(store.claim_key(key("k"), "a".to_owned(), 0, 9), Ok(Claim::Answered(answer(""))));
    // Somebody else has carried the request out: nothing is written a second time.
    let other = HardwareType { base: Base { name: "other".to_owned(), ..Base::default() }, ..hardware("b") };
    let again = store.completing(key("k"), answer("")).create_entity("t", other, 1);
    assert!(matches!(again, Err(StoreError::Contended { .. })), "{again:?}");
    assert_eq!(store.entities::<HardwareType>("t").unwrap().len(), 1);
    // What is refused leaves the key as it was.
    store.claim_key(key("l"), "a".to_owned(), 0, 9).unwrap();
    let taken = store.completing(key("l"), answer("")).create_entity("t", hardware("c"), 1);
    assert!(matches!(taken, Err(StoreError::AlreadyExists { .. })), "{taken:?}");
    assert_eq!(store.claim_key(key("l"), "a".to_owned(), 0, 9), Ok(Claim::Unanswered(None)));
}

fn a_key_names_one_cluster(fresh: &Fresh) {
    let store = fresh.open();
    store.claim_key(key("k"), "a".to_owned(), 0, 9).unwrap();
    store.bind_cluster(key("k"), ClusterId(7)).unwrap();
    assert!(matches!(store.bind_cluster(key("k"), ClusterId(8)), Err(StoreError::Contended { .. })));
    assert_eq!(store.claim_key(key("k"), "a".to_owned(), 0, 9), Ok(Claim::Unanswered(Some(ClusterId(7)))));
}

fn a_write_is_done_only_on_what_is_expected(fresh: &Fresh) {
    let store = fresh.open();
    let put =
        |description: &str, expected| store.put_entity_expecting("t", hardware(description), 1, expected);
    let state = || store.entity_with_state::<HardwareType>("t", "small", None).unwrap().unwrap().1;
    assert!(matches!(put("a", Expected::Something), Err(StoreError::Changed { now: None, .. })));
    assert_eq!(put("a", Expected::Nothing), Ok(1));
    assert!(matches!(put("b", Expected::Nothing), Err(StoreError::Changed { now: Some(_), .. })));
    let first = state();
    assert_eq!(put("b", Expected::OneOf(vec!["9.x".to_owned(), first.clone()])), Ok(2));
    assert!(matches!(put("c", Expected::OneOf(vec![first.clone()])), Err(StoreError::Changed { .. })));
    let delete = |expected| store.delete_entity_expecting("t", Kind::HardwareType, "small", None, expected);
    assert!(matches!(delete(Expected::OneOf(vec![first.clone()])), Err(StoreError::Changed { .. })));
    assert_eq!(delete(Expected::OneOf(vec![state()])), Ok(2));
    // The same version of the same name, and another document.
    assert_eq!(put("d", Expected::Anything), Ok(1));
    assert!(matches!(put("e", Expected::OneOf(vec![first])), Err(StoreError::Changed { .. })));
}

fn nodes_are_listed_behind_a_place(fresh: &Fresh) {
    let store = fresh.open();
    for cluster in [1, 2] {
        let mut new = append(cluster, 0, &["created"]);
        new.projection.cluster = Some(cluster_row(cluster));
        new.projection.nodes = (1..=2).map(|number| node_row(cluster, number)).collect();
        store.journal().append_blocking(new).unwrap();
    }
    let tenant = cluster_row(1).tenant;
    let whole = store.all_nodes(Some(&tenant), None).unwrap();
    assert_eq!(whole.len(), 4);
    let mut found = Vec::new();
    let mut place = None;
    loop {
        let part = store.nodes_behind(&tenant, None, place.as_ref(), 1).unwrap();
        let Some(node) = part.first() else { break };
        place = Some(NodePlace { cluster: node.cluster, number: node.number, id: node.id.clone() });
        found.extend(part);
    }
    assert_eq!(found, whole);
    assert_eq!(store.nodes_behind(&tenant, Some("nobody"), None, 9), Ok(Vec::new()));
}
