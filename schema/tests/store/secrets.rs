//! Secrets at rest: in no file of the database, open only in their place and with their keys, whatever is interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cooperage_domain::cluster_secrets::ClusterSecrets;
use cooperage_domain::entity::{Kind, Provider, ProviderType};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{
    Append, ClusterRow, Document, Engine, KnownSecrets, Projection, SecretsError, Store, StoreError,
    StoredEvent, StoredSealed, TERMINATED, Tenant, Vault,
};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use serde_json::{Map, Value, json};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row};

on_both_engines![
    they_are_in_no_file_of_the_database,
    outputs_are_kept_beside_what_is_given_and_found_by_their_tokens,
    every_version_has_its_own_and_unchanged_ones_are_noticed,
    they_open_only_where_they_belong,
    those_of_clusters_open_for_them_alone_and_go_with_them,
    without_the_right_key_file_nothing_starts,
    a_rotation_leaves_everything_readable_wherever_it_stops,
    what_is_stored_in_clear_is_sealed_once,
    what_earlier_releases_sealed_is_sealed_anew,
    they_go_with_their_tenant,
];

const PASSWORD: &str = "hunter2-is-no-password";
const API_KEY: &str = "k-4711-of-the-cloud";

fn provider(url: &str) -> Provider {
    let provider = json!({"name": "p", "providertype": "cloud", "provisioner":
        {"url": url, "pin": PASSWORD, "api_key": API_KEY, "retries": 3}});
    serde_json::from_value(provider).unwrap()
}

/// A store that knows the type `cloud`, which marks the field `pin`.
fn open(fresh: &Fresh) -> Store {
    let store = fresh.open();
    let kind = json!({"name": "cloud", "parameters": {"admin": {"fields":
        {"pin": {"label": "PIN", "type": "password"}, "api_key": {"label": "Key", "type": "text"}}}}});
    let kind: ProviderType = serde_json::from_value(kind).unwrap();
    store.put_entities("", vec![Document::new(kind).unwrap()], 1).unwrap();
    store
}

fn stored(store: &Store, tenant: &str, version: Option<u64>) -> Value {
    store.entity::<Provider>(tenant, "p", version).unwrap().unwrap().provisioner.into()
}

fn outputs_are_kept_beside_what_is_given_and_found_by_their_tokens(fresh: &Fresh) {
    let store = open(fresh);
    let vault = vault(&store);
    vault.keep("t", ClusterId(7), cluster_secrets()).unwrap();
    let sealed = |value: &str| {
        let values = BTreeMap::from([("key".to_owned(), json!(value))]);
        vault.seal_outputs("t", ClusterId(7), values, BTreeSet::new()).unwrap()["key"].clone()
    };
    let (one, two) = (sealed("output-one"), sealed("output-two"));
    assert!(one != two && sealed("output-one") == one && !one.to_string().contains("output"));
    vault.give("t", ClusterId(7), values(&json!({"token": "given-later"}))).unwrap();
    let elsewhere = self::vault(&store).values(ClusterId(7)).unwrap();
    for read in [vault.values(ClusterId(7)).unwrap(), elsewhere] {
        assert_eq!((read.secrets.outputs.len(), &read.secrets.given["token"]), (2, &json!("given-later")));
        assert_eq!(read.redactor.text("an output-one"), "an [redacted]");
    }
    assert!(!holds(&fresh.contents(&store), "output-one"));
}

fn holds(contents: &[u8], text: &str) -> bool {
    contents.windows(text.len()).any(|window| window == text.as_bytes())
}

fn values(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn cluster_secrets() -> ClusterSecrets {
    let (provider, given) = (json!({"pin": PASSWORD}), json!({"token": API_KEY}));
    serde_json::from_value(json!({ "provider": provider, "given": given })).unwrap()
}

fn vault(store: &Store) -> Vault {
    Vault::new(store.clone(), KnownSecrets::default())
}

fn run(store: &Store, sql: &str) {
    let sql = sql.to_owned();
    store.write(move |engine| Ok(engine.batch_execute(&sql)?)).unwrap();
}

fn texts(store: &Store, query: &'static str) -> Vec<String> {
    #[derive(QueryableByName)]
    struct Row {
        #[diesel(sql_type = Text)]
        text: String,
    }
    let read = |engine: &mut Engine| Ok(diesel::sql_query(query).load::<Row>(engine)?);
    store.read(read).unwrap().into_iter().map(|row| row.text).collect()
}

fn they_are_in_no_file_of_the_database(fresh: &Fresh) {
    let store = open(fresh);
    store.create_entity("t", provider("u"), 1).unwrap();
    store.put_entity("t", provider("v"), 2).unwrap();
    store.put_entities("t", vec![Document::new(provider("w")).unwrap()], 3).unwrap();
    store.replace_entities("s", vec![Document::new(provider("x")).unwrap()], 3).unwrap();
    let tenant = Tenant { id: "n".to_owned(), name: "n".to_owned(), document: "{}".to_owned() };
    store.create_tenant(tenant, Some("t"), 4).unwrap();
    vault(&store).keep("t", ClusterId(1), cluster_secrets()).unwrap();
    for open in [true, false] {
        let contents = fresh.contents(&store);
        for secret in [PASSWORD, API_KEY] {
            assert!(!holds(&contents, secret), "{secret} while open: {open}");
        }
        assert!(holds(&contents, "retries"), "the rest is there, so that the search finds what there is");
        if open {
            store.close();
        }
    }
    let store = fresh.open();
    let clear = |url: &str| json!({"url": url, "pin": PASSWORD, "api_key": API_KEY, "retries": 3});
    assert_eq!(stored(&store, "t", None), clear("w"));
    assert_eq!((stored(&store, "s", None), stored(&store, "n", None)), (clear("x"), clear("w")));
    let document = &store.documents("t", Kind::Provider).unwrap()[0];
    assert!(document.json().contains(PASSWORD) && !format!("{document:?}").contains(PASSWORD));
}

fn every_version_has_its_own_and_unchanged_ones_are_noticed(fresh: &Fresh) {
    let store = open(fresh);
    let mut changed = provider("u");
    changed.provisioner.insert("pin".to_owned(), "another-pin".into());
    store.put_entity("t", provider("u"), 1).unwrap();
    let put = |provider: &Provider| {
        store.put_entities("t", vec![Document::new(provider.clone()).unwrap()], 1).unwrap()[0].version()
    };
    assert_eq!((put(&provider("u")), put(&changed), put(&changed)), (1, 2, 2));
    assert_eq!(stored(&store, "t", Some(1))["pin"], PASSWORD);
    assert_eq!(stored(&store, "t", Some(2))["pin"], "another-pin");
}

fn they_open_only_where_they_belong(fresh: &Fresh) {
    let store = open(fresh);
    for tenant in ["t", "s"] {
        store.put_entity(tenant, provider("u"), 1).unwrap();
    }
    let moves = [
        // Of another tenant, of another provider, and of another field.
        "UPDATE entities SET sealed = (SELECT o.sealed FROM entities o WHERE o.tenant = 's' AND o.kind = 'providers') \
            WHERE tenant = 't' AND kind = 'providers'",
        "UPDATE entities SET name = 'q' WHERE tenant = 't' AND kind = 'providers'",
        "UPDATE entities SET sealed = replace(replace(replace(sealed, 'pin', 'x'), 'api_key', 'pin'), '\"x\"', \
            '\"api_key\"') WHERE tenant = 't' AND kind = 'providers'",
    ];
    for change in moves {
        store.delete_entity("t", Kind::Provider, "p", None).unwrap();
        store.delete_entity("t", Kind::Provider, "q", None).unwrap();
        store.put_entity("t", provider("u"), 1).unwrap();
        assert_eq!(store.entities::<Provider>("t").unwrap().len(), 1);
        run(&store, change);
        let fault = store.entities::<Provider>("t").unwrap_err();
        assert!(matches!(fault, StoreError::Secrets(SecretsError::Damaged { .. })), "{change}: {fault}");
        assert!(!fault.to_string().contains(PASSWORD), "{fault}");
    }
}

fn those_of_clusters_open_for_them_alone_and_go_with_them(fresh: &Fresh) {
    let store = open(fresh);
    let known = KnownSecrets::default();
    let vault = Vault::new(store.clone(), known.clone());
    assert!(vault.values(ClusterId(7)).unwrap().secrets.is_empty());
    vault.keep("t", ClusterId(7), cluster_secrets()).unwrap();
    assert_eq!(vault.known(ClusterId(7)).unwrap().secrets, cluster_secrets());
    assert_eq!(known.redactor().text(&format!("x {PASSWORD}")), "x [redacted]");
    vault.give("t", ClusterId(7), values(&json!({"token": "given-later"}))).unwrap();
    let again = self::vault(&store);
    let read = again.values(ClusterId(7)).unwrap();
    assert_eq!(
        (&read.secrets.provider["pin"], &read.secrets.given["token"]),
        (&json!(PASSWORD), &json!("given-later"))
    );
    assert_eq!(read.redactor.text("given-later"), "[redacted]");
    assert!(!format!("{read:?}").contains("given-later"));

    vault.keep("t", ClusterId(8), cluster_secrets()).unwrap();
    run(
        &store,
        "UPDATE secrets SET sealed = (SELECT o.sealed FROM secrets o WHERE o.cluster = 7) WHERE cluster = 8",
    );
    let fault = again.values(ClusterId(8)).unwrap_err();
    assert!(matches!(fault, StoreError::Secrets(SecretsError::Damaged { .. })), "{fault}");

    // Its last event wipes them, and no others.
    vault.keep("t", ClusterId(8), cluster_secrets()).unwrap();
    let row = ClusterRow { status: TERMINATED.to_owned(), ..cluster_row(7) };
    let projection = Projection { cluster: Some(row), ..Projection::default() };
    store.journal().append_blocking(Append { projection, ..append(7, 0, &["a"]) }).unwrap();
    vault.close(ClusterId(7));
    let after = self::vault(&store);
    assert!(after.values(ClusterId(7)).unwrap().secrets.is_empty());
    assert_eq!(after.values(ClusterId(8)).unwrap().secrets, cluster_secrets());
    vault.forget(ClusterId(8)).unwrap();
    assert!(self::vault(&store).values(ClusterId(8)).unwrap().secrets.is_empty());
    assert_eq!(known.redactor().text(PASSWORD), PASSWORD, "nobody has it any more");
}

fn refused(fresh: &Fresh) -> SecretsError {
    match fresh.try_open_as("local").map(|_| ()).unwrap_err() {
        StoreError::Secrets(fault) => fault,
        other => panic!("{other}"),
    }
}

fn without_the_right_key_file_nothing_starts(fresh: &Fresh) {
    let path = fresh.key_file();
    open(fresh).close();
    let right = std::fs::read(&path).unwrap();
    let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o644);
    assert!(matches!(refused(fresh), SecretsError::Exposed { mode: 0o644, .. }));
    set_mode(0o600);

    std::fs::remove_file(&path).unwrap();
    let fault = refused(fresh);
    assert!(
        matches!(fault, SecretsError::Missing { .. }) && fault.to_string().contains("secrets.key"),
        "{fault}"
    );
    assert!(!path.exists(), "no new key takes the place of the one that is needed");

    std::fs::write(&path, [3; 32]).unwrap();
    set_mode(0o600);
    let fault = refused(fresh);
    assert!(
        matches!(fault, SecretsError::WrongKey { .. }) && fault.to_string().contains("secrets.key"),
        "{fault}"
    );
    std::fs::write(&path, "nonsense").unwrap();
    assert!(matches!(refused(fresh), SecretsError::KeyFile { .. }));
    std::fs::write(&path, right).unwrap();
    fresh.open().close();
}

fn keys(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

fn a_rotation_leaves_everything_readable_wherever_it_stops(fresh: &Fresh) {
    let path = fresh.key_file();
    let store = open(fresh);
    for tenant in ["t", "s"] {
        store.put_entity(tenant, provider("u"), 1).unwrap();
    }
    vault(&store).keep("t", ClusterId(1), cluster_secrets()).unwrap();
    let readable = |store: &Store| {
        assert_eq!(
            (&stored(store, "t", None)["pin"], &stored(store, "s", None)["pin"]),
            (&json!(PASSWORD), &json!(PASSWORD))
        );
        assert_eq!(vault(store).values(ClusterId(1)).unwrap().secrets, cluster_secrets());
    };
    let sealed =
        texts(&store, "SELECT sealed AS text FROM entities WHERE sealed IS NOT NULL ORDER BY tenant");
    let before = keys(&path);
    assert_eq!(store.rotate_secrets(), Ok(3), "of both tenants and the installation");
    readable(&store);
    let after = keys(&path);
    assert!(after.len() == 1 && after != before, "{}", after.len());
    assert_eq!(
        texts(&store, "SELECT sealed AS text FROM entities WHERE sealed IS NOT NULL ORDER BY tenant"),
        sealed
    );
    let status = store.secrets_status().unwrap();
    assert_eq!((status.data_keys, status.data_keys_behind, status.entities, status.clusters), (3, 0, 2, 1));
    assert!(after[0].starts_with(&status.current) && status.older.is_empty());
    store.close();

    // The old key alone opens nothing any more.
    std::fs::write(&path, before.join("\n")).unwrap();
    assert!(matches!(refused(fresh), SecretsError::WrongKey { .. }));

    // Stopped after the new key was written: the file holds both, and all data keys are the old one's.
    let both = [keys(&path), after.clone()].concat();
    std::fs::write(&path, both.join("\n")).unwrap();
    let store = fresh.open();
    readable(&store);
    assert_eq!(keys(&path), before, "the first key of the file is the newest; the other has gone");
    assert_eq!(store.secrets_status().unwrap().data_keys_behind, 0);

    // Stopped in the middle of it, as another server sees it that has read the file before.
    let other = fresh.open_as("other");
    assert_eq!(store.rotate_secrets(), Ok(3));
    other.put_entity("later", provider("u"), 1).unwrap();
    readable(&other);
    readable(&store);
    assert_eq!(stored(&store, "later", None)["pin"], PASSWORD);
    other.close();
    store.close();
    readable(&fresh.open());
}

/// A store as an earlier release left it: everything in clear.
fn clear_store(fresh: &Fresh) -> Store {
    let store = open(fresh);
    let copy = |note: &str| {
        json!({"event": "cluster_requested", "order": {"provider": {"name": "p", "providertype": "cloud",
            "provisioner": {"pin": PASSWORD, "api_key": API_KEY, "url": note}}}})
        .to_string()
    };
    for (id, status) in [(1, "active"), (2, TERMINATED)] {
        let row = ClusterRow { status: status.to_owned(), tenant: "t".to_owned(), ..cluster_row(id) };
        let projection = Projection { cluster: Some(row), ..Projection::default() };
        let snapshot = Some(copy("state"));
        let events =
            [copy("event"), "{\"x\":1.5}".to_owned()].map(|json| StoredEvent { version: 1, json }).to_vec();
        store
            .journal()
            .append_blocking(Append { projection, snapshot, events, ..append(id, 0, &[]) })
            .unwrap();
    }
    let document = serde_json::to_string(&provider("u")).unwrap();
    for version in [1, 2] {
        run(
            &store,
            &format!(
                "INSERT INTO entities (tenant, kind, name, version, document, created_ms) \
            VALUES ('t', 'providers', 'p', {version}, '{document}', 1)"
            ),
        );
    }
    assert!(holds(&fresh.contents(&store), PASSWORD) && holds(&fresh.contents(&store), API_KEY));
    store
}

fn what_is_stored_in_clear_is_sealed_once(fresh: &Fresh) {
    let store = clear_store(fresh);
    let events = "SELECT event AS text FROM journal ORDER BY cluster, sequence";
    let sealed = StoredSealed { providers: 2, journals: 2, ..StoredSealed::default() };
    assert_eq!(store.seal_stored(), Ok(sealed));
    assert_eq!(store.seal_stored(), Ok(StoredSealed::default()), "a second time there is nothing");
    for version in [1, 2] {
        assert_eq!(stored(&store, "t", Some(version)), Value::from(provider("u").provisioner));
    }
    let contents = fresh.contents(&store);
    assert!(!holds(&contents, PASSWORD) && !holds(&contents, API_KEY), "not even in what was overwritten");
    let read = texts(&store, events);
    assert!(
        read[0].contains(r#""pin":"********""#) && read[0].contains("\"event\"") && read[1] == "{\"x\":1.5}"
    );
    let kept = vault(&store).values(ClusterId(1)).unwrap();
    assert_eq!(Value::from(kept.secrets.provider.clone()), json!({"pin": PASSWORD, "api_key": API_KEY}));
    assert!(vault(&store).values(ClusterId(2)).unwrap().secrets.is_empty(), "its end would have wiped them");
}

fn what_earlier_releases_sealed_is_sealed_anew(fresh: &Fresh) {
    use base64::Engine as _;
    use chacha20poly1305::aead::{Aead, AeadCore, KeyInit, OsRng, Payload};
    use chacha20poly1305::{Key, XChaCha20Poly1305};
    let key = [9; 32];
    std::fs::write(fresh.key_file(), key).unwrap();
    std::fs::set_permissions(fresh.key_file(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let store = clear_store(fresh);
    let nonce = XChaCha20Poly1305::generate_nonce(&mut OsRng);
    let text = json!({"token": "given-before"}).to_string();
    let payload = Payload { msg: text.as_bytes(), aad: b"00000001" };
    let sealed = XChaCha20Poly1305::new(Key::from_slice(&key)).encrypt(&nonce, payload).unwrap();
    let sealed = base64::engine::general_purpose::STANDARD.encode([nonce.as_slice(), &sealed].concat());
    run(&store, &format!("INSERT INTO secrets (cluster, sealed) VALUES (1, 'xc20p1:{sealed}')"));
    let given = |store: &Store| vault(store).values(ClusterId(1)).unwrap().secrets.given["token"].clone();
    assert_eq!(given(&store), "given-before");
    let sealed = StoredSealed { providers: 2, clusters: 1, journals: 2, unscrubbed: None };
    assert_eq!(store.seal_stored(), Ok(sealed));
    store.rotate_secrets().unwrap();
    assert_eq!(given(&store), "given-before");
    assert_eq!(vault(&store).values(ClusterId(1)).unwrap().secrets.provider["pin"], PASSWORD);
    assert_eq!(texts(&store, "SELECT tenant AS text FROM secrets"), ["t"]);
}

fn they_go_with_their_tenant(fresh: &Fresh) {
    let store = open(fresh);
    let tenant = Tenant { id: "t".to_owned(), name: "t".to_owned(), document: "{}".to_owned() };
    store.create_tenant(tenant, None, 1).unwrap();
    store.put_entity("t", provider("u"), 1).unwrap();
    assert_eq!(store.secrets_status().unwrap().data_keys, 2);
    store.delete_tenant("t").unwrap();
    assert_eq!(store.secrets_status().unwrap().data_keys, 1);
}
