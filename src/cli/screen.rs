//! Where results, notes and faults go: the only place that writes to the terminal.
//!
//! Results go to standard output, everything else to standard error, so that results can be piped.

use std::io::{IsTerminal, Write};

use console::style;
use cooperage_domain::invalid::Invalid;
use serde::Serialize;

use super::args::{Format, Globals};
use super::failure::Failure;

/// How this run talks.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    format: Format,
    quiet: bool,
    results: bool,
}

impl Screen {
    /// From the options; switches colours off for the whole process if asked to.
    #[must_use]
    pub fn new(globals: &Globals) -> Self {
        // https://no-color.org: any value that is not empty.
        if globals.no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            console::set_colors_enabled(false);
            console::set_colors_enabled_stderr(false);
        }
        Self { format: globals.output, quiet: globals.quiet, results: true }
    }

    /// The same, for a part of a larger command whose results are nobody's concern.
    #[must_use]
    pub fn without_results(&self) -> Self {
        Self { results: false, ..*self }
    }

    /// The same, without notes either.
    #[must_use]
    pub fn quieter(&self) -> Self {
        Self { results: false, quiet: true, ..*self }
    }

    /// Whether results are for people.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        self.format == Format::Table
    }

    /// Whether a moving picture can be drawn: progress goes to standard error.
    #[must_use]
    pub fn is_lively(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }

    /// Whether there is somebody to ask.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// A result: `value` for programs, or `text` for people.
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) {
        if !self.results {
            return;
        }
        match self.format {
            Format::Table => {
                let text = text();
                if !text.is_empty() {
                    self.line(text.trim_end_matches('\n'));
                }
            }
            // Plain data with text keys always becomes JSON and YAML.
            Format::Json => self.line(&serde_json::to_string_pretty(value).unwrap_or_default()),
            Format::Yaml => self.line(super::yaml::render(value).trim_end_matches('\n')),
        }
    }

    /// One of many results that come one after the other: a line for people, a line of JSON, a document of YAML.
    pub fn event(&self, value: &impl Serialize, text: impl FnOnce() -> String) {
        match self.format {
            Format::Table => self.line(&text()),
            Format::Json => self.line(&serde_json::to_string(value).unwrap_or_default()),
            Format::Yaml => self.line(&format!("---\n{}", super::yaml::render(value).trim_end_matches('\n'))),
        }
    }

    /// A line of a result.
    pub fn line(&self, text: &str) {
        written(writeln!(std::io::stdout().lock(), "{text}"));
    }

    /// Something good to know, unless only results are wanted.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            written(writeln!(std::io::stderr().lock(), "{text}"));
        }
    }

    /// Something that went wrong.
    pub fn fault(&self, failure: &Failure) {
        let error = style("error:").red().bold().for_stderr();
        let mut text = format!("{error} {failure}");
        if let Some(remedy) = failure.remedy().filter(|remedy| !text.contains(remedy.as_str())) {
            text.push_str(&format!("\n  remedy: {remedy}"));
        }
        written(writeln!(std::io::stderr().lock(), "{text}"));
    }

    /// Asks for a line.
    ///
    /// # Errors
    /// When there is nobody to ask; `without` says how to do without.
    pub fn ask(&self, question: &str, without: &str) -> Result<String, Failure> {
        if !self.can_ask() {
            return Err(Failure::refused(format!("nobody to ask: {question}"), without));
        }
        let mut answer = String::new();
        let asked = write!(std::io::stderr().lock(), "{question} ")
            .and_then(|()| std::io::stdin().read_line(&mut answer));
        asked.map_err(|_| Invalid::new("answer", "", "cannot be read", without))?;
        Ok(answer.trim().to_owned())
    }
}

/// A reader that left (`… | head`) ends the program without a word, as it ends others.
#[allow(clippy::exit, reason = "there is nobody left to tell anything")]
fn written(result: std::io::Result<()>) {
    if result.is_err_and(|fault| fault.kind() == std::io::ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
}
