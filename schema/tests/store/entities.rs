//! Versions of entities.

use cooperage_domain::entity::ProviderType;
use cooperage_domain::entity::{Base, Entity, HardwareType, Kind, Provider};
use cooperage_schema::{Document, Put, StoreError};

use crate::fresh::{Fresh, on_both_engines};

on_both_engines![
    each_put_is_a_version_and_the_newest_is_read,
    creating_what_exists_fails,
    versions_are_deleted_alone_or_together,
    applying_the_same_again_changes_nothing,
    applying_is_all_or_nothing,
    tenants_see_their_own_and_plugin_types_are_global,
    a_rule_that_does_not_hold_is_told,
];

fn provider(name: &str, description: &str) -> Provider {
    let mut provider = Provider::default();
    let base = provider.base_mut();
    *base = Base {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        version: Some(99),
        ..Base::default()
    };
    provider.providertype = "local".to_owned();
    provider
}

fn described(provider: &Provider) -> (Option<u64>, &str) {
    (provider.base().version, provider.base().description.as_deref().unwrap())
}

fn each_put_is_a_version_and_the_newest_is_read(fresh: &Fresh) {
    let store = fresh.open();
    assert_eq!(store.put_entity("t", provider("b", "one"), 1), Ok(1));
    assert_eq!(store.put_entity("t", provider("b", "two"), 2), Ok(2));
    assert_eq!(store.put_entity("t", provider("b", "two"), 3), Ok(3), "a put is a version, changed or not");
    store.create_entity("t", provider("A", "other"), 1).unwrap();
    store
        .create_entity("t", HardwareType { base: provider("b", "").base().clone(), ..Default::default() }, 1)
        .unwrap();

    let all: Vec<Provider> = store.entities("t").unwrap();
    assert_eq!(all.iter().map(described).collect::<Vec<_>>(), [(Some(1), "other"), (Some(3), "two")]);
    let find = |version| store.entity::<Provider>("t", "b", version).unwrap();
    assert_eq!(described(&find(None).unwrap()), (Some(3), "two"));
    assert_eq!(described(&find(Some(1)).unwrap()), (Some(1), "one"));
    assert_eq!((find(Some(4)), store.entity::<Provider>("t", "c", None).unwrap()), (None, None));
    let json = &store.documents("t", Kind::Provider).unwrap()[1];
    assert_eq!((json.name(), json.kind(), json.json().contains("version")), ("b", Kind::Provider, false));
}

fn creating_what_exists_fails(fresh: &Fresh) {
    let store = fresh.open();
    store.create_entity("t", provider("p", "one"), 1).unwrap();
    let again = store.create_entity("t", provider("p", "two"), 2);
    assert_eq!(again, Err(StoreError::AlreadyExists { what: "provider", name: "p".to_owned() }));
    assert_eq!(store.entity_versions("t", Kind::Provider, "p"), Ok(vec![1]));
}

fn versions_are_deleted_alone_or_together(fresh: &Fresh) {
    let store = fresh.open();
    for version in 1..=3 {
        assert_eq!(store.put_entity("t", provider("p", "x"), 1), Ok(version));
    }
    let delete = |version| store.delete_entity("t", Kind::Provider, "p", version).unwrap();
    assert_eq!((delete(Some(2)), delete(Some(2))), (1, 0));
    assert_eq!(store.entity_versions("t", Kind::Provider, "p"), Ok(vec![1, 3]));
    assert_eq!(delete(Some(3)), 1);
    assert_eq!(store.put_entity("t", provider("p", "x"), 1), Ok(2), "one above what is left");
    assert_eq!((delete(None), delete(None)), (2, 0));
    assert_eq!(store.put_entity("t", provider("p", "x"), 1), Ok(1));
}

fn applying_the_same_again_changes_nothing(fresh: &Fresh) {
    let store = fresh.open();
    let apply = |described: [&str; 2]| {
        let documents = [("a", described[0]), ("b", described[1])]
            .map(|(name, description)| Document::new(provider(name, description)).unwrap());
        store.put_entities("t", documents.to_vec(), 1).unwrap()
    };
    assert_eq!(apply(["x", "y"]), [Put::Created(1), Put::Created(1)]);
    assert_eq!(apply(["x", "y"]), [Put::Unchanged(1), Put::Unchanged(1)]);
    assert_eq!(apply(["x", "z"]), [Put::Unchanged(1), Put::Changed(2)]);
    assert_eq!(apply(["x", "y"]), [Put::Unchanged(1), Put::Changed(3)]);
}

fn applying_is_all_or_nothing(fresh: &Fresh) {
    let store = fresh.open();
    store
        .write(|engine| {
            diesel::connection::SimpleConnection::batch_execute(
                engine,
                "ALTER TABLE entities ADD COLUMN extra BIGINT CHECK (name <> 'bad')",
            )?;
            Ok(())
        })
        .unwrap();
    let documents = ["good", "bad"].map(|name| Document::new(provider(name, "x")).unwrap());
    assert!(store.put_entities("t", documents.to_vec(), 1).is_err());
    assert_eq!(store.entities::<Provider>("t"), Ok(vec![]));
}

fn tenants_see_their_own_and_plugin_types_are_global(fresh: &Fresh) {
    let store = fresh.open();
    store.create_entity("one", provider("p", "x"), 1).unwrap();
    assert_eq!(store.entity::<Provider>("two", "p", None), Ok(None));
    assert_eq!(store.delete_entity("two", Kind::Provider, "p", None), Ok(0));

    let mut plugin = ProviderType::default();
    plugin.base_mut().name = "local".to_owned();
    store.create_entity("one", plugin, 1).unwrap();
    assert_eq!(store.entities::<ProviderType>("two").unwrap().len(), 1);
}

fn a_rule_that_does_not_hold_is_told(fresh: &Fresh) {
    let store = fresh.open();
    let refused = store.put_entity("t", provider("no spaces", "x"), 1);
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
}
