//! Hooks, what they are to be told, and the record of their calls.

use std::collections::HashMap;

use cooperage_domain::callback::{Hook, HookEvent, OnError};
use cooperage_domain::plan::ClusterAction;
use cooperage_schema::{
    Attempted, Delivery, DeliveryFilter, DeliveryStatus, HookChange, Occurrence, Projection, StoreError,
    StoredHook, Tenant,
};
use zeroize::Zeroizing;

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::append;

on_both_engines![
    hooks_are_kept_by_tenant_and_changed_in_parts,
    secrets_of_hooks_are_sealed,
    what_happened_is_stored_with_its_event_and_fanned_out_once,
    calls_are_taken_once_until_their_time_is_over,
    what_came_of_calls_is_kept_and_pruned,
    hooks_go_with_their_tenant_and_their_calls_with_them,
];

const ALL: DeliveryFilter = DeliveryFilter { status: None, behind: None, limit: 100 };

fn secret(text: &str) -> Zeroizing<String> {
    Zeroizing::new(text.to_owned())
}

fn stored(tenant: &str, name: &str) -> StoredHook {
    let hook = Hook {
        id: format!("{tenant}-{name}"),
        tenant: Some(tenant.to_owned()),
        name: name.to_owned(),
        url: "https://ci.example.com/hook".to_owned(),
        events: [HookEvent::Start, HookEvent::LeaseWarning].into(),
        actions: [ClusterAction::ClusterCreate].into(),
        timeout: 5_000,
        on_error: OnError::Refuse,
    };
    StoredHook { hook, created_ms: 7, created_by: "ann".to_owned() }
}

fn call(hook: &str, id: &str, created_ms: i64) -> Delivery {
    Delivery {
        id: id.to_owned(),
        callback: hook.to_owned(),
        tenant: "a".to_owned(),
        event: HookEvent::Success,
        action: Some(ClusterAction::ClusterCreate),
        cluster: None,
        job: Some(2),
        body: "{}".to_owned(),
        created_ms,
        status: DeliveryStatus::Waiting,
        attempts: 0,
        tries_left: 3,
        next_ms: Some(created_ms),
    }
}

fn occurrence(sequence: u64, document: &str) -> Occurrence {
    Occurrence {
        cluster: cooperage_domain::id::ClusterId(1),
        sequence,
        tenant: "a".to_owned(),
        at_ms: 10,
        event: HookEvent::Success,
        action: Some(ClusterAction::ClusterCreate),
        job: Some(2),
        document: document.to_owned(),
    }
}

fn tried(code: Option<u16>) -> Attempted {
    Attempted { at_ms: 20, duration_ms: 3, code, answer: "o\0k".to_owned(), fault: None }
}

fn hooks_are_kept_by_tenant_and_changed_in_parts(fresh: &Fresh) {
    let store = fresh.open();
    let ci = stored("a", "ci");
    store.add_hook(ci.clone(), secret("s1")).unwrap();
    store.add_hook(stored("b", "ci"), secret("s2")).unwrap();
    let again = store.add_hook(StoredHook { created_ms: 8, ..ci.clone() }, secret("s"));
    assert_eq!(again, Err(StoreError::AlreadyExists { what: "callback", name: "ci".to_owned() }));
    assert_eq!(store.hook("a", "ci").unwrap(), Some(ci.clone()));
    assert_eq!(store.hooks(Some("a")).unwrap(), std::slice::from_ref(&ci));
    assert_eq!(store.hooks(None).unwrap().len(), 2);
    let change = HookChange {
        timeout: Some(9),
        actions: Some([].into()),
        secret: Some(secret("s3")),
        ..HookChange::default()
    };
    let changed = store.change_hook("a", "ci", change).unwrap();
    assert_eq!((changed.hook.timeout, changed.hook.actions.len(), &changed.hook.url), (9, 0, &ci.hook.url));
    assert_eq!(store.hook("a", "ci").unwrap(), Some(changed));
    assert_eq!(store.hook_secret("a", "a-ci").unwrap(), Some(secret("s3")));
    assert_eq!(store.hook_secret("b", "b-ci").unwrap(), Some(secret("s2")));
    assert!(store.change_hook("a", "no", HookChange::default()).is_err());
    assert!(store.delete_hook("a", "ci").unwrap() && !store.delete_hook("a", "ci").unwrap());
    assert_eq!(store.hook_secret("a", "a-ci").unwrap(), None);
}

fn secrets_of_hooks_are_sealed(fresh: &Fresh) {
    let store = fresh.open();
    store.add_hook(stored("a", "ci"), secret("very-secret-4711")).unwrap();
    assert_eq!(store.hook_secret("a", "a-ci").unwrap(), Some(secret("very-secret-4711")));
    // A row that is given to another tenant does not open.
    assert!(store.hook_secret("b", "a-ci").is_err());
    let contents = fresh.contents(&store);
    assert!(!contents.windows(16).any(|part| part == b"very-secret-4711"));
    store.rotate_secrets().unwrap();
    assert_eq!(store.hook_secret("a", "a-ci").unwrap(), Some(secret("very-secret-4711")));
}

fn what_happened_is_stored_with_its_event_and_fanned_out_once(fresh: &Fresh) {
    let store = fresh.open();
    let said = occurrence(1, r#"{"cluster":1}"#);
    let mut first = append(1, 0, &["ended"]);
    first.projection = Projection { occurrences: vec![said.clone()], ..Projection::default() };
    store.journal().append_blocking(first.clone()).unwrap();
    // What is refused leaves nothing.
    let mut conflict = append(1, 0, &["other"]);
    conflict.projection = Projection { occurrences: vec![occurrence(9, "{}")], ..Projection::default() };
    assert!(store.journal().append_blocking(conflict).is_err());
    assert_eq!(store.occurrences(10).unwrap(), std::slice::from_ref(&said));
    let calls = vec![call("h1", "d1", 10), call("h2", "d2", 10)];
    store.fan_out(vec![(said.clone(), calls)]).unwrap();
    assert!(store.occurrences(10).unwrap().is_empty());
    // Somebody who looked at the same time comes too late.
    store.fan_out(vec![(said, vec![call("h1", "d3", 10)])]).unwrap();
    assert_eq!(store.deliveries("h1", &ALL).unwrap(), [call("h1", "d1", 10)]);
    assert_eq!(store.deliveries("h2", &ALL).unwrap().len(), 1);
    // An append that is repeated because nobody knew whether it was stored brings nothing back.
    store.journal().append_blocking(first).unwrap();
    assert!(store.occurrences(10).unwrap().is_empty());
}

fn calls_are_taken_once_until_their_time_is_over(fresh: &Fresh) {
    let store = fresh.open();
    let calls = vec![call("h1", "d1", 10), call("h2", "d2", 11), call("h1", "d3", 50)];
    let mut first = append(1, 0, &["ended"]);
    first.projection = Projection { occurrences: vec![occurrence(1, "{}")], ..Projection::default() };
    store.journal().append_blocking(first).unwrap();
    store.fan_out(vec![(occurrence(1, "{}"), calls)]).unwrap();
    assert_eq!(store.next_delivery_ms(Vec::new()).unwrap(), Some(10));
    let room = |free| HashMap::from([("h1".to_owned(), free)]);
    let ids = |taken: Vec<Delivery>| taken.into_iter().map(|call| call.id).collect::<Vec<_>>();
    assert_eq!(ids(store.take_deliveries(20, 90, room(0), 10).unwrap()), ["d2"]);
    assert_eq!(store.next_delivery_ms(vec!["h1".to_owned()]).unwrap(), Some(90));
    assert_eq!(ids(store.take_deliveries(20, 90, room(5), 10).unwrap()), ["d1"]);
    assert!(store.take_deliveries(20, 90, room(5), 10).unwrap().is_empty());
    // Whoever took them never said what came of it.
    assert_eq!(ids(store.take_deliveries(90, 99, room(1), 10).unwrap()), ["d3", "d2"]);
    assert_eq!(ids(store.take_deliveries(90, 99, room(1), 10).unwrap()), ["d1"]);
}

fn what_came_of_calls_is_kept_and_pruned(fresh: &Fresh) {
    let store = fresh.open();
    store
        .add_delivery(Delivery { next_ms: None, attempts: 1, ..call("h1", "d1", 10) }, tried(Some(200)))
        .unwrap();
    let waiting =
        |id: &str, at| store.add_delivery(Delivery { attempts: 1, ..call("h1", id, at) }, tried(None));
    waiting("d2", 11).unwrap();
    waiting("d3", 12).unwrap();
    store.settle_delivery("d2", tried(Some(500)), DeliveryStatus::Waiting, Some(100)).unwrap();
    store.settle_delivery("d2", tried(Some(200)), DeliveryStatus::Delivered, None).unwrap();
    store.settle_delivery("gone", tried(Some(200)), DeliveryStatus::Delivered, None).unwrap();
    let (found, attempts) = store.delivery("h1", "d2").unwrap().unwrap();
    assert_eq!((found.status, found.attempts, found.tries_left), (DeliveryStatus::Delivered, 3, 1));
    assert_eq!(attempts.iter().map(|one| one.code).collect::<Vec<_>>(), [None, Some(500), Some(200)]);
    assert_eq!(attempts[0].answer, "o\u{fffd}k");
    assert!(store.delivery("h2", "d2").unwrap().is_none(), "it is another hook's");
    let again = store.redeliver("h1", "d2", 5, 70).unwrap();
    assert_eq!((again.status, again.next_ms, again.tries_left), (DeliveryStatus::Waiting, Some(70), 5));
    assert!(store.redeliver("h2", "d2", 5, 70).is_err());
    let ids = |filter: &DeliveryFilter| {
        store.deliveries("h1", filter).unwrap().into_iter().map(|call| call.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&ALL), ["d3", "d2", "d1"]);
    let behind = Some((12, "d3".to_owned()));
    assert_eq!(ids(&DeliveryFilter { behind, limit: 1, ..DeliveryFilter::default() }), ["d2"]);
    store.settle_delivery("d2", tried(Some(200)), DeliveryStatus::Delivered, None).unwrap();
    assert_eq!(ids(&DeliveryFilter { status: Some(DeliveryStatus::Delivered), ..ALL }), ["d2"]);
    // What waits is kept, however old and however many.
    assert_eq!(store.prune_deliveries(0, 2).unwrap(), 1);
    assert_eq!(ids(&ALL), ["d3", "d2"]);
    assert_eq!(store.prune_deliveries(1_000, 2).unwrap(), 1);
    assert_eq!(ids(&ALL), ["d3"]);
}

fn hooks_go_with_their_tenant_and_their_calls_with_them(fresh: &Fresh) {
    let store = fresh.open();
    let tenant = Tenant { id: "a".to_owned(), name: "dept".to_owned(), document: "{}".to_owned() };
    store.put_tenant(tenant).unwrap();
    store.add_hook(stored("a", "ci"), secret("s")).unwrap();
    store.add_delivery(call("a-ci", "d1", 10), tried(Some(200))).unwrap();
    store.delete_tenant("dept").unwrap();
    assert!(store.hooks(None).unwrap().is_empty());
    assert!(store.delivery("a-ci", "d1").unwrap().is_none());
}
