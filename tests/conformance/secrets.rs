//! Secrets: taken, used by tasks, and shown to nobody.

use serde_json::json;

use crate::world::{ADMIN, ANN, create, describe, request, with_tenant};

/// What stands for a secret.
const MASK: &str = "********";

#[tokio::test]
async fn what_a_provider_needs_is_asked_for_and_secrets_are_not_shown() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([["keyname", "secret"], ["note", "keyname", "secret"]])).await;
    let mut asked = request(1);
    let refused = server.post(ANN, "/v2/clusters", &asked).await;
    assert_eq!((refused.status, &*refused.content_type), (400, "application/json"));
    let missing = &refused.json()["missingFields"];
    assert_eq!(missing.as_array().unwrap().len(), 2, "one for each alternative");
    assert_eq!(
        missing[0]["keyname"],
        json!({"label": "Key name", "type": "text", "tip": "", "default": "dev",
        "defaultValue": "dev", "override": false, "sensitive": false})
    );
    asked["providerFields"] = json!({"keyname": "mine"});
    let refused = server.post(ANN, "/v2/clusters", &asked).await.json();
    assert_eq!(refused["missingFields"][0].as_object().unwrap().keys().collect::<Vec<_>>(), ["secret"]);

    asked["providerFields"] = json!({"keyname": "mine", "secret": "hush-hush", "url": "other", "zone": "z2"});
    let id = create(&server, ANN, &asked).await;
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await;
    assert!(!details.text.contains("hush-hush"));
    let values = &details.json()["provider"]["provisioner"];
    assert_eq!(
        *values,
        json!({"url": "u", "password": MASK, "zone": "z2", "keyname": "mine"}),
        "url is not the user's"
    );
    for file in std::fs::read_dir(server.data()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(9).any(|window| window == b"hush-hush"), "{} holds it", path.display());
    }
}

#[tokio::test]
async fn passwords_of_providers_are_masked_and_come_back() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([])).await;
    for who in [ANN, ADMIN] {
        for path in ["/v2/providers", "/v2/providers/lab", "/v2/providers/lab/1", "/v2/export"] {
            let text = server.get(who, path).await.text;
            assert!(text.contains(MASK) && !text.contains("pa55word"), "{who} {path}: {text}");
        }
    }
    let password = || async {
        server.get(ADMIN, "/v2/providers/lab?secrets=true").await.ok()["provisioner"]["password"].clone()
    };
    assert_eq!(password().await, "pa55word");
    let mut shown = server.get(ADMIN, "/v2/providers/lab").await.ok();
    shown["provisioner"]["url"] = "v".into();
    server.put(ADMIN, "/v2/providers/lab", &shown).await.ok();
    assert_eq!(password().await, "pa55word", "a mask that comes back changes nothing");
    let exported = server.get(ADMIN, "/v2/export").await.ok();
    server.post(ADMIN, "/v2/import", &exported).await.ok();
    assert_eq!(password().await, "pa55word");
    let applied = json!([{"kind": "provider", "name": "lab", "providertype": "cloud",
        "provisioner": {"url": "w", "password": MASK}}]);
    let changes = server.post(ADMIN, "/v2/apply", &applied).await;
    assert!(!changes.text.contains("pa55word"), "{changes:?}");
    assert_eq!(password().await, "pa55word");
    shown["provisioner"]["password"] = "new".into();
    server.put(ADMIN, "/v2/providers/lab", &shown).await.ok();
    assert_eq!(password().await, "new");
}
