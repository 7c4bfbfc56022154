//! What a tenant begins with, and what goes with it.

use std::collections::BTreeSet;

use cooperage_domain::access::Role;
use cooperage_domain::entity::{Entity, Kind, Service};
use cooperage_schema::{
    Append, ClusterRow, Document, Projection, RegisteredNode, Store, StoreError, TERMINATED, Tenant, Token,
};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row};

on_both_engines![
    a_tenant_may_begin_with_what_another_describes,
    an_import_replaces_everything_or_nothing,
    a_tenant_goes_with_its_own_and_only_without_live_clusters,
    profiles_and_nodes_are_kept_by_tenant,
];

fn tenant(id: &str) -> Tenant {
    Tenant { id: id.to_owned(), name: id.to_owned(), document: "{}".to_owned() }
}

fn service(name: &str) -> Service {
    let mut service = Service::default();
    service.base_mut().name = name.to_owned();
    service
}

fn names(store: &Store, tenant: &str) -> Vec<(String, Option<u64>)> {
    let all = store.entities::<Service>(tenant).unwrap();
    all.iter().map(|service| (service.name().to_owned(), service.base().version)).collect()
}

fn a_tenant_may_begin_with_what_another_describes(fresh: &Fresh) {
    let store = fresh.open();
    store.put_entity("a", service("web"), 1).unwrap();
    store.put_entity("a", service("web"), 2).unwrap();
    store.create_tenant(tenant("b"), Some("a"), 3).unwrap();
    store.create_tenant(tenant("c"), None, 3).unwrap();
    assert_eq!(names(&store, "b"), [("web".to_owned(), Some(1))], "the newest, as first version");
    assert_eq!(names(&store, "c"), []);
    let again = store.create_tenant(Tenant { id: "d".to_owned(), ..tenant("b") }, Some("a"), 4);
    assert!(matches!(again, Err(StoreError::AlreadyExists { .. })));
    assert_eq!(names(&store, "d"), [], "nothing is left of a tenant that was not made");
}

fn an_import_replaces_everything_or_nothing(fresh: &Fresh) {
    let store = fresh.open();
    store.put_entity("a", service("old"), 1).unwrap();
    store.put_entity("b", service("other"), 1).unwrap();
    let document = |name| Document::new(service(name)).unwrap();
    let twice = store.replace_entities("a", vec![document("new"), document("new")], 2);
    assert_eq!(twice, Err(StoreError::AlreadyExists { what: Kind::Service.noun(), name: "new".to_owned() }));
    assert_eq!(names(&store, "a"), [("old".to_owned(), Some(1))]);
    store.replace_entities("a", vec![document("new")], 2).unwrap();
    assert_eq!(names(&store, "a"), [("new".to_owned(), Some(1))]);
    assert_eq!(names(&store, "b"), [("other".to_owned(), Some(1))]);
}

fn project(store: &Store, sequence: u64, status: &str) {
    let row = ClusterRow { tenant: "a".to_owned(), status: status.to_owned(), ..cluster_row(7) };
    let projection = Projection { cluster: Some(row), ..Projection::default() };
    store.journal().append_blocking(Append { projection, ..append(7, sequence, &["a"]) }).unwrap();
}

fn a_tenant_goes_with_its_own_and_only_without_live_clusters(fresh: &Fresh) {
    let store = fresh.open();
    for id in ["a", "b"] {
        store.create_tenant(tenant(id), None, 1).unwrap();
        store.put_entity(id, service("web"), 1).unwrap();
        store.put_profile(id, "ann", "{}".to_owned()).unwrap();
        store
            .add_token(Token {
                id: id.to_owned(),
                hash: id.to_owned(),
                tenant: id.to_owned(),
                user: "ann".to_owned(),
                role: Role::User,
                created_ms: 1,
                expires_ms: None,
                revoked_ms: None,
                label: String::new(),
                scopes: BTreeSet::new(),
            })
            .unwrap();
    }
    project(&store, 0, "incomplete");
    assert_eq!(store.nodes_of_live_clusters("a").unwrap().len(), 1);
    assert!(matches!(store.delete_tenant("a"), Err(StoreError::InUse { .. })));
    project(&store, 1, TERMINATED);
    assert_eq!(store.nodes_of_live_clusters("a"), Ok(vec![]));
    assert_eq!(store.delete_tenant("a").unwrap(), Some(tenant("a")));
    assert_eq!((names(&store, "a").len(), names(&store, "b").len()), (0, 1));
    assert_eq!((store.profile("a", "ann"), store.profile("b", "ann")), (Ok(None), Ok(Some("{}".to_owned()))));
    assert_eq!((store.tokens("a").unwrap().len(), store.tokens("b").unwrap().len()), (0, 1));
    assert_eq!((store.tenant_by_id("a"), store.tenant_by_id("b")), (Ok(None), Ok(Some(tenant("b")))));
}

fn profiles_and_nodes_are_kept_by_tenant(fresh: &Fresh) {
    let store = fresh.open();
    store.put_profile("a", "ann", "1".to_owned()).unwrap();
    store.put_profile("a", "ann", "2".to_owned()).unwrap();
    assert_eq!((store.profile("a", "ann"), store.profile("a", "ben")), (Ok(Some("2".to_owned())), Ok(None)));
    store.delete_profile("a", "ann").unwrap();
    assert_eq!(store.profile("a", "ann"), Ok(None));

    let node = |tenant: &str, owner: &str, document: &str| RegisteredNode {
        tenant: tenant.to_owned(),
        id: "n".to_owned(),
        owner: owner.to_owned(),
        document: document.to_owned(),
    };
    store.put_registered_node(node("a", "ann", "1")).unwrap();
    store.put_registered_node(node("a", "admin", "2")).unwrap();
    store.put_registered_node(node("b", "ben", "3")).unwrap();
    assert_eq!(store.registered_node("a", "n"), Ok(Some(node("a", "ann", "2"))), "the owner stays");
    assert_eq!(store.registered_nodes("a", Some("admin")), Ok(vec![]));
    assert_eq!(store.registered_nodes("b", None), Ok(vec![node("b", "ben", "3")]));
    store.delete_registered_node("a", "n").unwrap();
    assert_eq!(store.registered_nodes("a", None), Ok(vec![]));
}
