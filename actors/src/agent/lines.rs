//! What one task printed and the server does not have yet.

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cooperage_domain::worker_protocol::{OutputLine, OutputStream};
use cooperage_plugins::{Output, Stream};

/// Most bytes that are kept of one task while the server is away; what comes then is lost, with a note. It never delays the
/// task.
const MAX_BYTES: usize = 1024 * 1024;
/// Longest line that is kept, in bytes, as on the server.
const MAX_LINE: usize = 16_384;
/// Most bytes of one task that are passed on together.
const MAX_TOGETHER: usize = 64 * 1024;

/// Lines on their way to the server, numbered from 0.
#[derive(Debug, Default)]
pub(super) struct Lines(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Number of the first one that waits.
    first: u64,
    lines: VecDeque<OutputLine>,
    bytes: usize,
    lost: u64,
}

impl Waiting {
    fn push(&mut self, stream: OutputStream, text: &str) {
        self.bytes += cost(text);
        self.lines.push_back(OutputLine { stream, text: text.to_owned() });
    }
}

/// Bytes that a line takes.
pub(super) fn cost(text: &str) -> usize {
    text.len() + size_of::<OutputLine>()
}

impl Lines {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Whoever panicked while it was held left whole lines behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first ones that wait, with the number of the first; `None` when none does.
    pub(super) fn next(&self) -> Option<(u64, Vec<OutputLine>)> {
        let waiting = self.lock();
        let mut bytes = 0;
        let enough = |line: &&OutputLine| {
            let fits = bytes < MAX_TOGETHER;
            bytes += cost(&line.text);
            fits
        };
        let lines: Vec<_> = waiting.lines.iter().take_while(enough).cloned().collect();
        (!lines.is_empty()).then_some((waiting.first, lines))
    }

    /// The server has all lines before this number.
    pub(super) fn taken(&self, next: u64) {
        let mut waiting = self.lock();
        while waiting.first < next
            && let Some(line) = waiting.lines.pop_front()
        {
            waiting.bytes -= cost(&line.text);
            waiting.first += 1;
        }
        if waiting.lines.is_empty() && waiting.lost > 0 {
            let note = format!("{} lines are missing here: the server was away for too long", waiting.lost);
            waiting.lost = 0;
            waiting.push(OutputStream::Progress, &note);
        }
    }
}

impl Output for Lines {
    fn line(&self, stream: Stream, text: &str) {
        let stream = match stream {
            Stream::Stdout => OutputStream::Stdout,
            Stream::Stderr => OutputStream::Stderr,
            Stream::Progress => OutputStream::Progress,
        };
        let text = &text[..text.floor_char_boundary(MAX_LINE)];
        let mut waiting = self.lock();
        if waiting.bytes + cost(text) > MAX_BYTES || waiting.lost > 0 {
            waiting.lost += 1;
        } else {
            waiting.push(stream, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_until_they_are_taken() {
        let lines = Lines::default();
        assert_eq!(lines.next(), None);
        (0..3).for_each(|n| lines.line(Stream::Stdout, &n.to_string()));
        let (first, found) = lines.next().unwrap();
        assert_eq!((first, found.len()), (0, 3));
        lines.taken(2);
        // Told twice, as when two answers overtake each other.
        lines.taken(1);
        let (first, found) = lines.next().unwrap();
        assert_eq!((first, found[0].text.as_str(), found.len()), (2, "2", 1));
        lines.taken(3);
        assert_eq!(lines.next(), None);
    }

    #[test]
    fn what_is_passed_on_together_is_bounded() {
        let lines = Lines::default();
        (0..20).for_each(|_| lines.line(Stream::Stdout, &"ä".repeat(MAX_LINE)));
        let (_, found) = lines.next().unwrap();
        assert!(found.iter().all(|line| line.text.len() == MAX_LINE));
        assert_eq!(found.len(), MAX_TOGETHER / MAX_LINE);
    }

    #[test]
    fn too_many_lines_are_lost_with_a_note_in_their_place() {
        let lines = Lines::default();
        let line = "x".repeat(MAX_LINE);
        let kept = MAX_BYTES / cost(&line);
        (0..kept + 3).for_each(|_| lines.line(Stream::Stderr, &line));
        let kept = u64::try_from(kept).unwrap();
        lines.taken(kept);
        let (first, found) = lines.next().unwrap();
        assert_eq!((first, found.len()), (kept, 1));
        assert!(found[0].text.starts_with("3 lines are missing"), "{found:?}");
        lines.line(Stream::Stdout, "on it goes");
        assert_eq!(lines.next().unwrap().1.len(), 2);
    }
}
