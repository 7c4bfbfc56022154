//! A machine's executor: the program that carries executions out for a connection, where the machine has Perl for it.
//!
//! The shell can do all of it as well, but for most steps it must start a program, which costs five times what the step does.

use std::convert::Infallible;

use tokio::io::AsyncWriteExt as _;

use super::exit_status::ExitStatus;
use super::remote_run::EXECUTOR;
use super::transport::Sink;
use super::wire::{Channel, Wire};
use crate::output::Stream;

/// A line of an answer is not longer.
const LINE_LIMIT: usize = 64;

/// One that runs, and waits to be asked.
pub(super) struct Executor {
    channel: Channel,
    answer: Answer,
}

/// What became of what it was asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It has ended like this.
    Ended(ExitStatus),
    /// It is for the shell.
    ForTheShell,
    /// It is for the shell, since the executor has ended, as it should (`orderly`) or not.
    Gone { orderly: bool },
}

impl Executor {
    /// Starts one. Its program is not in the list of processes, and it need not have been read when it is first asked.
    pub(super) async fn start(wire: &dyn Wire) -> Option<Self> {
        let program = &**EXECUTOR;
        let start = format!("exec perl -e 'read STDIN,$_,{};eval;die$@'", program.len());
        let mut channel = wire.exec(&start).await.ok()?;
        channel.input.write_all(program.as_bytes()).await.ok()?;
        Some(Self { channel, answer: Answer::default() })
    }

    /// Has it carry out an execution, and hands its output on as it comes.
    pub(super) async fn ask(&mut self, request: &[u8], sink: &mut dyn Sink) -> Outcome {
        let Self { channel: Channel { input, output }, answer } = self;
        let write = async {
            if input.write_all(request).await.is_ok() {
                // When it takes nothing any more, it also says nothing any more.
                let _ = input.flush().await;
            }
            std::future::pending::<Infallible>().await
        };
        let read = async {
            loop {
                match output.next().await {
                    Some((Stream::Stdout, bytes)) => {
                        if let Some(outcome) = answer.push(&bytes, sink) {
                            return outcome;
                        }
                    }
                    // What Perl has to complain about.
                    Some(_) => {}
                    None => return Outcome::Gone { orderly: false },
                }
            }
        };
        tokio::select! {
            outcome = read => outcome,
            never = write => match never {},
        }
    }
}

/// Takes answers apart, however they are cut.
#[derive(Default)]
struct Answer {
    /// A line that has not ended.
    line: Vec<u8>,
    /// Output that is still to come, and of which stream.
    output: Option<(Stream, usize)>,
}

impl Answer {
    /// Takes the next bytes; what became of the execution, once that is known.
    fn push(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) -> Option<Outcome> {
        while !bytes.is_empty() {
            if let Some((stream, left)) = self.output {
                let (shown, rest) = bytes.split_at(left.min(bytes.len()));
                sink.bytes(stream, shown);
                self.output = (left > shown.len()).then(|| (stream, left - shown.len()));
                bytes = rest;
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                self.line.extend_from_slice(bytes);
                return (self.line.len() > LINE_LIMIT).then_some(Outcome::Gone { orderly: false });
            };
            self.line.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            let outcome = self.line(&String::from_utf8_lossy(&line));
            if outcome.is_some() {
                return outcome;
            }
        }
        None
    }

    fn line(&mut self, line: &str) -> Option<Outcome> {
        let (word, number) = line.split_once(' ').unwrap_or((line, ""));
        match (word, number.parse::<usize>(), number.parse()) {
            ("o", Ok(length), _) => self.output = Some((Stream::Stdout, length)),
            ("e", Ok(length), _) => self.output = Some((Stream::Stderr, length)),
            ("end", _, Ok(code)) => return Some(Outcome::Ended(ExitStatus(code))),
            ("shell", ..) => return Some(Outcome::ForTheShell),
            _ => return Some(Outcome::Gone { orderly: word == "gone" }),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::capture::Captured;
    use super::*;

    #[test]
    fn an_answer_is_understood_however_it_is_cut() {
        let text = b"o 6\nend 1\ne 1\nxo 0\no 3\nabcend 7\n";
        for size in 1..=text.len() {
            let (mut answer, mut said) = (Answer::default(), Captured::default());
            let pieces = text.chunks(size).map(|piece| answer.push(piece, &mut said));
            let outcomes: Vec<Outcome> = pieces.flatten().collect();
            let expected = Outcome::Ended(ExitStatus(7));
            assert_eq!(outcomes, [expected], "pieces of {size}");
            assert_eq!((said.stdout.text().as_str(), said.stderr.text().as_str()), ("end 1\nabc", "x"));
        }
    }

    #[test]
    fn what_is_no_answer_is_the_end_of_the_executor() {
        let gone = |orderly| Outcome::Gone { orderly };
        for (text, expected) in [
            ("shell\n", Outcome::ForTheShell),
            ("gone\n", gone(true)),
            ("Out of memory!\n", gone(false)),
            ("end\n", gone(false)),
            ("o -1\n", gone(false)),
        ] {
            assert_eq!(Answer::default().push(text.as_bytes(), &mut ()), Some(expected), "{text}");
        }
        assert!(Answer::default().push(&[b'x'; LINE_LIMIT + 1], &mut ()).is_some());
    }
}
