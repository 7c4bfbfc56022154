//! A client as small as tests need it.

use std::time::Duration;

use serde_json::Value;

use super::wait_for;

/// Longest time an answer may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A client of HTTP to build on; the library of its TLS is chosen once for the process.
pub fn http() -> reqwest::ClientBuilder {
    // It fails when it is chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Without the CAs of the system, which a host need not have.
    reqwest::Client::builder().tls_certs_only([])
}

/// Asks one server in one name.
#[derive(Debug, Clone)]
pub struct Client {
    base: String,
    headers: Vec<(&'static str, String)>,
}

/// What a server answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body: JSON, or a text.
    pub body: Value,
}

impl Answer {
    /// The body of an answer that must be a success.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body
    }
}

impl Client {
    /// With this token.
    pub fn with_token(base: &str, token: &str) -> Self {
        Self { base: base.to_owned(), headers: vec![("Authorization", format!("Bearer {token}"))] }
    }

    /// With these headers.
    pub fn with_headers(base: &str, headers: &[(&'static str, &str)]) -> Self {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        Self { base: base.to_owned(), headers }
    }

    /// Asks; `None` when no answer came.
    pub fn try_ask(&self, method: &str, path: &str, body: Vec<u8>) -> Option<Answer> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = http().timeout(LIMIT).no_proxy().build().unwrap();
            let url = format!("{}{path}", self.base);
            let request = client.request(method.parse().unwrap(), url).body(body);
            let mut request = request.header("Accept", "application/json");
            for (name, value) in &self.headers {
                request = request.header(*name, value);
            }
            let response = request.send().await.ok()?;
            let status = response.status().as_u16();
            let text = response.text().await.ok()?;
            let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
            Some(Answer { status, body })
        })
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: Vec<u8>) -> Answer {
        self.try_ask(method, path, body).unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, Vec::new())
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, body.to_string().into_bytes())
    }

    #[track_caller]
    pub fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask("PUT", path, body.to_string().into_bytes())
    }

    #[track_caller]
    pub fn post_bytes(&self, path: &str, body: &[u8]) -> Answer {
        self.ask("POST", path, body.to_vec())
    }

    #[track_caller]
    pub fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, Vec::new())
    }

    /// Asks for a cluster and gives its id.
    #[track_caller]
    pub fn create(&self, request: &Value) -> String {
        let answer = self.post("/v2/clusters?strict=true", request).ok();
        answer["id"].as_str().unwrap().to_owned()
    }

    /// Everything about a cluster.
    #[track_caller]
    pub fn cluster(&self, id: &str) -> Value {
        self.get(&format!("/v2/clusters/{id}")).ok()
    }

    /// Waits until no job of the cluster is under way, and gives its status.
    #[track_caller]
    pub fn settled(&self, id: &str, limit: Duration) -> String {
        wait_for(&format!("the end of cluster {id}'s job"), limit, || {
            let status = self.get(&format!("/v2/clusters/{id}/status")).ok();
            let status = status["status"].as_str().unwrap();
            (status != "pending").then(|| status.to_owned())
        })
    }

    /// Waits until a cluster is active; otherwise fails with what its nodes and logs say.
    #[track_caller]
    pub fn active(&self, id: &str, limit: Duration) -> Value {
        let status = self.settled(id, limit);
        let cluster = self.cluster(id);
        assert_eq!(status, "active", "{} {:#}", cluster["message"], self.failures(&cluster));
        cluster
    }

    /// What failed on the nodes of a cluster.
    fn failures(&self, cluster: &Value) -> Value {
        let nodes = cluster["nodes"].as_array().into_iter().flatten();
        let actions = nodes.flat_map(|node| node["actions"].as_array().into_iter().flatten());
        actions.filter(|action| action["status"] == "failed").cloned().collect()
    }

    /// Deletes a cluster that is not pending, and waits for its end.
    #[track_caller]
    pub fn delete_cluster(&self, id: &str, limit: Duration) {
        self.delete(&format!("/v2/clusters/{id}")).ok();
        assert_eq!(self.settled(id, limit), "terminated", "{:#}", self.failures(&self.cluster(id)));
    }
}
