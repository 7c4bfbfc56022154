//! Secret values taken out of text by their value: of what tasks print, of their results, of log lines.
//!
//! A value is also found when it is written in base64 (wherever it begins in what was encoded), percent-encoded or escaped
//! as in JSON. No pattern holds the end of a line, so that a line that has ended can be passed on at once; of a key with many
//! lines each is found by itself.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use crate::task::TaskReport;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";
/// Shorter values and lines are too common in any text, in bytes.
pub const SHORTEST: usize = 6;
/// Longer values are files, which nobody prints, and would cost more memory than they are worth, in bytes.
const LONGEST: usize = 64 * 1024;

/// Finds some secret values in text. Cheap to clone; printed without them.
#[derive(Clone, Default)]
pub struct Redactor {
    patterns: Option<AhoCorasick>,
    longest: usize,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.patterns.as_ref().map_or(0, AhoCorasick::patterns_len);
        write!(f, "Redactor({count} patterns)")
    }
}

impl Redactor {
    /// For these values. Those shorter than [`SHORTEST`], and those that are whole files, are not looked for.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut patterns: Vec<Vec<u8>> = secrets.into_iter().flat_map(forms).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(0);
        if longest == 0 {
            return Self::default();
        }
        // It fails only for more than 2 GiB of patterns; the values of one cluster are part of a request, which is smaller.
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns);
        Self { patterns: built.ok(), longest }
    }

    /// Whether it looks for anything.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.patterns.is_none()
    }

    /// The text without the secrets.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.patterns {
            Some(patterns) if patterns.is_match(text) => {
                let mut clean = String::with_capacity(text.len());
                patterns.replace_all_with(text, &mut clean, |_, _, into| {
                    into.push_str(REDACTED);
                    true
                });
                Cow::Owned(clean)
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Takes the secrets out of every text in a value, names included.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.owned(text),
            Value::Number(number) => {
                if let Cow::Owned(clean) = self.text(&number.to_string()) {
                    *value = clean.into();
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => self.fields(fields),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn fields(&self, fields: &mut serde_json::Map<String, Value>) {
        let kept = std::mem::take(fields);
        fields.extend(kept.into_iter().map(|(name, mut value)| {
            self.value(&mut value);
            (self.text(&name).into_owned(), value)
        }));
    }

    /// Takes the secrets out of everything a worker reports.
    pub fn report(&self, report: &mut TaskReport) {
        if self.is_idle() {
            return;
        }
        self.fields(&mut report.result);
        self.owned(&mut report.stdout);
        self.owned(&mut report.stderr);
        report.hostname.iter_mut().for_each(|text| self.owned(text));
        for address in report.ipaddresses.iter_mut().flat_map(|all| all.values_mut()) {
            self.owned(address);
        }
    }

    fn owned(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    /// A stream of bytes that comes in pieces.
    #[must_use]
    pub fn stream(&self) -> RedactedStream {
        RedactedStream { redactor: self.clone(), held: Vec::new() }
    }
}

/// A stream whose secrets are taken out although they may lie across its pieces: what may be the beginning of one is held
/// back until more comes, or until the line or the stream ends.
#[derive(Debug, Clone)]
pub struct RedactedStream {
    redactor: Redactor,
    held: Vec<u8>,
}

impl RedactedStream {
    /// Takes the next piece, and gives what may be passed on.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(patterns) = &self.redactor.patterns else { return piece.to_vec() };
        self.held.extend_from_slice(piece);
        let line = self.held.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        // What begins before this place has ended, or is no secret.
        let decided = line.max((self.held.len() + 1).saturating_sub(self.redactor.longest));
        let (mut clean, mut at) = (Vec::with_capacity(self.held.len()), 0);
        for found in patterns.find_iter(&self.held).take_while(|found| found.start() < decided) {
            clean.extend_from_slice(&self.held[at..found.start()]);
            clean.extend_from_slice(REDACTED.as_bytes());
            at = found.end();
        }
        if at < decided {
            clean.extend_from_slice(&self.held[at..decided]);
            at = decided;
        }
        self.held.drain(..at);
        clean
    }

    /// The stream has ended: what is still held back, clean.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        // An end of a line decides everything before it.
        let mut rest = self.push(b"\n");
        rest.pop();
        rest
    }
}

/// The ways a secret is written, none of which holds the end of a line.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<Vec<u8>> = Vec::new();
    if !(SHORTEST..=LONGEST).contains(&secret.len()) {
        return forms;
    }
    // The first and last line of a key in PEM are the same for all keys.
    let lines = secret.lines().map(str::trim).filter(|line| !line.starts_with("-----"));
    forms.extend(lines.map(|line| line.as_bytes().to_vec()));
    forms.extend(base64(secret.as_bytes()));
    forms.push(percent(secret, false).into_bytes());
    forms.push(percent(secret, true).into_bytes());
    let escaped = Value::from(secret).to_string();
    forms.push(escaped.as_bytes()[1..escaped.len() - 1].to_vec());
    forms.retain(|form| form.len() >= SHORTEST && !form.contains(&b'\n'));
    forms
}

/// Every byte that is not unreserved in a URL, as `%XX`.
fn percent(text: &str, small: bool) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            _ if small => encoded.push_str(&format!("%{byte:02x}")),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
        encoded
    })
}

/// What is certain of the base64 of anything that holds the bytes, for each place modulo 3 where they may begin, in both
/// alphabets.
fn base64(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for (last, other) in [(b'+', b'/'), (b'-', b'_')] {
        for before in 0..3_usize {
            let bits = (before..before + bytes.len()).len() * 8;
            // Sextets that hold no bit of a neighbour.
            let first = (before * 8).div_ceil(6);
            let end = (before * 8 + bits) / 6;
            let sextet = |index: usize| {
                (0..6).fold(0_u8, |value, bit| {
                    let place = index * 6 + bit - before * 8;
                    let set = bytes[place / 8] >> (7 - place % 8) & 1;
                    value << 1 | set
                })
            };
            let letter = |value: u8| match value {
                0..=25 => b'A' + value,
                26..=51 => b'a' + value - 26,
                52..=61 => b'0' + value - 52,
                62 => last,
                _ => other,
            };
            forms.push((first..end).map(|index| letter(sextet(index))).collect());
        }
    }
    forms
}
