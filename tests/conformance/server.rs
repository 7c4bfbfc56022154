//! A server of our own, and how it is asked.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use reqwest::{Client, Method};
use serde_json::Value;
use tempfile::TempDir;

/// A server that runs until this is dropped, with everything it keeps.
pub struct Server {
    process: Child,
    data: TempDir,
    user: u16,
    tasks: u16,
    client: Client,
}

/// What the server says.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub text: String,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }

    /// The body as JSON, when the status is 200.
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// Checks for a refusal that says `words`, in any case.
    pub fn refused(&self, status: u16, words: &str) {
        let text = self.text.to_lowercase();
        assert!(
            self.status == status && text.contains(&words.to_lowercase()),
            "{status} {words:?}: {self:?}"
        );
    }
}

/// Two ports that were free a moment ago.
fn free_ports() -> (u16, u16) {
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    let (one, two) = (bind(), bind());
    (one.local_addr().unwrap().port(), two.local_addr().unwrap().port())
}

impl Server {
    /// Starts it, and waits until it listens.
    pub fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        // Somebody else may take a port before the server does.
        for _ in 0..5 {
            let (user, tasks) = free_ports();
            if let Some(process) = launch(data.path(), user, tasks) {
                // It fails when it is chosen already.
                let _ = rustls::crypto::ring::default_provider().install_default();
                let client = Client::builder().tls_certs_only([]).no_proxy().build().unwrap();
                return Self { process, data, user, tasks, client };
            }
        }
        panic!("the server does not start");
    }

    /// Where it keeps everything.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Asks as `who`, written `user@tenant`; the empty text is nobody.
    pub async fn ask(&self, who: &str, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.call(self.user, who, method, path, body.into(), "*/*").await
    }

    /// Asks as one who wants JSON.
    pub async fn ask_json(&self, who: &str, method: &str, path: &str) -> Answer {
        self.call(self.user, who, method, path, Vec::new(), "application/problem+json").await
    }

    /// Asks on the port for provisioners.
    pub async fn ask_inside(&self, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.call(self.tasks, "", method, path, body.into(), "*/*").await
    }

    pub async fn get(&self, who: &str, path: &str) -> Answer {
        self.ask(who, "GET", path, "").await
    }

    pub async fn post(&self, who: &str, path: &str, body: &Value) -> Answer {
        self.ask(who, "POST", path, body.to_string()).await
    }

    pub async fn put(&self, who: &str, path: &str, body: &Value) -> Answer {
        self.ask(who, "PUT", path, body.to_string()).await
    }

    pub async fn delete(&self, who: &str, path: &str) -> Answer {
        self.ask(who, "DELETE", path, "").await
    }

    async fn call(
        &self,
        port: u16,
        who: &str,
        method: &str,
        path: &str,
        body: Vec<u8>,
        accept: &str,
    ) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.client.request(method, format!("http://127.0.0.1:{port}{path}"));
        if let Some((user, tenant)) = who.split_once('@') {
            request = request.header("Coopr-UserID", user).header("Coopr-TenantID", tenant);
        }
        let response = request.header("Accept", accept).body(body).send().await.unwrap();
        let status = response.status().as_u16();
        let header = response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
        let content_type = header.unwrap_or_default();
        Answer { status, content_type, text: response.text().await.unwrap() }
    }
}

/// `None` when the server ends before it listens.
fn launch(data: &Path, user: u16, tasks: u16) -> Option<Child> {
    let settings = [
        "auth.mode=headers".to_owned(),
        "workers.local=0".to_owned(),
        "log.format=json".to_owned(),
        format!("data_dir={}", data.display()),
        format!("listen.user=127.0.0.1:{user}"),
        format!("listen.tasks=127.0.0.1:{tasks}"),
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
    command.arg("serve").args(settings.iter().flat_map(|setting| ["--set", setting]));
    let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
    let listens = lines.any(|line| line.contains("\"listening\""));
    // The rest of the log is read away, so that the server never waits for it.
    std::thread::spawn(move || lines.for_each(drop));
    if listens {
        return Some(process);
    }
    process.wait().unwrap();
    None
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
