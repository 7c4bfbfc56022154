//! Entities: versions, names, and whole collections at once.

use serde_json::{Value, json};

use crate::world::{ADMIN, ANN, BEN, SUPERADMIN, with_tenant};

/// A valid entity of each kind.
fn samples() -> [(&'static str, Value); 6] {
    [
        ("providers", json!({"name": "a", "providertype": "x", "provisioner": {"n": 5}})),
        ("hardwaretypes", json!({"name": "a", "providermap": {"p": {"flavor": 5}}})),
        ("imagetypes", json!({"name": "a", "providermap": {"p": {"image": "i"}}})),
        ("services", json!({"name": "a", "dependencies": {"provides": [], "conflicts": []}})),
        ("clustertemplates", json!({"name": "a", "defaults": {"services": ["s"]}})),
        ("partialtemplates", json!({"name": "a", "immutable": "false"})),
    ]
}

#[tokio::test]
async fn every_kind_has_versions() {
    let server = with_tenant(5, 5).await;
    for (kind, entity) in samples() {
        let (all, one) = (format!("/v2/{kind}"), format!("/v2/{kind}/a"));
        server.post(ADMIN, &all, &entity).await.ok();
        server.post(ADMIN, &all, &entity).await.refused(409, "already exists");
        server.put(ADMIN, &one, &entity).await.ok();
        assert_eq!(server.get(ANN, &one).await.ok()["version"], 2, "{kind}: also when nothing changes");
        assert_eq!(server.get(ANN, &format!("{one}/1")).await.ok()["version"], 1);
        server.get(ANN, &format!("{one}/3")).await.refused(404, "not found");
        server.put(ADMIN, &format!("{all}/b"), &entity).await.refused(400, "mismatch");
        assert_eq!(
            server.get("ann@superadmin", &one).await.status,
            404,
            "{kind}: tenants do not see each other's"
        );

        server.delete(ADMIN, &format!("{one}/2")).await.ok();
        server.put(ADMIN, &one, &entity).await.ok();
        assert_eq!(server.get(ANN, &one).await.ok()["version"], 2, "{kind}: the number is used again");
        server.delete(ADMIN, &one).await.ok();
        assert_eq!(server.get(ANN, &all).await.ok(), json!([]), "{kind}");
        let mut bad = entity;
        bad["name"] = "no good".into();
        server.post(ADMIN, &all, &bad).await.refused(400, "invalid input");
    }
}

#[tokio::test]
async fn what_coopr_insists_on_is_asked_for() {
    let server = with_tenant(5, 5).await;
    for (kind, entity, field) in [
        ("providers", json!({"name": "a"}), "providertype"),
        ("hardwaretypes", json!({"name": "a"}), "providermap"),
        ("services", json!({"name": "a", "dependencies": {"conflicts": []}}), "provides"),
        ("services", json!({"name": "a", "provisioner": {"actions": {"INSTALL": {"type": "t"}}}}), "INSTALL"),
        ("clustertemplates", json!({"name": "a", "constraints": {"services": {"s": {}}}}), "quantities"),
        ("clustertemplates", json!({"name": "a", "constraints": {"size": {"min": 0}}}), "size"),
        (
            "clustertemplates",
            json!({"name": "a",
            "administration": {"leaseduration": {"initial": "2d", "max": "1d"}}}),
            "lease",
        ),
        ("partialtemplates", json!({"name": "a"}), "immutable"),
    ] {
        server.post(ADMIN, &format!("/v2/{kind}"), &entity).await.refused(400, field);
    }
}

#[tokio::test]
async fn an_import_replaces_everything_or_nothing() {
    let server = with_tenant(5, 5).await;
    let all: Value = samples().into_iter().map(|(kind, entity)| (kind.to_owned(), json!([entity]))).collect();
    server.post(ADMIN, "/v2/import", &all).await.ok();
    let exported = server.get(ANN, "/v2/export").await.ok();
    assert_eq!(exported.as_object().unwrap().len(), 6);
    assert!(exported.as_object().unwrap().values().all(|kind| kind[0]["version"] == 1));
    assert_eq!(exported["providers"][0]["provisioner"]["n"], 5, "numbers stay what they are");

    let twice = json!({"services": [samples()[3].1, samples()[3].1]});
    server.post(ADMIN, "/v2/import", &twice).await.refused(409, "already exists");
    let bad = json!({"providers": [{"name": "a", "providertype": "x"}, {"name": "b"}]});
    server.post(ADMIN, "/v2/import", &bad).await.refused(400, "providers[1]");
    assert_eq!(server.get(ANN, "/v2/export").await.ok(), exported, "nothing has changed");

    server.post(ADMIN, "/v2/import", &exported).await.ok();
    assert_eq!(server.get(ANN, "/v2/export").await.ok(), exported);
    server.post(ADMIN, "/v2/import", &json!({"services": null})).await.ok();
    assert_eq!(server.get(ANN, "/v2/services").await.ok(), json!([]));
    assert_eq!(server.get(SUPERADMIN, "/v2/export").await.ok()["providers"], json!([]));
}

#[tokio::test]
async fn templates_are_merged_on_request() {
    let server = with_tenant(5, 5).await;
    let partial = json!({"name": "p", "immutable": true, "defaults": {"config": {"k": 1}}});
    server.post(ADMIN, "/v2/partialtemplates", &partial).await.ok();
    let parent = json!({"name": "parent", "defaults": {"services": ["a"], "provider": "lab"}});
    server.post(ADMIN, "/v2/clustertemplates", &parent).await.ok();
    let child = json!({"name": "child", "extends": {"name": "parent"}, "includes": [{"name": "p"}],
        "defaults": {"services": ["b"]}});
    let merged = server.post(ANN, "/v2/resolve", &child).await.ok();
    assert_eq!(merged["defaults"], json!({"services": ["a", "b"], "provider": "lab", "config": {"k": 1}}));
    for (change, status, words) in [
        (json!({"extends": {"name": "nobody"}}), 404, "not found"),
        (json!({"includes": [{"name": "nothing"}]}), 404, "not found"),
        (json!({"defaults": {"config": {"k": 2}}}), 400, "immutab"),
        (json!({"defaults": {"dnsSuffix": "-"}}), 400, "dns"),
        (json!({"extends": null}), 400, "services must be specified"),
    ] {
        let mut child = child.clone();
        child.as_object_mut().unwrap().remove("defaults");
        child.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        server.post(ANN, "/v2/resolve", &child).await.refused(status, words);
    }
    assert_eq!(
        server.get(BEN, "/v2/clustertemplates").await.ok().as_array().unwrap().len(),
        1,
        "nothing is stored"
    );
}
