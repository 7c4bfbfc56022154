//! Opening: what is there is kept, and what cannot work is said.

use cooperage_domain::id::ClusterId;
use cooperage_schema::{Store, StoreError, StoreOptions};
use diesel::connection::SimpleConnection;

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::append;

on_both_engines![
    what_is_there_is_kept,
    a_database_of_a_newer_release_is_refused,
    several_servers_may_open_it_at_once,
    readers_cannot_write,
];

fn what_is_there_is_kept(fresh: &Fresh) {
    let store = fresh.open();
    store.journal().append_blocking(append(1, 0, &["a"])).unwrap();
    store.close();
    assert_eq!(fresh.open().load(ClusterId(1)).unwrap().sequence(), 1);
}

fn a_database_of_a_newer_release_is_refused(fresh: &Fresh) {
    let store = fresh.open();
    store
        .write(|engine| {
            let text = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')";
            Ok(engine.batch_execute(text)?)
        })
        .unwrap();
    store.close();
    let refused = Store::open(&fresh.url, StoreOptions::default()).map(|_| ());
    let expected = StoreError::NewerSchema { found: "9999".to_owned(), newest: "0017".to_owned() };
    assert_eq!(refused, Err(expected));
}

fn several_servers_may_open_it_at_once(fresh: &Fresh) {
    std::thread::scope(|scope| {
        for cluster in 1..=4 {
            scope.spawn(move || {
                let store = fresh.open();
                store.journal().append_blocking(append(cluster, 0, &["a"])).unwrap();
            });
        }
    });
    let store = fresh.open();
    assert!((1..=4).all(|cluster| store.load(ClusterId(cluster)).unwrap().sequence() == 1));
}

fn readers_cannot_write(fresh: &Fresh) {
    let store = fresh.open();
    let written = store.read(|engine| Ok(engine.batch_execute("DELETE FROM tenants")?));
    assert!(written.is_err());
    assert_eq!(store.tenants().unwrap().len(), 1);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let fault = Store::open(&"/nonexistent/x.db".parse().unwrap(), StoreOptions::default()).map(|_| ());
    let text = fault.unwrap_err().to_string();
    assert!(text.contains("/nonexistent/x.db") && text.contains("folder"), "{text}");
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let url = "postgres://ann:s3cret@%2Fnonexistent/coop".parse().unwrap();
    let text = Store::open(&url, StoreOptions::default()).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("nonexistent") && !text.contains("s3cret"), "{text}");
}

#[test]
fn a_full_disk_is_said_and_writing_goes_on_once_there_is_room() {
    let fresh = Fresh::sqlite();
    let store = fresh.open();
    // The connection's own limit of pages stands in for the disk's.
    let pages =
        |limit: &'static str| move |engine: &mut cooperage_schema::Engine| Ok(engine.batch_execute(limit)?);
    store.write(pages("PRAGMA max_page_count=1")).unwrap();
    let large = "x".repeat(1 << 20);
    let refused = store.journal().append_blocking(append(1, 0, &[&large])).unwrap_err();
    assert!(refused.is_retryable() && refused.to_string().contains("full"), "{refused}");
    assert!(store.journal().append_blocking(append(1, 0, &[&large])).is_ok());
}
