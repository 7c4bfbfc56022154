//! Two tenants with somebody of every role.

use serde_json::{Value, json};

use crate::lab::{Client, Server};

/// The password of everybody who has one.
pub const PASSWORD: &str = "correct horse battery";

/// A server with the tenants `dept` and `other`.
pub struct World {
    pub server: Server,
    pub root: Client,
}

impl World {
    pub fn new(settings: &[&str]) -> Self {
        let mut all = vec!["workers.local=0".to_owned()];
        all.extend(settings.iter().map(|setting| (*setting).to_owned()));
        let server = Server::start(&all);
        let root = server.admin();
        for tenant in ["dept", "other"] {
            root.post("/v2/tenants", &json!({"tenant": {"name": tenant, "workers": 0}})).ok();
        }
        Self { server, root }
    }

    /// Makes a user of a tenant.
    pub fn user(&self, tenant: &str, name: &str, role: &str) {
        let user = json!({"name": name, "role": role, "password": PASSWORD});
        self.root.post(&format!("/v2/users?tenant={tenant}"), &user).ok();
    }

    /// A new token of a user, with what more is asked of it.
    pub fn token(&self, tenant: &str, user: &str, more: &Value) -> String {
        let mut asked = json!({ "user": user });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = self.root.post(&format!("/v2/tokens?tenant={tenant}"), &asked).ok();
        made["token"].as_str().unwrap().to_owned()
    }

    /// A client with this token.
    pub fn with(&self, token: &str) -> Client {
        Client::with_token(&self.server.base(), token)
    }

    /// A client as a new user.
    pub fn client(&self, tenant: &str, name: &str, role: &str) -> Client {
        self.user(tenant, name, role);
        self.with(&self.token(tenant, name, &json!({})))
    }
}
