//! What most tests need: a tenant, a provider type, and something to make clusters from.

use serde_json::{Value, json};

use crate::server::Server;

/// The installation's admin.
pub const SUPERADMIN: &str = "admin@superadmin";
/// The admin of the tenant.
pub const ADMIN: &str = "admin@dept";
/// Users of the tenant.
pub const ANN: &str = "ann@dept";
pub const BEN: &str = "ben@dept";

/// A server with the tenant `dept`, which may have so many clusters and nodes.
pub async fn with_tenant(max_clusters: u32, max_nodes: u32) -> Server {
    let server = Server::start();
    let tenant = json!({"name": "dept", "workers": 0, "maxClusters": max_clusters, "maxNodes": max_nodes});
    server.post(SUPERADMIN, "/v2/tenants", &json!({ "tenant": tenant })).await.ok();
    server
}

/// The provider type `cloud`: users must give a key and a secret.
pub fn provider_type(required: &Value) -> Value {
    json!({"name": "cloud", "parameters": {
        "admin": {"fields": {
            "url": {"label": "URL", "type": "text"},
            "password": {"label": "Password", "type": "password"},
            "zone": {"label": "Zone", "type": "text", "override": true}}},
        "user": {"fields": {
            "keyname": {"label": "Key name", "type": "text", "default": "dev"},
            "note": {"label": "Note", "type": "text"},
            "secret": {"label": "Secret", "type": "text", "sensitive": true}},
            "required": required}},
        "resourceTypes": {"keys": {"format": "file", "permissions": "0400"}}})
}

/// Everything for clusters of the template `solo`: 1 to 4 machines with the service `web`.
pub async fn describe(server: &Server, required: &Value) {
    let told = provider_type(required).to_string();
    assert_eq!(server.ask_inside("PUT", "/v2/plugins/providertypes/cloud", told).await.status, 200);
    let entities = [
        (
            "providers",
            json!({"name": "lab", "providertype": "cloud",
            "provisioner": {"url": "u", "password": "pa55word", "zone": "z1"}}),
        ),
        ("hardwaretypes", json!({"name": "small", "providermap": {"lab": {"flavor": "m1"}}})),
        ("imagetypes", json!({"name": "debian", "providermap": {"lab": {"image": "i1"}}})),
        ("services", json!({"name": "web", "dependencies": {"provides": [], "conflicts": []}})),
        (
            "clustertemplates",
            json!({"name": "solo",
            "defaults": {"services": ["web"], "provider": "lab", "config": {"color": "blue", "n": 3}},
            "constraints": {"size": {"max": 4}},
            "administration": {"leaseduration": {"initial": 60_000, "max": 120_000, "step": 30_000}}}),
        ),
    ];
    for (kind, entity) in entities {
        server.post(ADMIN, &format!("/v2/{kind}"), &entity).await.ok();
    }
}

/// A server with all of it.
pub async fn with_templates() -> Server {
    let server = with_tenant(50, 500).await;
    describe(&server, &json!([])).await;
    server
}

/// Asks for a cluster of `solo` with so many machines.
pub fn request(machines: u32) -> Value {
    json!({"name": "farm", "clusterTemplate": "solo", "numMachines": machines})
}

/// The id of a cluster made for `who`.
pub async fn create(server: &Server, who: &str, request: &Value) -> String {
    server.post(who, "/v2/clusters", request).await.ok()["id"].as_str().unwrap().to_owned()
}
