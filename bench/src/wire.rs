//! HTTP/1.1 over one connection that stays open: as little as a client can do, so that what is measured is the server.

use std::net::SocketAddr;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::BenchError;

/// How much is read at once, in bytes.
const CHUNK: usize = 16 * 1024;
/// Headers of an answer at most.
const HEADERS: usize = 32;

/// A connection to a server. One request after the other.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    /// What every request says besides its path and length.
    headers: String,
    /// The request that is written.
    out: Vec<u8>,
    /// What was read and not used yet.
    buffer: Vec<u8>,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// The head of an answer: its status, how long it is itself, and its body.
struct Head {
    status: u16,
    length: usize,
    body: usize,
}

impl Wire {
    /// Connects; with a token every request shows it.
    ///
    /// # Errors
    /// When nobody listens there.
    pub async fn open(address: SocketAddr, token: Option<&str>) -> Result<Self, BenchError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let headers = format!(" HTTP/1.1\r\nHost: {address}\r\n{token}Content-Length: ");
        Ok(Self { stream, headers, out: Vec::new(), buffer: Vec::with_capacity(CHUNK) })
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// When the connection breaks, or what comes is no answer of known length.
    pub async fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Answer, BenchError> {
        self.out.clear();
        for part in [method, " ", path, &self.headers] {
            self.out.extend_from_slice(part.as_bytes());
        }
        // Writing to memory cannot fail.
        let _ = std::io::Write::write_fmt(&mut self.out, format_args!("{}\r\n\r\n", body.len()));
        self.out.extend_from_slice(body);
        self.stream.write_all(&self.out).await?;
        let head = loop {
            if let Some(head) = head(&self.buffer)? {
                break head;
            }
            self.read_some().await?;
        };
        let end = head.length + head.body;
        while self.buffer.len() < end {
            self.read_some().await?;
        }
        let body = self.buffer[head.length..end].to_vec();
        self.buffer.drain(..end);
        Ok(Answer { status: head.status, body })
    }

    /// Asks for what must succeed, and reads the answer as JSON; nothing is `null`.
    ///
    /// # Errors
    /// Those of [`Wire::ask`], and every answer but 2xx.
    pub async fn must(&mut self, method: &str, path: &str, body: &Value) -> Result<Value, BenchError> {
        let sent = if body.is_null() { Vec::new() } else { serde_json::to_vec(body)? };
        let answer = self.ask(method, path, &sent).await?;
        if !(200..300).contains(&answer.status) {
            return Err(BenchError::Refused {
                request: format!("{method} {path}"),
                status: answer.status,
                said: String::from_utf8_lossy(&answer.body).into_owned(),
            });
        }
        if answer.body.is_empty() { Ok(Value::Null) } else { answer.json() }
    }

    async fn read_some(&mut self) -> Result<(), BenchError> {
        self.buffer.reserve(CHUNK);
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// When it is something else.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, BenchError> {
        Ok(serde_json::from_slice(&self.body)?)
    }
}

/// The head of the answer that begins here, once all of it is here.
fn head(bytes: &[u8]) -> Result<Option<Head>, BenchError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let fault = |fault: String| BenchError::Server(format!("an answer that cannot be read: {fault}"));
    let parsed = response.parse(bytes).map_err(|cause| fault(cause.to_string()))?;
    let httparse::Status::Complete(length) = parsed else { return Ok(None) };
    let status = response.code.unwrap_or_default();
    let told = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let told = told.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse().ok());
    // One without content has no length.
    let body = told.or((status == 204).then_some(0)).ok_or_else(|| fault("no length".to_owned()))?;
    Ok(Some(Head { status, length, body }))
}
