//! The server that is tried.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::catalog::catalog;
use crate::lab::{Server, apply, http};
use crate::requests::Request;
use crate::routes::Port;

/// Longest time an answer may take; a layout may be hard.
const LIMIT: Duration = Duration::from_secs(20);

/// A server with something of everything in it, and a client that keeps its connections.
pub struct Target {
    server: Server,
    world: tempfile::TempDir,
    client: reqwest::Client,
    runtime: Runtime,
    token: String,
    names: Vec<String>,
    /// How many answers had which status.
    told: RefCell<BTreeMap<u16, u32>>,
}

impl Target {
    /// On SQLite, or on another database.
    pub fn start(database: Option<String>) -> Self {
        let world = tempfile::tempdir().unwrap();
        let mut settings = vec![
            format!("simulation.dir={}", world.path().display()),
            "provisioners.silence_seconds=1000000".to_owned(),
            "workers.local=1".to_owned(),
            "http.request_timeout_seconds=2".to_owned(),
            "http.body_timeout_seconds=2".to_owned(),
        ];
        settings.extend(database.map(|url| format!("database.url={url}")));
        let server = Server::start(&settings);
        let admin = server.admin();
        apply(&admin, &catalog());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap().trim().to_owned();
        let client =
            http().no_proxy().timeout(LIMIT).redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let mut target =
            Self { server, world, client, runtime, token, names: Vec::new(), told: RefCell::default() };
        target.fill();
        target
    }

    /// A provisioner that holds a task, and clusters in all states.
    fn fill(&mut self) {
        let admin = self.server.admin();
        let mut names: Vec<String> =
            ["farm", "sim", "small", "plain", "web", "worker", "superadmin", "admin", "shell"]
                .into_iter()
                .chain(["simulated", "scripts", "p1", "n1", "dept", "start", "stop", "1", "2", "x.sh"])
                .map(str::to_owned)
                .collect();
        let provisioner = json!({"id": "p1", "host": "127.0.0.1", "port": 1, "capacityTotal": 5});
        self.tell(Port::Tasks, "PUT", "/v2/provisioners/p1", &provisioner);
        self.tell(Port::User, "POST", "/v2/tenants", &json!({"tenant": {"name": "dept"}}));
        self.tell(Port::User, "POST", "/v2/nodes", &json!({"id": "n1", "services": []}));
        for name in ["a", "b"] {
            let request = json!({"name": name, "clusterTemplate": "farm", "numMachines": 2});
            let id = admin.create(&request);
            let node = admin.cluster(&id)["nodes"][0]["id"].as_str().unwrap().to_owned();
            names.extend([format!("{id}-001"), format!("{id}-001-001"), id, node]);
        }
        let worker = json!({"provisionerId": "p1", "workerId": "w1", "tenantId": "superadmin"});
        let taken = self.tell(Port::Tasks, "POST", "/v2/tasks/take", &worker);
        names.extend(taken["taskId"].as_str().map(str::to_owned));
        self.names = names;
    }

    fn tell(&self, port: Port, method: &str, path: &str, body: &Value) -> Value {
        let request = Request {
            method: method.to_owned(),
            target: path.to_owned(),
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        };
        let (status, text) = self.ask(port, &request).unwrap();
        assert!(status < 300, "{method} {path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Names of what there is.
    pub fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn ask(&self, port: Port, request: &Request) -> Result<(u16, String), String> {
        let [user, tasks] = self.server.ports();
        let port = if port == Port::User { user } else { tasks };
        let url = format!("http://127.0.0.1:{port}{}", request.target);
        // What cannot be written as a URL or a method cannot be sent.
        let Ok(url) = url.parse::<reqwest::Url>() else { return Ok((0, String::new())) };
        let Ok(method) = request.method.parse::<reqwest::Method>() else { return Ok((0, String::new())) };
        let mut asking = self.client.request(method, url).body(request.body.clone());
        if !request.headers.iter().any(|(name, _)| name == "authorization") {
            asking = asking.bearer_auth(&self.token);
        }
        for (name, value) in &request.headers {
            let Ok(value) = reqwest::header::HeaderValue::from_bytes(value) else { continue };
            asking = asking.header(name, value);
        }
        self.runtime.block_on(async {
            let answer = asking.send().await.map_err(|fault| format!("no answer: {fault:?}"))?;
            let status = answer.status().as_u16();
            let bytes = answer.bytes().await.map_err(|fault| format!("half an answer: {fault:?}"))?;
            Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
        })
    }

    /// Whether a request is answered, and not with a fault of the server's.
    pub fn answers(&self, port: Port, request: &Request) -> Result<(), String> {
        let fault = match self.ask(port, request) {
            Ok((status, _)) if status < 500 => {
                *self.told.borrow_mut().entry(status).or_default() += 1;
                return Ok(());
            }
            Ok((status, text)) => format!("{status} {text}"),
            Err(fault) => fault,
        };
        Err(format!("{fault}\nto\n{}", request.shown()))
    }

    /// Whether the server goes on after these bytes.
    pub fn survives(&self, bytes: &[u8]) -> Result<(), String> {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.server.ports()[0])).map_err(|fault| fault.to_string())?;
        stream.set_read_timeout(Some(LIMIT)).map_err(|fault| fault.to_string())?;
        // The server may have closed it already.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Err(fault) if fault.kind() == std::io::ErrorKind::WouldBlock => {
                Err("it says nothing and does not hang up".to_owned())
            }
            _ if answer.starts_with(b"HTTP/1.1 5") => Err(String::from_utf8_lossy(&answer).into_owned()),
            _ => Ok(()),
        }
    }

    /// Nothing panicked, and it still answers.
    pub fn is_sound(&self) {
        let request = Request {
            method: "GET".to_owned(),
            target: "/v2/ready".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        assert_eq!(self.ask(Port::User, &request).unwrap().0, 200);
        let log = self.server.logged();
        assert!(!log.contains("panicked"), "{}", self.last_words());
        assert!(self.world.path().exists());
        let told = self.told.borrow();
        eprintln!("answers by status: {told:?}");
        let (all, done): (u32, u32) = (told.values().sum(), told.range(200..300).map(|(_, n)| n).sum());
        assert!(done * 20 >= all, "hardly anything gets past the first look: {told:?}");
    }

    /// The faults at the end of the server's log.
    pub fn last_words(&self) -> String {
        std::thread::sleep(Duration::from_millis(200));
        let log = self.server.logged();
        let faults: Vec<&str> =
            log.lines().filter(|line| line.contains("ERRO") || line.contains("panicked")).collect();
        faults[faults.len().saturating_sub(5)..].join("\n")
    }
}
