//! Nodes that users make known by themselves.

use serde_json::{Value, json};

use crate::world::{ADMIN, ANN, BEN, create, request, with_templates};

fn node(id: &str, host: &str) -> Value {
    json!({"id": id, "clusterId": "1234", "services": [], "properties": {"hostname": host}})
}

#[tokio::test]
async fn a_node_is_its_owners_and_the_admins() {
    let server = with_templates().await;
    assert_eq!(server.post(ANN, "/v2/nodes", &node("n1", "h1")).await.status, 201);
    assert_eq!(server.put(ANN, "/v2/nodes/n1", &node("n1", "h2")).await.status, 204);
    assert_eq!(server.get(ANN, "/v2/nodes/n1").await.ok(), node("n1", "h2"));
    assert_eq!(server.get(ADMIN, "/v2/nodes").await.ok(), json!([node("n1", "h2")]));
    assert_eq!(server.get(BEN, "/v2/nodes").await.ok(), json!([]));
    server.get(BEN, "/v2/nodes/n1").await.refused(404, "not found");
    server.put(BEN, "/v2/nodes/n1", &node("n1", "h3")).await.refused(403, "n1");
    server.put(ANN, "/v2/nodes/n2", &node("n1", "h1")).await.refused(400, "mismatch");
    assert_eq!(server.delete(BEN, "/v2/nodes/n1").await.status, 204, "says nothing, and does nothing");
    assert_eq!(server.put(ADMIN, "/v2/nodes/n1", &node("n1", "h4")).await.status, 204);
    assert_eq!(server.get(ANN, "/v2/nodes/n1").await.ok()["properties"]["hostname"], "h4", "still Ann's");
    assert_eq!(server.delete(ANN, "/v2/nodes/n1").await.status, 204);
    assert_eq!(server.get(ANN, "/v2/nodes").await.ok(), json!([]));
}

#[tokio::test]
async fn nodes_of_clusters_are_not_changed_here() {
    let server = with_templates().await;
    create(&server, ANN, &request(1)).await;
    let id = server.get(ANN, "/v2/nodes").await.ok()[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v2/nodes/{id}");
    server.put(ANN, &path, &node(&id, "evil")).await.refused(403, "cluster");
    server.post(ADMIN, "/v2/nodes", &node(&id, "evil")).await.refused(403, "cluster");
    assert_eq!(server.delete(ADMIN, &path).await.status, 204);
    assert_eq!(server.get(ANN, &path).await.status, 200, "it is still there");
    for (body, words) in [
        (json!({"services": []}), "id"),
        (json!({"id": 5, "services": []}), "id"),
        (json!({"id": "a"}), "services"),
        (json!({"id": "a", "services": "web"}), "services"),
    ] {
        server.post(ANN, "/v2/nodes", &body).await.refused(400, words);
    }
}
