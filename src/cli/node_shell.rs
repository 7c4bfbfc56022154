//! `cooperage node shell`: a shell on a node, through the server.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd as _;

use clap::Args;
use futures::{SinkExt as _, StreamExt as _};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use serde::Deserialize;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{Receiver, channel};
use tokio_tungstenite::tungstenite::Message;

use super::client::{Client, WebSocket, segment};
use super::cluster::node_of;
use super::complete;
use super::failure::Failure;
use super::problem::Problem;
use super::screen::Screen;

/// The key that leaves: Ctrl-].
const LEAVE: u8 = 0x1d;
/// What ends the input of a program on a terminal: Ctrl-D.
const END: u8 = 0x04;
/// How much is shown before the server is told of it, which waits when it hears nothing for too long.
const TELL_EVERY: usize = 64 * 1024;
/// What is read at once from the keyboard.
const READ_SIZE: usize = 8192;

/// Which node.
#[derive(Debug, Clone, Args)]
pub struct ShellArgs {
    /// Name or id of the cluster
    #[arg(value_name = "CLUSTER", add = complete::clusters())]
    pub cluster: String,
    /// Which node: number, host name or id
    #[arg(value_name = "NODE", add = complete::nodes())]
    pub node: String,
}

/// What the server says beside what is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    /// Why it is over.
    end: Option<String>,
    /// What went wrong.
    problem: Option<Problem>,
}

/// Opens a shell on a node, and is its terminal until it ends.
///
/// # Errors
/// When there is no such node, or none to log in to, or the server ends it.
pub async fn run(args: &ShellArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (cluster, node) = node_of(client, &args.cluster, &args.node).await?;
    let (columns, rows) = size().unwrap_or((80, 24));
    let path =
        format!("/v2/clusters/{cluster}/nodes/{}/terminal?columns={columns}&rows={rows}", segment(&node));
    let mut socket = client.web_socket(&path).await?;
    if std::io::stdin().is_terminal() {
        screen.note("Ctrl-] leaves");
    }
    let raw = Raw::begin();
    let ended = talk(&mut socket).await;
    drop(raw);
    ended
}

/// Passes on what is typed and what is shown.
async fn talk(socket: &mut WebSocket) -> Result<(), Failure> {
    let mut typed = keyboard();
    let mut resized = signal(SignalKind::window_change())
        .map_err(|fault| Failure::refused(format!("no signals: {fault}"), "try again"))?;
    let mut is_typing = true;
    let (mut shown, mut told) = (0, 0);
    loop {
        let message = tokio::select! {
            message = socket.next() => match message {
                Some(Ok(message)) => match heard(message)? {
                    Heard::Shown(length) => {
                        shown += length;
                        if shown - told < TELL_EVERY {
                            continue;
                        }
                        told = shown;
                        Message::Text(json!({"shown": shown}).to_string().into())
                    }
                    Heard::Nothing => continue,
                    Heard::End => return Ok(()),
                },
                Some(Err(_)) | None => return Err(lost()),
            },
            bytes = typed.recv(), if is_typing => match bytes {
                Some(bytes) if bytes.contains(&LEAVE) => {
                    let _ = socket.send(Message::Close(None)).await;
                    return Ok(());
                }
                Some(bytes) => Message::Binary(bytes.into()),
                None => {
                    is_typing = false;
                    Message::Binary(vec![END].into())
                }
            },
            _ = resized.recv() => match size() {
                Some((columns, rows)) => Message::Text(json!({"columns": columns, "rows": rows}).to_string().into()),
                None => continue,
            },
        };
        socket.send(message).await.map_err(|_| lost())?;
    }
}

/// What came from the server.
enum Heard {
    /// So many bytes for the screen, which are there now.
    Shown(usize),
    Nothing,
    End,
}

fn heard(message: Message) -> Result<Heard, Failure> {
    match message {
        Message::Binary(bytes) => {
            let mut stdout = std::io::stdout();
            stdout.write_all(&bytes).and_then(|()| stdout.flush()).map_err(|_| Failure::Interrupted)?;
            Ok(Heard::Shown(bytes.len()))
        }
        Message::Text(text) => ended(&serde_json::from_str(&text).unwrap_or_default()),
        Message::Close(_) => Ok(Heard::End),
        // The library answers pings.
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(Heard::Nothing),
    }
}

/// What the server's last words mean.
fn ended(said: &Said) -> Result<Heard, Failure> {
    let Some(end) = &said.end else { return Ok(Heard::Nothing) };
    let (detail, remedy) = match (end.as_str(), &said.problem) {
        ("shell" | "left", _) => return Ok(Heard::End),
        (_, Some(problem)) => {
            return Err(super::client::ClientFault::Refused(Box::new(problem.clone())).into());
        }
        ("idle", _) => ("nothing was typed for too long (terminal.idle_seconds)", "open it again"),
        ("longest", _) => ("it was open for too long (terminal.max_seconds)", "open it again"),
        ("revoked", _) => ("you are let in no more", "use another token"),
        ("stopping", _) => ("the server stops", "open it again when it is back"),
        _ => ("the server closed it", "open it again"),
    };
    Err(Failure::refused(detail, remedy))
}

fn lost() -> Failure {
    Failure::refused("the connection to the server was lost", "open it again")
}

/// Columns and rows of the terminal this runs in.
fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(std::io::stdout().as_fd()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// What is typed. A thread of its own reads it, which ends with the process.
fn keyboard() -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel(8);
    std::thread::spawn(move || {
        let mut bytes = [0; READ_SIZE];
        while let Ok(length @ 1..) = std::io::stdin().read(&mut bytes) {
            if sender.blocking_send(bytes[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Passes every key on as it is, as long as this lives.
struct Raw(Option<Termios>);

impl Raw {
    fn begin() -> Self {
        let stdin = std::io::stdin();
        let Some(before) = tcgetattr(stdin.as_fd()).ok().filter(|_| stdin.is_terminal()) else {
            return Self(None);
        };
        let mut raw = before.clone();
        raw.make_raw();
        // Where it cannot be set, keys come line by line.
        let _ = tcsetattr(stdin.as_fd(), OptionalActions::Now, &raw);
        Self(Some(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin().as_fd(), OptionalActions::Drain, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_last_words_are_told() {
        let said = |text: &str| ended(&serde_json::from_str(text).unwrap());
        assert!(matches!(said(r#"{"opened": true}"#), Ok(Heard::Nothing)));
        assert!(matches!(said(r#"{"end": "shell"}"#), Ok(Heard::End)));
        for (text, told) in [
            (r#"{"end": "idle"}"#, "terminal.idle_seconds"),
            (r#"{"end": "failed", "problem": {"status": 409, "detail": "no key here"}}"#, "no key here"),
            (r#"{"end": "of the world"}"#, "closed"),
        ] {
            let fault = said(text).err().map(|fault| fault.to_string()).unwrap_or_default();
            assert!(fault.contains(told), "{fault}");
        }
    }
}
