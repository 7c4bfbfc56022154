//! Sinks for output: into lines, and into bounded memory.

use std::collections::VecDeque;

use cooperage_domain::redact::{RedactedStream, Redactor};

use crate::output::{Output, Stream};

use super::transport::Sink;

/// How much of each stream is kept of an execution: its end.
pub const TAIL_LIMIT: usize = 16 * 1024;
/// A line longer than this is passed on in parts.
pub const LINE_LIMIT: usize = 64 * 1024;

/// The end of a stream, at most as long as its limit.
#[derive(Debug)]
pub struct Tail {
    limit: usize,
    kept: VecDeque<u8>,
}

impl Tail {
    /// Keeps `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit, kept: VecDeque::new() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (self.kept.len() + bytes.len()).saturating_sub(self.limit);
        self.kept.drain(..excess);
        self.kept.extend(bytes);
    }

    /// What was kept. Bytes that are not UTF-8 become replacement characters.
    #[must_use]
    pub fn text(&self) -> String {
        let (front, back) = self.kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }
}

/// Keeps the end of both streams in memory.
#[derive(Debug)]
pub struct Captured {
    /// End of the standard output.
    pub stdout: Tail,
    /// End of the standard error output.
    pub stderr: Tail,
}

impl Captured {
    /// Keeps `limit` bytes of each stream.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { stdout: Tail::new(limit), stderr: Tail::new(limit) }
    }
}

impl Default for Captured {
    fn default() -> Self {
        Self::new(TAIL_LIMIT)
    }
}

impl Sink for Captured {
    fn bytes(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stderr => self.stderr.push(bytes),
            Stream::Stdout | Stream::Progress => self.stdout.push(bytes),
        }
    }
}

/// Hands output on line by line and keeps the end of both streams. Secrets are taken out of the streams as they come, so
/// that none gets through where a line is passed on in parts, or where the kept end begins.
pub struct Lines<'a> {
    output: &'a dyn Output,
    stdout: Partial,
    stderr: Partial,
    /// The end of both streams.
    pub captured: Captured,
}

/// One stream on its way into lines.
struct Partial {
    clean: RedactedStream,
    /// The line that is not finished yet.
    line: Vec<u8>,
}

impl Partial {
    fn new(redactor: &Redactor) -> Self {
        Self { clean: redactor.stream(), line: Vec::new() }
    }
}

impl<'a> Lines<'a> {
    /// Lines go to `output`.
    #[must_use]
    pub fn new(output: &'a dyn Output) -> Self {
        let redactor = output.redactor();
        let (stdout, stderr) = (Partial::new(&redactor), Partial::new(&redactor));
        Self { output, stdout, stderr, captured: Captured::default() }
    }

    /// Hands on last lines that have no end, and gives back what was captured.
    #[must_use]
    pub fn finish(mut self) -> Captured {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = self.partial(stream).clean.finish();
            self.pass_on(stream, &rest);
            let line = std::mem::take(&mut self.partial(stream).line);
            if !line.is_empty() {
                emit(self.output, stream, &line);
            }
        }
        self.captured
    }

    const fn partial(&mut self, stream: Stream) -> &mut Partial {
        match stream {
            Stream::Stderr => &mut self.stderr,
            Stream::Stdout | Stream::Progress => &mut self.stdout,
        }
    }

    /// Bytes without secrets.
    fn pass_on(&mut self, stream: Stream, bytes: &[u8]) {
        self.captured.bytes(stream, bytes);
        let output = self.output;
        let line = &mut self.partial(stream).line;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            if piece.ends_with(b"\n") || line.len() >= LINE_LIMIT {
                emit(output, stream, line);
                line.clear();
            }
        }
    }
}

impl Sink for Lines<'_> {
    fn bytes(&mut self, stream: Stream, bytes: &[u8]) {
        let clean = self.partial(stream).clean.push(bytes);
        self.pass_on(stream, &clean);
    }
}

/// One line without its end.
fn emit(output: &dyn Output, stream: Stream, line: &[u8]) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    output.line(stream, &String::from_utf8_lossy(line));
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Noted(Mutex<Vec<(Stream, String)>>, Redactor);

    impl Output for Noted {
        fn redactor(&self) -> Redactor {
            self.1.clone()
        }

        fn line(&self, stream: Stream, text: &str) {
            self.0.lock().unwrap().push((stream, text.to_owned()));
        }
    }

    #[test]
    fn lines_come_whole_and_bad_text_does_no_harm() {
        let noted = Noted::default();
        let mut lines = Lines::new(&noted);
        lines.bytes(Stream::Stdout, b"a");
        lines.bytes(Stream::Stderr, b"err\xff\r\n");
        lines.bytes(Stream::Stdout, b"b\n\nc");
        let captured = lines.finish();
        let expected = [
            (Stream::Stderr, "err\u{fffd}"),
            (Stream::Stdout, "ab"),
            (Stream::Stdout, ""),
            (Stream::Stdout, "c"),
        ];
        assert_eq!(*noted.0.lock().unwrap(), expected.map(|(s, t)| (s, t.to_owned())));
        assert_eq!(captured.stdout.text(), "ab\n\nc");
    }

    #[test]
    fn a_line_without_end_is_passed_on_in_parts() {
        let noted = Noted::default();
        let mut lines = Lines::new(&noted);
        for _ in 0..3 {
            lines.bytes(Stream::Stdout, &[b'x'; LINE_LIMIT]);
        }
        assert_eq!(noted.0.lock().unwrap().len(), 3);
        assert_eq!(lines.finish().stdout.text().len(), TAIL_LIMIT);
    }

    #[test]
    fn secrets_get_through_neither_in_parts_of_a_line_nor_at_the_begin_of_what_is_kept() {
        let secret = "hunter2-is-no-password";
        let noted = Noted(Mutex::default(), Redactor::new([secret]));
        let mut lines = Lines::new(&noted);
        // One across the end of a part of a line, one across the begin of the end that is kept; in pieces of 7 bytes.
        let text = [
            "x".repeat(LINE_LIMIT - 5),
            secret.to_owned(),
            "y".repeat(LINE_LIMIT),
            secret.to_owned(),
            "z".repeat(TAIL_LIMIT - 5),
        ];
        for piece in text.concat().as_bytes().chunks(7) {
            lines.bytes(Stream::Stderr, piece);
        }
        let tail = lines.finish().stderr.text();
        let printed: String = noted.0.lock().unwrap().iter().map(|(_, line)| line.as_str()).collect();
        for part in ["hunter2", "-is-no", "password"] {
            assert!(!printed.contains(part) && !tail.contains(part), "{part}");
        }
        assert_eq!(printed.matches("[redacted]").count(), 2);
    }

    #[test]
    fn a_tail_keeps_the_end() {
        let mut tail = Tail::new(4);
        tail.push(b"abc");
        tail.push(b"def");
        assert_eq!(tail.text(), "cdef");
        tail.push(b"0123456789");
        assert_eq!(tail.text(), "6789");
    }
}
