//! The life of plugin resources.

use cooperage_schema::ResourceStatus::{Active, Inactive, Recalled, Staged};
use cooperage_schema::{PluginSide, Resource, ResourcePath, ResourceStatus, Store, StoreError, Tenant};

use crate::fresh::{Fresh, on_both_engines};

on_both_engines![
    versions_come_into_use_one_at_a_time,
    a_recall_can_be_taken_back_and_displaces_what_was_staged,
    numbers_are_never_given_twice,
    only_inactive_versions_are_deleted,
    tenants_sync_for_themselves_and_may_be_copied,
];

fn path(tenant: &str) -> ResourcePath {
    ResourcePath {
        tenant: tenant.to_owned(),
        side: PluginSide::Automator,
        plugin: "shell".to_owned(),
        kind: "scripts".to_owned(),
    }
}

fn add(store: &Store, name: &str) -> u64 {
    let version = store.number_resource(&path("t"), name).unwrap();
    let (of, name, sha256) = (path("t"), name.to_owned(), "00ff".to_owned());
    store.add_resource(Resource { of, name, version, status: Inactive, sha256, size: 12 }).unwrap();
    version
}

fn statuses(store: &Store, name: &str) -> Vec<(u64, ResourceStatus)> {
    let all = store.resources(&path("t"), Some(name)).unwrap();
    all.iter().map(|row| (row.version, row.status)).collect()
}

fn versions_come_into_use_one_at_a_time(fresh: &Fresh) {
    let store = fresh.open();
    let stage = |version| store.stage_resource(&path("t"), "nginx", version).unwrap();
    let recall = |version| store.recall_resource(&path("t"), "nginx", version).unwrap();
    for version in 1..=3 {
        assert_eq!(add(&store, "nginx"), version);
    }
    add(&store, "other");
    stage(1);
    stage(2);
    assert_eq!(statuses(&store, "nginx"), [(1, Inactive), (2, Staged), (3, Inactive)]);
    let live = store.sync_resources("t").unwrap();
    assert_eq!(live.iter().map(|row| (&*row.name, row.version)).collect::<Vec<_>>(), [("nginx", 2)]);
    assert_eq!((&*live[0].sha256, live[0].size), ("00ff", 12));
    assert_eq!(store.live_resources("t").unwrap(), live);

    stage(3);
    assert_eq!(statuses(&store, "nginx"), [(1, Inactive), (2, Recalled), (3, Staged)]);
    assert_eq!(store.live_resources("t").unwrap()[0].version, 2, "in use until the sync");
    store.sync_resources("t").unwrap();
    assert_eq!(statuses(&store, "nginx"), [(1, Inactive), (2, Inactive), (3, Active)]);
    recall(3);
    recall(1);
    assert_eq!(statuses(&store, "nginx"), [(1, Inactive), (2, Inactive), (3, Recalled)]);
    assert_eq!(store.sync_resources("t"), Ok(vec![]));
    assert_eq!(statuses(&store, "other"), [(1, Inactive)]);
}

fn a_recall_can_be_taken_back_and_displaces_what_was_staged(fresh: &Fresh) {
    let store = fresh.open();
    let stage = |version| store.stage_resource(&path("t"), "nginx", version).unwrap();
    add(&store, "nginx");
    add(&store, "nginx");
    stage(1);
    store.sync_resources("t").unwrap();
    stage(2);
    stage(1);
    assert_eq!(statuses(&store, "nginx"), [(1, Active), (2, Inactive)]);
    assert_eq!(store.sync_resources("t").unwrap().len(), 1);
}

fn numbers_are_never_given_twice(fresh: &Fresh) {
    let store = fresh.open();
    assert_eq!((add(&store, "nginx"), add(&store, "nginx")), (1, 2));
    store.delete_resource(&path("t"), "nginx", 2).unwrap();
    assert_eq!(add(&store, "nginx"), 3);
    assert_eq!(store.delete_resources(&path("t"), "nginx"), Ok(2));
    assert_eq!(store.delete_resources(&path("t"), "nginx"), Ok(0));
    assert_eq!((add(&store, "nginx"), add(&store, "other")), (4, 1));
}

fn only_inactive_versions_are_deleted(fresh: &Fresh) {
    let store = fresh.open();
    add(&store, "nginx");
    add(&store, "nginx");
    store.stage_resource(&path("t"), "nginx", 2).unwrap();
    for refused in [
        store.delete_resource(&path("t"), "nginx", 2),
        store.delete_resources(&path("t"), "nginx").map(|_| ()),
    ] {
        assert!(matches!(refused, Err(StoreError::InUse { .. })), "{refused:?}");
    }
    assert_eq!(statuses(&store, "nginx"), [(1, Inactive), (2, Staged)], "all or none");
    for missing in [
        store.delete_resource(&path("t"), "nginx", 9),
        store.stage_resource(&path("t"), "nginx", 9),
        store.recall_resource(&path("t"), "nope", 1),
    ] {
        assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    }
}

fn tenants_sync_for_themselves_and_may_be_copied(fresh: &Fresh) {
    let store = fresh.open();
    add(&store, "nginx");
    add(&store, "nginx");
    store.stage_resource(&path("t"), "nginx", 2).unwrap();
    assert_eq!(store.sync_resources("u"), Ok(vec![]));
    assert_eq!(statuses(&store, "nginx"), [(1, Inactive), (2, Staged)]);

    let tenant = Tenant { id: "u".to_owned(), name: "copy".to_owned(), document: "{}".to_owned() };
    store.create_tenant(tenant, Some("t"), 5).unwrap();
    let copies = store.resources(&path("u"), None).unwrap();
    let copies: Vec<_> = copies.iter().map(|row| (row.version, row.status)).collect();
    assert_eq!(copies, statuses(&store, "nginx"));
    assert_eq!(store.number_resource(&path("u"), "nginx"), Ok(3));
}
