//! Users and their sessions.

use std::collections::BTreeSet;

use cooperage_domain::access::Role;
use cooperage_schema::{SUPERADMIN, Session, StoreError, Tenant, Token, User, UserChange};

use crate::fresh::{Fresh, on_both_engines};

on_both_engines![
    users_are_kept_by_tenant_and_changed_in_parts,
    what_a_user_has_goes_with_the_user,
    somebody_always_runs_the_installation,
    sessions_end_with_time_and_with_what_they_stood_for,
];

fn user(tenant: &str, name: &str, role: Role) -> User {
    let (tenant, name) = (tenant.to_owned(), name.to_owned());
    User { tenant, name, role, password_hash: None, created_ms: 5, disabled: false }
}

fn session(id: &str, user: &str, expires_ms: i64) -> Session {
    let owned = str::to_owned;
    Session {
        id: owned(id),
        hash: format!("hash {id}"),
        tenant: owned("a"),
        user: owned(user),
        created_ms: 0,
        expires_ms,
    }
}

fn users_are_kept_by_tenant_and_changed_in_parts(fresh: &Fresh) {
    let store = fresh.open();
    let ann = user("a", "ann", Role::User);
    store.add_user(ann.clone()).unwrap();
    store.add_user(user("b", "ann", Role::Reader)).unwrap();
    let again = store.add_user(user("a", "ann", Role::Admin));
    assert_eq!(again, Err(StoreError::AlreadyExists { what: "user", name: "ann".to_owned() }));
    let change = UserChange { role: Some(Role::Admin), ..UserChange::default() };
    store.change_user("a", "ann", change, 9).unwrap();
    let change = UserChange { password_hash: Some("h".to_owned()), ..UserChange::default() };
    store.change_user("a", "ann", change, 9).unwrap();
    store.change_user("a", "ann", UserChange { disabled: Some(true), ..UserChange::default() }, 9).unwrap();
    let changed = User { role: Role::Admin, password_hash: Some("h".to_owned()), disabled: true, ..ann };
    assert_eq!(store.users("a"), Ok(vec![changed]));
    assert_eq!(store.user("b", "ann").unwrap().map(|user| user.role), Some(Role::Reader));
    let unknown = store.change_user("a", "ben", UserChange::default(), 9);
    assert_eq!(unknown, Err(StoreError::NotFound { what: "user", name: "ben".to_owned() }));
}

fn what_a_user_has_goes_with_the_user(fresh: &Fresh) {
    let store = fresh.open();
    let tenant = Tenant { id: "a".to_owned(), name: "a".to_owned(), document: "{}".to_owned() };
    store.create_tenant(tenant, None, 1).unwrap();
    for name in ["ann", "ben"] {
        store.add_user(user("a", name, Role::User)).unwrap();
        store.add_session(session(name, name, 100)).unwrap();
        let token = Token {
            id: name.to_owned(),
            hash: name.to_owned(),
            tenant: "a".to_owned(),
            user: name.to_owned(),
            role: Role::User,
            created_ms: 1,
            expires_ms: None,
            revoked_ms: None,
            label: String::new(),
            scopes: BTreeSet::new(),
        };
        store.add_token(token).unwrap();
    }
    assert_eq!(store.delete_user("a", "ann"), Ok(true));
    assert_eq!(store.delete_user("a", "ann"), Ok(false));
    let left: Vec<String> = store.tokens("a").unwrap().into_iter().map(|token| token.user).collect();
    assert_eq!(left, ["ben"]);
    assert_eq!(store.session("hash ann", 1), Ok(None));
    assert!(store.session("hash ben", 1).unwrap().is_some());
    store.delete_tenant("a").unwrap();
    assert_eq!((store.users("a"), store.session("hash ben", 1)), (Ok(vec![]), Ok(None)));
}

fn somebody_always_runs_the_installation(fresh: &Fresh) {
    let store = fresh.open();
    let change = |name: &str, change: UserChange| store.change_user(SUPERADMIN, name, change, 9);
    let lower = UserChange { role: Some(Role::User), ..UserChange::default() };
    let disable = UserChange { disabled: Some(true), ..UserChange::default() };
    let in_use = |result: Result<(), StoreError>| matches!(result, Err(StoreError::InUse { .. }));
    assert!(in_use(change("admin", lower.clone())) && in_use(change("admin", disable.clone())));
    assert!(in_use(store.delete_user(SUPERADMIN, "admin").map(drop)));
    store.add_user(user(SUPERADMIN, "root", Role::Superadmin)).unwrap();
    change("admin", disable).unwrap();
    assert!(in_use(change("root", lower)), "one that is disabled runs nothing");
    assert_eq!(store.delete_user(SUPERADMIN, "admin"), Ok(true));
}

fn sessions_end_with_time_and_with_what_they_stood_for(fresh: &Fresh) {
    let store = fresh.open();
    store.add_user(user("a", "ann", Role::User)).unwrap();
    let change = |change: UserChange| store.change_user("a", "ann", change, 9).unwrap();
    let is_open = |id: &str, now: i64| store.session(&format!("hash {id}"), now).unwrap().is_some();
    store.add_session(session("1", "ann", 100)).unwrap();
    assert!(is_open("1", 99) && !is_open("1", 100) && !is_open("2", 1));
    assert_eq!(
        store.session("hash 1", 1).unwrap().map(|(id, user)| (id, user.name)),
        Some(("1".to_owned(), "ann".to_owned()))
    );
    store.end_session("1").unwrap();
    assert!(!is_open("1", 1));
    for ending in [
        UserChange { password_hash: Some("h".to_owned()), ..UserChange::default() },
        UserChange { disabled: Some(true), ..UserChange::default() },
    ] {
        change(UserChange { disabled: Some(false), ..UserChange::default() });
        store.add_session(session("3", "ann", 100)).unwrap();
        assert!(is_open("3", 1));
        change(ending);
        change(UserChange { disabled: Some(false), ..UserChange::default() });
        assert!(!is_open("3", 1), "does not come back");
    }
}
