//! One open terminal: what is typed goes to the machine, what is shown comes back, until something ends it.

use std::cell::Cell;
use std::time::Duration;

use actix_web::web;
use actix_ws::{AggregatedMessage as Message, MessageStream, Session};
use cooperage_domain::audit::Record;
use cooperage_plugins::ssh::{Target, Terminal, TerminalInput, TerminalOutput, TerminalSize};
use serde::Deserialize;
use serde_json::json;
use slog::info;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::Screen;
use super::ending::Ending;
use crate::api::audit;
use crate::api::identity::{Identity, Standing};
use crate::api::problem::Problem;
use crate::api::state::AppState;

/// A sign of life is asked for this often …
const PING_EVERY: Duration = Duration::from_secs(20);
/// … and whoever gives none for so long is gone.
const SILENCE: Duration = Duration::from_secs(70);
/// Whoever takes nothing for so long is not looked after any more.
const SLOW: Duration = Duration::from_secs(120);
/// Whether the caller is still let in is asked this often.
const CHECK_EVERY: Duration = Duration::from_secs(30);
/// Largest message that is taken, in bytes.
const MAX_MESSAGE: usize = 256 * 1024;
/// How much may be on its way to the client that it has not shown yet, in bytes: a browser takes in whatever comes, and would
/// choke on what a machine can print.
const AHEAD: u64 = 512 * 1024;
/// How long the last words may take.
const GOOD_BYE: Duration = Duration::from_secs(5);

/// A terminal, from the WebSocket's opening to its end.
pub(super) struct Shell {
    pub state: web::Data<AppState>,
    pub identity: Identity,
    pub standing: Standing,
    pub session: Session,
    /// Of the request that opened it.
    pub record: Record,
}

/// What the client says.
#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    /// So much of what came was shown, in bytes from the beginning.
    Taken { shown: u64 },
    /// Its screen has this size.
    Size(Screen),
}

/// What passed, and when something was last heard.
struct Passed {
    typed: Cell<u64>,
    /// Sent to the client.
    shown: Cell<u64>,
    /// Of this, what the client has shown.
    taken: Cell<u64>,
    more_taken: Notify,
    last_typed: Cell<Instant>,
    last_heard: Cell<Instant>,
}

impl Shell {
    /// Serves it to its end, and has that recorded.
    pub async fn run(self, target: Result<Target, Problem>, size: TerminalSize, messages: MessageStream) {
        let begun = Instant::now();
        let passed = Passed {
            typed: Cell::new(0),
            shown: Cell::new(0),
            taken: Cell::new(0),
            more_taken: Notify::new(),
            last_typed: Cell::new(begun),
            last_heard: Cell::new(begun),
        };
        let ending = self.serve(target, size, messages, &passed).await;
        let mut session = self.session.clone();
        let farewell = async {
            // Nobody may be there to hear it.
            let _ = session.text(ending.told().to_string()).await;
            let _ = session.close(None).await;
        };
        let _ = timeout(GOOD_BYE, farewell).await;
        let (typed, shown) = (passed.typed.get(), passed.shown.get());
        let seconds = begun.elapsed().as_secs();
        info!(self.state.logger, "a terminal was closed"; "path" => &self.record.object, "user" => &self.identity.user,
            "why" => ending.word(), "seconds" => seconds, "typed" => typed, "shown" => shown);
        let mut record = self.record;
        record.action = "CLOSE /v2/clusters/{id}/nodes/{node}/terminal".to_owned();
        record.object = format!(
            "{} ({}, after {seconds} s, {typed} bytes typed, {shown} shown)",
            record.object,
            ending.word()
        );
        record.status = ending.status();
        // What could not be recorded is in the server's log.
        let _ = audit::write(&self.state, record).await;
    }

    async fn serve(
        &self,
        target: Result<Target, Problem>,
        size: TerminalSize,
        messages: MessageStream,
        passed: &Passed,
    ) -> Ending {
        let opening = async {
            let place = self.state.terminals.place()?;
            let terminal = self.state.terminals.log_in(target?, size).await?;
            Ok::<_, Problem>((place, terminal))
        };
        let (_place, Terminal { input, mut output }) = match opening.await {
            Ok(opened) => opened,
            Err(problem) => return Ending::Failed(problem),
        };
        let mut session = self.session.clone();
        if session.text(json!({"opened": true}).to_string()).await.is_err() {
            return Ending::Lost;
        }
        let ending = tokio::select! {
            ending = self.type_in(input, messages, passed) => ending,
            ending = self.show(&mut output, passed) => ending,
            ending = self.watch(passed) => ending,
            ending = self.look_after(passed) => ending,
        };
        output.close().await;
        ending
    }

    /// Passes on what is typed.
    async fn type_in(
        &self,
        mut input: Box<dyn TerminalInput>,
        messages: MessageStream,
        passed: &Passed,
    ) -> Ending {
        let mut session = self.session.clone();
        let messages = messages.max_frame_size(MAX_MESSAGE).aggregate_continuations();
        let mut messages = messages.max_continuation_size(MAX_MESSAGE);
        while let Some(message) = messages.recv().await {
            let Ok(message) = message else { return Ending::Lost };
            passed.last_heard.set(Instant::now());
            let done = match message {
                Message::Binary(bytes) => {
                    passed.last_typed.set(Instant::now());
                    passed.typed.set(passed.typed.get() + bytes.len() as u64);
                    input.write(&bytes).await
                }
                Message::Text(text) => match serde_json::from_str(&text) {
                    Ok(Told::Size(screen)) => input.resize(screen.size()).await,
                    Ok(Told::Taken { shown }) => {
                        passed.taken.set(shown.min(passed.shown.get()).max(passed.taken.get()));
                        passed.more_taken.notify_one();
                        Ok(())
                    }
                    Err(_) => return Ending::Misspoken,
                },
                Message::Ping(bytes) => {
                    if session.pong(&bytes).await.is_err() {
                        return Ending::Lost;
                    }
                    Ok(())
                }
                Message::Pong(_) => Ok(()),
                Message::Close(_) => return Ending::Left,
            };
            if done.is_err() {
                // The shell has ended; what it still had to say is shown.
                std::future::pending::<()>().await;
            }
        }
        Ending::Lost
    }

    /// Passes on what is shown, no faster than it is taken.
    async fn show(&self, output: &mut TerminalOutput, passed: &Passed) -> Ending {
        let mut session = self.session.clone();
        while let Some(bytes) = output.next().await {
            let length = bytes.len() as u64;
            let send = async {
                while passed.shown.get() - passed.taken.get() > AHEAD {
                    passed.more_taken.notified().await;
                }
                session.binary(bytes).await
            };
            match timeout(SLOW, send).await {
                Ok(Ok(())) => passed.shown.set(passed.shown.get() + length),
                Ok(Err(_)) => return Ending::Lost,
                Err(_) => return Ending::Slow,
            }
        }
        Ending::Shell
    }

    /// Watches the clock.
    async fn watch(&self, passed: &Passed) -> Ending {
        let settings = &self.state.settings.terminal;
        let end = Instant::now() + settings.longest();
        let idle = async {
            loop {
                let until = passed.last_typed.get() + settings.idle();
                if Instant::now() >= until {
                    return;
                }
                sleep_until(until).await;
            }
        };
        tokio::select! {
            () = idle => Ending::Idle,
            () = sleep_until(end) => Ending::Longest,
            () = self.state.stopping.cancelled() => Ending::Stopping,
        }
    }

    /// Asks now and then whether the client is there, and whether it still may.
    async fn look_after(&self, passed: &Passed) -> Ending {
        let mut session = self.session.clone();
        let is_there = async {
            loop {
                sleep(PING_EVERY).await;
                if passed.last_heard.get().elapsed() > SILENCE || session.ping(b"").await.is_err() {
                    return;
                }
            }
        };
        let may = async {
            loop {
                sleep(CHECK_EVERY).await;
                if !self.standing.counts(&self.state, &self.identity).await {
                    return;
                }
            }
        };
        tokio::select! {
            () = is_there => Ending::Lost,
            () = may => Ending::Revoked,
        }
    }
}
