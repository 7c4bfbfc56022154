//! Secrets: taken, used by tasks, and shown to nobody.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use crate::server::Server;
use crate::world::{ADMIN, ANN, SUPERADMIN, create, describe, request, with_tenant};

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
    assert_unwritten(&server, &["hush-hush", "pa55word"]);
}

/// None of these is in any file of the server, nor in its log.
fn assert_unwritten(server: &Server, secrets: &[&str]) {
    let written = server.written();
    assert!(String::from_utf8_lossy(&written).contains("dept"), "the search finds what there is");
    for secret in secrets {
        let found = written.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "{secret} is written down");
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

/// A provisioner that takes whatever workers it is told to have: its port, and the id of the first tenant it hears of.
async fn provisioner() -> (u16, tokio::sync::oneshot::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, told) = tokio::sync::oneshot::channel();
    let mut sender = Some(sender);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let (mut lines, mut length) = (Vec::new(), 0);
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                lines.push(line);
            }
            stream.read_exact(&mut vec![0; length]).await.unwrap();
            let path = lines[0].split(' ').nth(1).unwrap().to_owned();
            if let Some((sender, tenant)) = sender.take().zip(path.strip_prefix("/v2/tenants/")) {
                sender.send(tenant.to_owned()).unwrap();
            }
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.get_mut().write_all(answer).await.unwrap();
        }
    });
    (port, told)
}

#[tokio::test]
async fn what_workers_report_is_kept_without_secrets() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([])).await;
    let tenant = json!({"tenant": {"name": "dept", "workers": 1, "maxClusters": 5, "maxNodes": 50}});
    let (port, told) = provisioner().await;
    let registration = json!({"id": "p1", "host": "127.0.0.1", "port": port, "capacityTotal": 5});
    server.ask_inside("PUT", "/v2/provisioners/p1", registration.to_string()).await.ok();
    server.put(SUPERADMIN, "/v2/tenants/dept", &tenant).await.ok();
    let mut asked = request(1);
    asked["providerFields"] = json!({"secret": "hush-hush"});
    let id = create(&server, ANN, &asked).await;
    let worker = json!({"workerId": "w", "provisionerId": "p1", "tenantId": told.await.unwrap()});
    let mut taken = server.ask_inside("POST", "/v2/tasks/take", worker.to_string()).await;
    for _ in 0..100 {
        if taken.status == 200 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        taken = server.ask_inside("POST", "/v2/tasks/take", worker.to_string()).await;
    }
    let order = taken.ok();
    let values = &order["config"]["provider"]["provisioner"];
    assert_eq!(
        (&values["password"], &values["secret"]),
        (&json!("pa55word"), &json!("hush-hush")),
        "workers need them"
    );
    let mut report = worker.clone();
    for (field, value) in [
        ("taskId", order["taskId"].clone()),
        ("status", 0.into()),
        ("result", json!({"note": "it was pa55word and hush-hush", "hush-hush": {"deep": ["pa55word"]}})),
        ("hostname", "hush-hush.example.com".into()),
        ("stdout", "aHVzaC1odXNo is base64 of it".into()),
    ] {
        report[field] = value;
    }
    server.ask_inside("POST", "/v2/tasks/finish", report.to_string()).await.ok();
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    let node = &details["nodes"][0];
    assert_eq!(node["provisionerResults"]["note"], "it was [redacted] and [redacted]", "{node}");
    assert_unwritten(&server, &["hush-hush", "pa55word", "aHVzaC1odXNo"]);
}

/// A vault that gives a secret key to a program on the same machine, and one that takes nothing.
async fn keepers(server: &Server) {
    let alone = json!({"provides": [], "conflicts": []});
    let mut needs = alone.clone();
    needs["runtime"] = json!({"requires": [{"name": "vault", "scope": "node"}]});
    let start = json!({"actions": {"start": {"type": "shell", "fields": {"script": "s.sh"}}}});
    let output = json!({"name": "key", "path": "vault_key", "sensitive": true,
        "schema": {"type": "object", "required": ["pin"]}});
    for service in [
        json!({"name": "vault", "dependencies": alone, "provisioner": start, "outputs": [output]}),
        json!({"name": "app", "provisioner": start, "dependencies": needs,
            "inputs": [{"name": "keys", "at": "outputs.vault.key"}]}),
        json!({"name": "other", "provisioner": start, "dependencies": needs}),
    ] {
        server.post(ADMIN, "/v2/services", &service).await.ok();
    }
}

/// Takes the next task that there is and reports it with this result.
async fn work(server: &Server, worker: &Value, result: impl Fn(&str) -> Value) -> Value {
    for _ in 0..200 {
        let taken = server.ask_inside("POST", "/v2/tasks/take", worker.to_string()).await;
        if taken.status == 200 {
            let order = taken.ok();
            let service = order["config"]["service"]["name"].as_str().unwrap_or_default().to_owned();
            let mut report = worker.clone();
            report["taskId"] = order["taskId"].clone();
            report["status"] = 0.into();
            report["result"] = result(&service);
            server.ask_inside("POST", "/v2/tasks/finish", report.to_string()).await.ok();
            return order;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("there is no task");
}

#[tokio::test]
async fn secret_outputs_are_given_to_those_who_take_them_and_shown_to_nobody() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([])).await;
    keepers(&server).await;
    let tenant = json!({"tenant": {"name": "dept", "workers": 1, "maxClusters": 5, "maxNodes": 50}});
    let (port, told) = provisioner().await;
    let registration = json!({"id": "p1", "host": "127.0.0.1", "port": port, "capacityTotal": 5});
    server.ask_inside("PUT", "/v2/provisioners/p1", registration.to_string()).await.ok();
    server.put(SUPERADMIN, "/v2/tenants/dept", &tenant).await.ok();
    let mut asked = request(1);
    asked["services"] = json!(["app", "other"]);
    let id = create(&server, ANN, &asked).await;
    let worker = json!({"workerId": "w", "provisionerId": "p1", "tenantId": told.await.unwrap()});
    let reported = |service: &str| match service {
        "vault" => json!({"vault_key": {"pin": "hush-hush"}, "port": 1}),
        // Whoever repeats a secret has it taken out.
        "app" => json!({"note": "it is hush-hush"}),
        _ => json!({}),
    };
    let mut orders = Vec::new();
    while orders.len() < 6 {
        orders.push(work(&server, &worker, reported).await);
    }
    let of = |name: &str| orders.iter().find(|order| order["config"]["service"]["name"] == name).unwrap();
    let keys = of("app")["config"]["service"]["inputs"]["keys"].as_object().unwrap();
    assert_eq!(keys.values().collect::<Vec<_>>(), [&json!({"pin": "hush-hush"})]);
    assert!(!of("other").to_string().contains("hush-hush"), "who does not take it is not given it");
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    let node = &details["nodes"][0];
    assert_eq!(node["provisionerResults"]["vault_key"], MASK, "{node}");
    assert_eq!(node["provisionerResults"]["port"], 1);
    assert_eq!(node["provisionerResults"]["note"], "it is [redacted]");
    let number = &node["properties"]["nodenum"];
    let values = server.get(ANN, &format!("/v2/clusters/{id}/values?node={number}")).await.ok();
    let output = values["values"].as_array().unwrap().iter().find(|it| it["layer"] == "output").unwrap();
    assert_eq!((&output["path"], &output["service"]), (&json!("outputs.vault.key"), &json!("vault")));
    for value in output["value"].as_object().unwrap().values() {
        assert_eq!(value, MASK);
    }
    for path in ["", "/plans", "/history", "/units", "/logs", "/export?format=ansible"] {
        let text = server.get(ADMIN, &format!("/v2/clusters/{id}{path}")).await.text;
        assert!(!text.contains("hush-hush") && !text.contains("$sealed"), "{path}: {text}");
    }
    assert_unwritten(&server, &["hush-hush"]);
}

#[tokio::test]
async fn a_secret_output_that_breaks_its_schema_fails_its_task_without_being_told() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([])).await;
    keepers(&server).await;
    let tenant = json!({"tenant": {"name": "dept", "workers": 1, "maxClusters": 5, "maxNodes": 50}});
    let (port, told) = provisioner().await;
    let registration = json!({"id": "p1", "host": "127.0.0.1", "port": port, "capacityTotal": 5});
    server.ask_inside("PUT", "/v2/provisioners/p1", registration.to_string()).await.ok();
    server.put(SUPERADMIN, "/v2/tenants/dept", &tenant).await.ok();
    let mut asked = request(1);
    asked["services"] = json!(["app"]);
    let id = create(&server, ANN, &asked).await;
    let worker = json!({"workerId": "w", "provisionerId": "p1", "tenantId": told.await.unwrap()});
    for _ in 0..4 {
        let wrong =
            |service: &str| if service == "vault" { json!({"vault_key": "hush-hush"}) } else { json!({}) };
        work(&server, &worker, wrong).await;
    }
    let details = server.get(ANN, &format!("/v2/clusters/{id}")).await.ok();
    let message = details["message"].as_str().unwrap_or_default();
    assert!(message.contains("output key of service vault") && message.contains("/type"), "{details:#}");
    assert_eq!(details["status"], "incomplete");
    assert_unwritten(&server, &["hush-hush"]);
}

#[tokio::test]
async fn a_new_master_key_changes_nothing_that_anybody_sees() {
    let server = with_tenant(5, 50).await;
    describe(&server, &json!([])).await;
    let before = server.get(SUPERADMIN, "/v2/secrets").await.ok();
    let after = server.post(SUPERADMIN, "/v2/secrets/rotate", &json!({})).await.ok();
    assert_ne!(before["currentKey"], after["currentKey"]);
    assert_eq!((&after["olderKeys"], &after["dataKeysBehind"]), (&json!([]), &json!(0)));
    assert_eq!((&after["rewrapped"], &after["entityVersions"]), (&json!(2), &json!(1)), "{after}");
    let shown = server.get(ADMIN, "/v2/providers/lab?secrets=true").await.ok();
    assert_eq!(shown["provisioner"]["password"], "pa55word");
}
