//! One who follows events, as little as a client can do: goes away now and then, and comes back with the last event seen.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::BenchError;

/// How much is read at once, in bytes.
const CHUNK: usize = 16 * 1024;

/// An event that was seen.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Its place among all events.
    pub place: u64,
    /// When it came.
    pub at: Instant,
    /// When the connection was asked for on which it came.
    pub asked: Instant,
}

/// An event as it is told.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    pub cluster_id: String,
    pub kind: String,
    pub task: Option<u32>,
}

/// One who follows events.
pub struct Follower {
    address: SocketAddr,
    token: String,
    /// Place of the last event seen.
    pub last: u64,
    /// What was seen.
    pub seen: Vec<Seen>,
    /// How often it came back.
    pub returns: u32,
}

/// An open stream of events.
struct Stream {
    socket: TcpStream,
    /// What was read and not looked at.
    buffer: BytesMut,
    /// The place that was told last.
    place: u64,
    asked: Instant,
    /// When something came last.
    came: Instant,
}

impl Follower {
    pub const fn new(address: SocketAddr, token: String, last: u64) -> Self {
        Self { address, token, last, seen: Vec::new(), returns: 0 }
    }

    /// Follows until the place that is told by `end` was seen, going away after each of the times that `stays` gives.
    ///
    /// # Errors
    /// When the server refuses, or nothing comes.
    pub async fn follow(
        mut self,
        mut stays: impl FnMut() -> Duration,
        mut end: watch::Receiver<Option<u64>>,
    ) -> Result<Self, BenchError> {
        loop {
            let mut stream = self.open().await?;
            let leave = tokio::time::sleep(stays());
            tokio::pin!(leave);
            loop {
                while let Some((place, _)) = stream.next()? {
                    self.last = place;
                    self.seen.push(Seen { place, at: stream.came, asked: stream.asked });
                }
                if end.borrow_and_update().is_some_and(|end| self.last >= end) {
                    return Ok(self);
                }
                tokio::select! {
                    read = stream.read_some() => read?,
                    () = &mut leave => break,
                    _ = end.changed() => {}
                }
            }
            self.returns += 1;
        }
    }

    /// Reads all events that there are, until none comes for a while.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn read_all(&mut self, quiet: Duration) -> Result<Vec<(u64, Told)>, BenchError> {
        let mut stream = self.open().await?;
        let mut all = Vec::new();
        loop {
            while let Some((place, data)) = stream.next()? {
                self.last = place;
                all.push((place, serde_json::from_slice(&data)?));
            }
            match tokio::time::timeout(quiet, stream.read_some()).await {
                Err(_) => return Ok(all),
                Ok(read) => read?,
            }
        }
    }

    async fn open(&self) -> Result<Stream, BenchError> {
        let asked = Instant::now();
        let mut socket = TcpStream::connect(self.address).await?;
        let (token, last) = (&self.token, self.last);
        let ask = format!(
            "GET /v2/events HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\nAuthorization: Bearer {token}\r\nLast-Event-ID: {last}\r\n\r\n"
        );
        socket.write_all(ask.as_bytes()).await?;
        let buffer = BytesMut::with_capacity(CHUNK);
        let mut stream = Stream { socket, buffer, place: 0, asked, came: asked };
        let status = loop {
            match stream.line() {
                Some(line) => break line,
                None => stream.read_some().await?,
            }
        };
        if !status.starts_with(b"HTTP/1.1 200 ") {
            let status = String::from_utf8_lossy(&status).into_owned();
            return Err(BenchError::Server(format!("events are not to be followed: {}", status.trim())));
        }
        Ok(stream)
    }
}

impl Stream {
    /// The next event of those that were read: its place and what is told.
    fn next(&mut self) -> Result<Option<(u64, BytesMut)>, BenchError> {
        while let Some(mut line) = self.line() {
            // Sizes of chunks, comments and empty lines lie between.
            if let Some(id) = line.strip_prefix(b"id: ") {
                let id = std::str::from_utf8(id).ok().and_then(|id| id.trim().parse().ok());
                self.place = id.ok_or_else(|| BenchError::Server("an event without a place".to_owned()))?;
            } else if line.starts_with(b"data: ") {
                return Ok(Some((self.place, line.split_off(b"data: ".len()))));
            }
        }
        Ok(None)
    }

    /// The next whole line, without its end.
    fn line(&mut self) -> Option<BytesMut> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n')?;
        let mut line = self.buffer.split_to(end + 1);
        line.truncate(end);
        Some(line)
    }

    /// Reads more. May be given up while it waits.
    async fn read_some(&mut self) -> Result<(), BenchError> {
        self.buffer.reserve(CHUNK);
        if self.socket.read_buf(&mut self.buffer).await? == 0 {
            return Err(BenchError::Server("a stream of events ended".to_owned()));
        }
        self.came = Instant::now();
        Ok(())
    }
}
