//! What a program may say on its standard output: JSON, an object with one key on each line. A pure reader of bytes.

use std::collections::BTreeMap;

use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::task::TaskReport;
use serde::Deserialize;
use serde_json::{Map, Value};

/// How much of a bad line is shown, in characters.
const SHOWN: usize = 80;

/// What a program says with one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// `{"log": "text"}`: a line of its output.
    Log(String),
    /// `{"progress": "text"}`, or a number from 0 to 100: how far it is.
    Progress(String),
}

/// `{"result": {…}}`: what the task came to, in the shape that Coopr's workers report.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Report {
    /// 0 is success. 200 to 299: failed before anything was made.
    #[serde(default, deserialize_with = "cooperage_domain::lenient::number")]
    pub status: i64,
    /// What later tasks of the node are given.
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    pub result: Map<String, Value>,
    /// The host name; only from a provider's confirm.
    #[serde(default)]
    pub hostname: Option<String>,
    /// The addresses by kind; only from a provider's confirm.
    #[serde(default)]
    pub ipaddresses: Option<BTreeMap<String, String>>,
    /// What kind of failure it was, if the plugin knows.
    #[serde(default, rename = "errorKind")]
    pub error_kind: Option<ErrorKind>,
    /// A sentence for people: why it failed, and what to do.
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    pub message: String,
}

impl Report {
    /// As the rest of the program knows reports.
    #[must_use]
    pub fn into_task_report(self) -> TaskReport {
        let Self { status, result, hostname, ipaddresses, error_kind: _, message: _ } = self;
        TaskReport { status, result, hostname, ipaddresses, ..TaskReport::default() }
    }
}

/// Why a program cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// A line has no end within the limit.
    #[error("line {line} of its standard output is longer than {limit} bytes (plugins.max_line_bytes)")]
    TooLong {
        /// Which line, from 1.
        line: u64,
        /// Most bytes a line may have.
        limit: usize,
    },
    /// A line is not what a program may say.
    #[error(
        "line {line} of its standard output {fault}: {shown:?}; it may only say {{\"log\": …}}, {{\"progress\": …}} and \
         {{\"result\": {{…}}}} there, and anything on its standard error"
    )]
    Unknown {
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        fault: String,
        /// How it begins.
        shown: String,
    },
    /// A second result.
    #[error("line {line} of its standard output is a second result")]
    SecondResult {
        /// Which line, from 1.
        line: u64,
    },
}

/// Reads what a program says, in pieces of any size.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    partial: Vec<u8>,
    line: u64,
    report: Option<Report>,
}

impl Lines {
    /// With lines of at most `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit, partial: Vec::new(), line: 1, report: None }
    }

    /// The next bytes; what they say goes to `said`.
    ///
    /// # Errors
    /// At the first line that cannot be understood; nothing more is to be read then.
    pub fn push(&mut self, bytes: &[u8], said: &mut dyn FnMut(Line)) -> Result<(), LineFault> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = piece.strip_suffix(b"\n").map_or((piece, false), |text| (text, true));
            if self.partial.len() + text.len() > self.limit {
                return Err(LineFault::TooLong { line: self.line, limit: self.limit });
            }
            self.partial.extend_from_slice(text);
            if ends {
                self.take(said)?;
            }
        }
        Ok(())
    }

    /// The end: a last line needs no line feed. Gives the result, if there was one.
    ///
    /// # Errors
    /// When the last line cannot be understood.
    pub fn finish(mut self, said: &mut dyn FnMut(Line)) -> Result<Option<Report>, LineFault> {
        self.take(said)?;
        Ok(self.report)
    }

    fn take(&mut self, said: &mut dyn FnMut(Line)) -> Result<(), LineFault> {
        let text = std::mem::take(&mut self.partial);
        let line = self.line;
        self.line += 1;
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        let unknown = |fault: String| {
            let shown = String::from_utf8_lossy(&text).trim().chars().take(SHOWN).collect();
            LineFault::Unknown { line, fault, shown }
        };
        let value: Map<String, Value> =
            serde_json::from_slice(&text).map_err(|fault| unknown(format!("is no JSON object ({fault})")))?;
        let mut keys = value.into_iter();
        let (Some((key, value)), None) = (keys.next(), keys.next()) else {
            return Err(unknown("has not exactly one key".to_owned()));
        };
        match (key.as_str(), value) {
            ("log", Value::String(text)) => text.lines().for_each(|line| said(Line::Log(line.to_owned()))),
            ("progress", Value::String(text)) => said(Line::Progress(text.replace('\n', " "))),
            ("progress", Value::Number(part)) => said(Line::Progress(format!("{part} %"))),
            ("result", value @ Value::Object(_)) => {
                let report: Report = serde_json::from_value(value)
                    .map_err(|fault| unknown(format!("is no result ({fault})")))?;
                if self.report.replace(report).is_some() {
                    return Err(LineFault::SecondResult { line });
                }
            }
            ("log" | "progress" | "result", _) => {
                return Err(unknown(format!("has another value of {key:?}")));
            }
            _ => return Err(unknown(format!("has the unknown key {key:?}"))),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: usize = 200;

    fn read(bytes: &[u8], piece: usize) -> (Vec<Line>, Result<Option<Report>, LineFault>) {
        let mut said = Vec::new();
        let mut lines = Lines::new(LIMIT);
        let mut take = |line| said.push(line);
        let read = || {
            bytes.chunks(piece.max(1)).try_for_each(|piece| lines.push(piece, &mut take))?;
            lines.finish(&mut take)
        };
        let result = read();
        (said, result)
    }

    #[test]
    fn a_program_says_what_it_does_and_what_came_of_it() {
        let text = b"{\"log\": \"one\\ntwo\"}\n\n {\"progress\": 40}\r\n{\"progress\":\"half way\"}\n\
            {\"result\": {\"status\": \"0\", \"result\": {\"providerid\": \"m-1\"}, \"ipaddresses\": {\"access_v4\": \"10.0.0.1\"}}}";
        for piece in [1, 7, 1000] {
            let (said, result) = read(text, piece);
            let [one, two] = ["one", "two"].map(|text| Line::Log(text.to_owned()));
            let [part, half] = ["40 %", "half way"].map(|text| Line::Progress(text.to_owned()));
            assert_eq!(said, [one, two, part, half]);
            let report = result.unwrap().unwrap();
            assert_eq!((report.status, report.result["providerid"].as_str()), (0, Some("m-1")));
            assert_eq!(report.ipaddresses.unwrap()["access_v4"], "10.0.0.1");
        }
        assert_eq!(read(b"", 1), (vec![], Ok(None)));
    }

    #[test]
    fn everything_else_is_refused_with_its_line() {
        for (text, words) in [
            ("Traceback (most recent call last):", "line 1 of its standard output is no JSON object"),
            ("{\"log\": \"a\"}\n[1]", "line 2"),
            ("{\"log\": 1}", "has another value of \"log\""),
            ("{\"lgo\": \"a\"}", "unknown key \"lgo\""),
            ("{}", "exactly one key"),
            ("{\"log\": \"a\", \"progress\": \"b\"}", "exactly one key"),
            ("{\"result\": {\"status\": []}}", "is no result"),
            ("{\"result\": {\"ipaddresses\": \"10.0.0.1\"}}", "is no result"),
            ("{\"result\": {}}\n{\"result\": {}}", "line 2 of its standard output is a second result"),
            ("\u{0}\u{1}", "is no JSON object"),
        ] {
            let fault = read(text.as_bytes(), 5).1.unwrap_err().to_string();
            assert!(fault.contains(words), "{words}: {fault}");
        }
        assert!(read(&[0xff, 0xfe, b'\n'], 1).1.is_err());
        let long = [b'x'; LIMIT + 1];
        assert_eq!(read(&long, 50).1, Err(LineFault::TooLong { line: 1, limit: LIMIT }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_the_same_in_any_pieces(
            bytes in prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n'), 1 => prop::sample::select(b"{}\":log1".to_vec())], 0..2000),
            piece in 1_usize..300,
        ) {
            let whole = read(&bytes, usize::MAX);
            prop_assert_eq!(&read(&bytes, piece), &whole);
            let short = |line: &Line| {
                let (Line::Log(text) | Line::Progress(text)) = line;
                text.len() <= LIMIT
            };
            prop_assert!(whole.0.iter().all(short));
        }

        #[test]
        fn no_more_than_a_line_is_kept(bytes in prop::collection::vec(prop::sample::select(b"ab\n{}".to_vec()), 0..2000), piece in 1_usize..300) {
            let mut lines = Lines::new(LIMIT);
            for piece in bytes.chunks(piece) {
                if lines.push(piece, &mut |_| {}).is_err() {
                    break;
                }
                prop_assert!(lines.partial.len() <= LIMIT);
            }
        }
    }
}
