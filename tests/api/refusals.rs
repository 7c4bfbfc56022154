//! Bad input: what is wrong, where, and what to do about it; and nothing is stored.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Answer, Client, Server, apply};

/// A request that is refused.
#[derive(Debug, Deserialize)]
struct Case {
    what: String,
    path: String,
    /// What is sent: JSON,
    #[serde(default)]
    body: Value,
    /// or what is none.
    text: Option<String>,
    status: u16,
    /// The field at fault; empty: it is about no single field.
    field: String,
    /// In what the answer says of the value or of the place.
    value: String,
    /// In what it says to do.
    remedy: String,
}

const CASES: [&str; 3] = [
    include_str!("cases/clusters.json"),
    include_str!("cases/malformed.json"),
    include_str!("cases/entities.json"),
];
const CLUSTERS: &str = "/v2/clusters";
const STRICT: &str = "/v2/clusters?strict=true";
const APPLY: &str = "/v2/apply";

#[test]
fn bad_requests_are_refused_with_field_value_and_remedy_and_store_nothing() {
    let server = Server::start(&["workers.local=0".to_owned(), simulation()]);
    let admin = server.admin();
    apply(&admin, &catalog());
    let mut before = stored(&admin);
    let mut faults = Vec::new();
    for case in CASES.iter().flat_map(|cases| serde_json::from_str::<Vec<Case>>(cases).unwrap()) {
        let sent = case.text.clone().unwrap_or_else(|| case.body.to_string());
        let answer = admin.post_bytes(&case.path, sent.as_bytes());
        faults.extend(mismatch(&case, &answer));
        let after = stored(&admin);
        if after != before {
            faults.push(format!("{}: something was stored", case.what));
            before = after;
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    // Not even a number was used up.
    assert_eq!(admin.create(&request(&json!({}))), "00000001");
}

/// What is wrong with the answer to a case.
fn mismatch(case: &Case, answer: &Answer) -> Option<String> {
    let text = |key: &str| answer.body[key].as_str().unwrap_or_default().to_owned();
    let says = |word: &str| text("detail").contains(word) || text("value").contains(word);
    let good = answer.status == case.status
        && answer.body["status"] == case.status
        && text("field") == case.field
        && says(&case.value)
        && !text("remedy").is_empty()
        && text("remedy").contains(&case.remedy);
    let wanted =
        format!("{} field {:?} value {:?} remedy {:?}", case.status, case.field, case.value, case.remedy);
    (!good).then(|| format!("{}: wanted {wanted}, got {} {}", case.what, answer.status, answer.body))
}

/// A good request, changed.
fn request(change: &Value) -> Value {
    let mut request = json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 3});
    request.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    request
}

/// Everything that is stored, as far as one can ask for it.
fn stored(client: &Client) -> Value {
    let paths = [
        "clusters",
        "providers",
        "hardwaretypes",
        "imagetypes",
        "services",
        "clustertemplates",
        "partialtemplates",
    ];
    paths.iter().map(|path| client.get(&format!("/v2/{path}")).ok()).collect()
}

#[test]
fn what_is_not_there_or_not_the_callers_is_not_found() {
    let settings = ["workers.local=0", "auth.mode=headers"].map(str::to_owned);
    let server = Server::start(&[&settings[..], &[simulation()]].concat());
    let base = server.base();
    let named =
        |user| Client::with_headers(&base, &[("Coopr-UserID", user), ("Coopr-TenantID", "superadmin")]);
    let (admin, ann, bob) = (named("admin"), named("ann"), named("bob"));
    apply(&admin, &catalog());
    let id = ann.create(&request(&json!({})));
    assert_eq!(ann.cluster(&id)["account"], json!({"userId": "ann", "tenantId": "superadmin"}));
    assert_eq!(ann.get(&format!("/v2/clusters/{}", id.trim_start_matches('0'))).ok()["id"], id);
    for path in ["", "/status", "/services", "/config", "/plans", "/logs"] {
        let foreign = bob.get(&format!("/v2/clusters/{id}{path}"));
        assert_eq!((foreign.status, &foreign.body["title"]), (404, &json!("Not Found")), "{path}");
    }
    assert_eq!(bob.delete(&format!("/v2/clusters/{id}")).status, 404);
    assert_eq!(bob.get(CLUSTERS).ok(), json!([]));
    assert_eq!(admin.cluster(&id)["id"], id);
    assert_eq!(bob.post(APPLY, &catalog()).status, 403);
    assert_eq!(named("").get(CLUSTERS).status, 401);
    let stranger = Client::with_headers(&base, &[("Coopr-UserID", "ann"), ("Coopr-TenantID", "none")]);
    assert_eq!(stranger.get(CLUSTERS).status, 404);

    for (path, status, says) in [
        ("/v2/clusters/99", 404, "00000099"),
        ("/v2/clusters/nine", 404, "nine"),
        (&format!("/v2/clusters/{id}/plans/00000077-001"), 400, "does not belong"),
        (&format!("/v2/clusters/{id}/plans/seven"), 400, "seven"),
        (&format!("/v2/clusters/{id}/plans/{id}-099"), 404, "099"),
        ("/v2/services/none", 404, "none"),
        ("/v2/services/web/first", 400, "first"),
        ("/v2/services/web/0", 400, "0"),
        ("/v2/services/web/7", 404, "web"),
        ("/v2/nothing", 404, "/v2/nothing"),
    ] {
        let answer = ann.get(path);
        let detail = answer.body["detail"].as_str().unwrap_or_default();
        assert!(answer.status == status && detail.contains(says), "{path}: {answer:?}");
    }
}

#[test]
fn a_provider_field_that_is_missing_is_named_when_a_cluster_is_asked_for() {
    let server = Server::start(&["workers.local=0".to_owned(), simulation()]);
    let admin = server.admin();
    apply(&admin, &catalog());
    // A provider may be stored before all is known of it.
    admin.put("/v2/providers/sim", &json!({"name": "sim", "providertype": "simulated"})).ok();
    let answer = admin.post(CLUSTERS, &request(&json!({})));
    assert_eq!(answer.status, 400, "{}", answer.body);
    let missing = &answer.body["missingFields"][0]["account"];
    assert_eq!((&missing["label"], &missing["type"]), (&json!("Account"), &json!("text")), "{}", answer.body);
    assert_eq!(answer.body["field"], "providerFields");
    assert_eq!(admin.get(CLUSTERS).ok(), json!([]));
    let id = admin.create(&request(&json!({"providerFields": {"account": "mine"}})));
    assert_eq!(id, "00000001");
    assert_eq!(admin.cluster(&id)["provider"]["provisioner"]["account"], "mine");
}

#[test]
fn services_that_wait_for_each_other_make_no_cluster() {
    let server = Server::start(&["workers.local=0".to_owned(), simulation()]);
    let admin = server.admin();
    apply(&admin, &catalog());
    // One by one they may come in any order, so only their use together is refused.
    let needs_web = json!({"name": "worker", "provisioner": {"actions": {}},
        "dependencies": {"provides": [], "conflicts": [], "runtime": {"requires": ["web"]}}});
    admin.put("/v2/services/worker", &needs_web).ok();
    for path in [CLUSTERS, STRICT, "/v2/clusters?dryRun=true"] {
        let answer = admin.post(path, &request(&json!({})));
        let detail = answer.body["detail"].as_str().unwrap();
        assert!(answer.status == 400 && detail.contains("web") && detail.contains("worker"), "{answer:?}");
        assert_eq!(
            (&answer.body["field"], answer.body["remedy"].is_string()),
            (&json!("dependencies"), true)
        );
    }
    assert_eq!(admin.get(CLUSTERS).ok(), json!([]));
    admin.put("/v2/services/worker", &catalog()[4]).ok();
    assert_eq!(admin.create(&request(&json!({}))), "00000001");
}

#[test]
fn without_a_token_nobody_is_let_in_and_headers_are_not_believed_on_a_public_address() {
    let server = Server::start(&[]);
    for headers in [
        &[][..],
        &[("Authorization", "Bearer wrong")],
        &[("Coopr-UserID", "admin"), ("Coopr-TenantID", "superadmin")],
    ] {
        let answer = Client::with_headers(&server.base(), headers).get(CLUSTERS);
        assert_eq!(answer.status, 401, "{headers:?}");
        assert!(answer.body["detail"].as_str().unwrap().contains("token"), "{answer:?}");
    }
    let refused =
        |settings: &[&str]| Server::refused(&settings.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
    let said = refused(&["auth.mode=headers", "listen.user=0.0.0.0:0"]);
    for word in ["auth.mode", "headers", "0.0.0.0", "127.0.0.1", "trust_network"] {
        assert!(said.contains(word), "{word} is not in: {said}");
    }
    let said = refused(&["workers.locl=3"]);
    assert!(said.contains("locl") && said.contains("cooperage.toml"), "{said}");
    let said = refused(&[&format!("listen.user={}", server.base().trim_start_matches("http://"))]);
    assert!(said.contains("listen.user") && said.contains("another address"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let said = refused(&[&format!("data_dir={}", server.data_dir().display())]);
    assert!(said.contains("data_dir") && said.contains("in use by another process"), "{said}");
}

/// Makes the simulated plugins known; no task of these tests ever runs.
fn simulation() -> String {
    "simulation.dir=/nonexistent".to_owned()
}
