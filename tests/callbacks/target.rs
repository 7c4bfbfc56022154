//! A target of callbacks: records what it is sent, and answers as it is told.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::lab::wait_for;

const LIMIT: Duration = Duration::from_secs(60);

/// One call that arrived.
#[derive(Debug, Clone)]
pub struct Call {
    pub path: String,
    /// By name in small letters.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// What is answered: status and body, after a pause.
#[derive(Debug, Clone)]
pub struct Script {
    pub status: u16,
    pub body: String,
    pub pause: Duration,
}

/// A target that listens on a port of its own.
pub struct Target {
    port: u16,
    calls: Arc<Mutex<Vec<Call>>>,
    /// Answers to be given first, then the last one again and again.
    scripts: Arc<Mutex<Vec<Script>>>,
}

pub fn answer(status: u16, body: &str) -> Script {
    Script { status, body: body.to_owned(), pause: Duration::ZERO }
}

impl Target {
    pub fn start(scripts: &[Script]) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), scripts)
    }

    pub fn on(listener: TcpListener, scripts: &[Script]) -> Self {
        let port = listener.local_addr().unwrap().port();
        let (calls, scripts) = (Arc::default(), Arc::new(Mutex::new(scripts.to_vec())));
        let target = Self { port, calls, scripts };
        let (calls, scripts) = (Arc::clone(&target.calls), Arc::clone(&target.scripts));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (calls, scripts) = (Arc::clone(&calls), Arc::clone(&scripts));
                std::thread::spawn(move || serve(stream, &calls, &scripts));
            }
        });
        target
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// From now on it answers so.
    pub fn play(&self, scripts: &[Script]) {
        *self.scripts.lock().unwrap() = scripts.to_vec();
    }

    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// Calls of one event.
    pub fn of(&self, event: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.event() == event).collect()
    }

    /// Waits until so many calls of an event have arrived.
    pub fn until(&self, event: &str, count: usize) -> Vec<Call> {
        wait_for(&format!("{count} calls of {event}"), LIMIT, || {
            Some(self.of(event)).filter(|calls| calls.len() >= count)
        })
    }
}

impl Call {
    pub fn event(&self) -> &str {
        self.headers.get("x-cooperage-event").map_or("", String::as_str)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", self.headers))
    }

    /// Whether it is signed with this secret: computed here from the RFC's definition, with nothing of the server's.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let text = format!("{}.{}", self.header("x-cooperage-timestamp"), self.body);
        let mut key = [0_u8; 64];
        match secret.len() {
            0..=64 => key[..secret.len()].copy_from_slice(secret.as_bytes()),
            _ => key[..32].copy_from_slice(&Sha256::digest(secret.as_bytes())),
        }
        let pad = |with: u8| key.map(|byte| byte ^ with).to_vec();
        let inner = Sha256::digest([pad(0x36), text.into_bytes()].concat());
        let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
        let digits: String = outer.iter().map(|byte| format!("{byte:02x}")).collect();
        self.header("x-cooperage-signature") == format!("sha256={digits}")
    }
}

fn serve(stream: TcpStream, calls: &Mutex<Vec<Call>>, scripts: &Mutex<Vec<Script>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(call) = read(&mut reader) {
        calls.lock().unwrap().push(call);
        let script = {
            let mut scripts = scripts.lock().unwrap();
            if scripts.len() > 1 { scripts.remove(0) } else { scripts[0].clone() }
        };
        let until = Instant::now() + script.pause;
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        let location = if script.status == 302 { "Location: /elsewhere\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {} Said\r\nContent-Length: {}\r\n{location}\r\n",
            script.status,
            script.body.len()
        );
        if stream.write_all([head.as_bytes(), script.body.as_bytes()].concat().as_slice()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Call> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length: usize = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Call { path, headers, body: String::from_utf8(body).ok()? })
}
