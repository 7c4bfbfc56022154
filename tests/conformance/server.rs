//! A server of our own, and how it is asked.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use reqwest::{Client, Method};
use serde_json::Value;
use tempfile::TempDir;

use crate::described::{DESCRIPTION, Description};

/// A server that runs until this is dropped, with everything it keeps.
pub struct Server {
    process: Child,
    log: Arc<Mutex<String>>,
    data: TempDir,
    database: Option<String>,
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
    /// Under which id the request is on record.
    pub request: String,
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
            let database = crate::database();
            if let Some((process, log)) = launch(data.path(), user, tasks, database.as_deref()) {
                // The client wants one even where there is no TLS; the first one counts.
                let _ = rustls::crypto::ring::default_provider().install_default();
                let client = Client::builder().tls_certs_only([]).no_proxy().build().unwrap();
                return Self { process, log, data, database, user, tasks, client };
            }
        }
        panic!("the server does not start");
    }

    /// Everything it has written: the files of its data directory, its database, and its log.
    pub fn written(&self) -> Vec<u8> {
        let mut written = self.log.lock().unwrap().clone().into_bytes();
        written.extend(self.database.as_deref().map(crate::stored).unwrap_or_default());
        let mut folders = vec![self.data.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                match path.is_dir() {
                    true => folders.push(path),
                    false => written.extend(std::fs::read(path).unwrap()),
                }
            }
        }
        written
    }

    /// Where it keeps everything.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Asks as `who`, written `user@tenant`; the empty text is nobody.
    pub async fn ask(&self, who: &str, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        let answer = self.call(self.user, who, method, path, body.into(), "*/*").await;
        self.description().await.check(method, path, &answer);
        answer
    }

    async fn description(&self) -> &'static Description {
        if let Some(found) = DESCRIPTION.get() {
            return found;
        }
        let document = self.call(self.user, "", "GET", "/v2/openapi.json", Vec::new(), "*/*").await.json();
        DESCRIPTION.get_or_init(|| Description::new(document))
    }

    /// Asks as one who wants JSON.
    pub async fn ask_json(&self, who: &str, method: &str, path: &str) -> Answer {
        self.call(self.user, who, method, path, Vec::new(), "application/problem+json").await
    }

    /// Asks on the port for provisioners.
    pub async fn ask_inside(&self, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.call(self.tasks, "", method, path, body.into(), "*/*").await
    }

    /// Asks for a change, and goes away without waiting for the answer.
    pub async fn send_and_hang_up(&self, who: &str, path: &str, body: &str) {
        use tokio::io::AsyncWriteExt;
        let (user, tenant) = who.split_once('@').unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nCoopr-UserID: {user}\r\nCoopr-TenantID: {tenant}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", self.user)).await.unwrap();
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(40)).await;
        // It is torn down, as by a program that ends, and not closed.
        stream.set_zero_linger().unwrap();
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
        let request = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        Answer { status, content_type, text: response.text().await.unwrap(), request }
    }
}

/// `None` when the server ends before it listens.
fn launch(data: &Path, user: u16, tasks: u16, database: Option<&str>) -> Option<(Child, Arc<Mutex<String>>)> {
    let settings = [
        "auth.mode=headers".to_owned(),
        "workers.local=0".to_owned(),
        "log.format=json".to_owned(),
        format!("data_dir={}", data.display()),
        format!("listen.user=127.0.0.1:{user}"),
        format!("listen.tasks=127.0.0.1:{tasks}"),
    ];
    let settings = settings.into_iter().chain(database.map(|url| format!("database.url={url}")));
    let settings: Vec<String> = settings.collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
    command.arg("serve").args(settings.iter().flat_map(|setting| ["--set", setting]));
    let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
    let listens = lines.any(|line| line.contains("\"listening\""));
    // The rest of the log is read away, so that the server never waits for it.
    let log = Arc::new(Mutex::new(String::new()));
    let written = Arc::clone(&log);
    std::thread::spawn(move || lines.for_each(|line| written.lock().unwrap().push_str(&line)));
    if listens {
        return Some((process, log));
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
