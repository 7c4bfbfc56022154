//! Tenants, tokens, counters and durations.

use std::collections::BTreeSet;

use cooperage_schema::{
    Append, DurationHistory, DurationSample, Projection, SUPERADMIN, StoreError, Tenant, Token,
};

use cooperage_domain::access::Role;
use cooperage_domain::provisioner::Provisioner;
use cooperage_schema::Registration;

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::append;

on_both_engines![
    the_operators_tenant_is_there_and_stays,
    a_tenant_keeps_its_id,
    tokens_are_found_by_hash_until_and_after_they_are_revoked,
    counters_count_in_steps,
    durations_are_gathered_over_appends,
    provisioners_are_replaced_by_id_and_forgotten,
];

fn tenant(id: &str, name: &str) -> Tenant {
    Tenant { id: id.to_owned(), name: name.to_owned(), document: format!(r#"{{"name":"{name}"}}"#) }
}

fn the_operators_tenant_is_there_and_stays(fresh: &Fresh) {
    let store = fresh.open();
    let superadmin = store.tenant(SUPERADMIN).unwrap().unwrap();
    assert_eq!(superadmin.id, SUPERADMIN);
    assert!(superadmin.document.contains(r#""name":"superadmin""#));
    assert!(matches!(store.delete_tenant(SUPERADMIN), Err(StoreError::InUse { .. })));
    assert_eq!(store.tenants(), Ok(vec![superadmin]));
}

fn a_tenant_keeps_its_id(fresh: &Fresh) {
    let store = fresh.open();
    store.create_tenant(tenant("id-1", "dept"), None, 5).unwrap();
    let again = store.create_tenant(tenant("id-2", "dept"), None, 5);
    assert_eq!(again, Err(StoreError::AlreadyExists { what: "tenant", name: "dept".to_owned() }));
    let changed = Tenant { document: "{}".to_owned(), ..tenant("id-3", "dept") };
    assert_eq!(store.put_tenant(changed), Ok(false));
    assert_eq!(store.put_tenant(tenant("id-4", "Acme")), Ok(true));
    let found = store.tenant("dept").unwrap().unwrap();
    assert_eq!((&*found.id, &*found.document), ("id-1", "{}"));
    let names: Vec<_> = store.tenants().unwrap().into_iter().map(|tenant| tenant.name).collect();
    assert_eq!(names, ["Acme", "dept", SUPERADMIN]);
    assert_eq!(store.delete_tenant("dept").unwrap().map(|gone| gone.id).as_deref(), Some("id-1"));
    assert_eq!(store.delete_tenant("dept"), Ok(None));
}

fn tokens_are_found_by_hash_until_and_after_they_are_revoked(fresh: &Fresh) {
    let store = fresh.open();
    let token = |id: &str, hash: &str| Token {
        id: id.to_owned(),
        hash: hash.to_owned(),
        tenant: "t".to_owned(),
        user: "ann".to_owned(),
        role: Role::Admin,
        created_ms: 5,
        expires_ms: Some(50),
        revoked_ms: None,
        label: "ci".to_owned(),
        scopes: ["clusters".parse().unwrap(), "read".parse().unwrap()].into(),
    };
    store.add_token(token("1", "h1")).unwrap();
    store.add_token(token("2", "h2")).unwrap();
    assert!(store.add_token(token("3", "h1")).is_err(), "a secret twice");
    assert_eq!(store.token_by_hash("h1"), Ok(Some(token("1", "h1"))));
    assert_eq!(store.token_by_hash("h9"), Ok(None));
    let unlimited = Token { scopes: BTreeSet::new(), ..token("4", "h4") };
    store.add_token(unlimited.clone()).unwrap();
    assert_eq!(store.token_by_hash("h4"), Ok(Some(unlimited)));
    store.revoke_token("1", 7).unwrap();
    store.revoke_token("1", 9).unwrap();
    assert_eq!(store.token_by_hash("h1").unwrap().unwrap().revoked_ms, Some(7));
    assert_eq!(store.tokens("t").unwrap().len(), 3);
    let counts = |token: &Token, now| (token.counts(now), now);
    let (revoked, open) = (store.token_by_hash("h1").unwrap().unwrap(), token("2", "h2"));
    assert_eq!(
        [counts(&revoked, 6), counts(&open, 49), counts(&open, 50)],
        [(false, 6), (true, 49), (false, 50)]
    );
    let missing = StoreError::NotFound { what: "token", name: "9".to_owned() };
    assert_eq!(store.revoke_token("9", 1), Err(missing));
}

fn counters_count_in_steps(fresh: &Fresh) {
    let store = fresh.open();
    let next = || store.next_number("cluster/two", 2, 3).unwrap();
    assert_eq!([next(), next(), next()], [2, 5, 8]);
    assert_eq!(store.next_number("other", 1, 1), Ok(1));
    store.close();
    assert_eq!(fresh.open().next_number("cluster/two", 2, 3), Ok(11));
}

fn durations_are_gathered_over_appends(fresh: &Fresh) {
    let store = fresh.open();
    let samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    let sample = |ms| DurationSample { key: "INSTALL/nginx".to_owned(), ms };
    let (first, rest) = samples.split_at(3);
    let projection =
        Projection { durations: first.iter().copied().map(sample).collect(), ..Projection::default() };
    store.journal().append_blocking(Append { projection, ..append(1, 0, &["a"]) }).unwrap();
    for ms in rest {
        store.record_durations(vec![sample(*ms)]).unwrap();
    }
    let expected = samples.into_iter().fold(DurationHistory::default(), DurationHistory::with);
    let found = store.durations().unwrap()["INSTALL/nginx"];
    assert_eq!(found.n, 8);
    assert!((found.mean_ms - expected.mean_ms).abs() < 1e-9, "{found:?}");
    assert!((found.m2 - expected.m2).abs() < 1e-9, "{found:?}");
}

fn provisioners_are_replaced_by_id_and_forgotten(fresh: &Fresh) {
    let store = fresh.open();
    let registration = |id: &str, capacity: u32, seen_ms| Registration {
        provisioner: Provisioner {
            id: id.to_owned(),
            host: "10.0.0.7".to_owned(),
            port: 55_056,
            capacity_total: capacity,
            assignments: [("t".to_owned(), 2)].into(),
            ..Provisioner::default()
        },
        seen_ms,
    };
    store.put_provisioners(vec![registration("p2", 5, 1), registration("p1", 5, 1)]).unwrap();
    store.put_provisioners(vec![registration("p2", 9, 3)]).unwrap();
    assert_eq!(store.provisioners(), Ok(vec![registration("p1", 5, 1), registration("p2", 9, 3)]));
    store.delete_provisioner("p1").unwrap();
    store.delete_provisioner("p1").unwrap();
    assert_eq!(store.provisioners().unwrap().len(), 1);
}
