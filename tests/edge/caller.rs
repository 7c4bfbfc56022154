//! A caller that sees the headers of answers.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::lab::{Server, http};

/// Longest time an answer may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A caller with a token.
#[derive(Clone)]
pub struct Caller {
    base: String,
    token: String,
    client: reqwest::Client,
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct Told {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Told {
    /// A header as text; empty when it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }

    /// Checks the status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Checks for a refusal with this field, whose remedy says how.
    #[track_caller]
    pub fn refused(self, status: u16, field: &str, remedy: &str) {
        let said = self.json();
        let is_named = field.is_empty() || said["field"] == field;
        let is_told = said["remedy"].as_str().is_some_and(|text| text.contains(remedy));
        assert!(self.status == status && is_named && is_told, "{status} {field} {remedy:?}: {self:?}");
    }
}

impl Caller {
    /// The superadmin of a server.
    pub fn admin(server: &Server) -> Self {
        let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
        Self::new(&server.base(), token.trim(), http())
    }

    /// With a client that may know more of TLS.
    pub fn new(base: &str, token: &str, builder: reqwest::ClientBuilder) -> Self {
        // What is packed is seen packed, and connections are not kept, so that each handshake is a new one.
        let client = builder.timeout(LIMIT).no_proxy().pool_max_idle_per_host(0).build().unwrap();
        Self { base: base.to_owned(), token: token.to_owned(), client }
    }

    /// Asks; the error is what the connection says, with its causes.
    pub fn try_ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> Result<Told, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let given: BTreeMap<String, String> =
            headers.iter().map(|(name, value)| (name.to_lowercase(), (*value).to_owned())).collect();
        let mut request =
            self.client.request(method.parse().unwrap(), format!("{}{path}", self.base)).body(body);
        if !given.contains_key("authorization") {
            request = request.bearer_auth(&self.token);
        }
        if !given.contains_key("accept") {
            request = request.header("Accept", "application/json");
        }
        for (name, value) in &given {
            request = request.header(name, value);
        }
        runtime.block_on(async {
            let answer = request.send().await.map_err(|fault| format!("{fault:?}"))?;
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            let bytes = answer.bytes().await.map_err(|fault| format!("{fault:?}"))?;
            Ok(Told { status, headers, text: String::from_utf8_lossy(&bytes).into_owned() })
        })
    }

    /// Asks, and must be answered.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Told {
        self.try_ask(method, path, headers, body.to_owned()).unwrap()
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Told {
        self.ask("GET", path, &[], "")
    }

    #[track_caller]
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Told {
        self.ask("POST", path, headers, &body.to_string())
    }

    #[track_caller]
    pub fn put(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Told {
        self.ask("PUT", path, headers, &body.to_string())
    }
}
