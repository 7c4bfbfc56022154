//! Where results, notes and faults go: the only place that writes to the terminal.
//!
//! Results go to standard output, everything else to standard error, so that results can be piped.

use std::io::{IsTerminal, Write};

use console::style;
use cooperage_domain::invalid::Invalid;
use serde::Serialize;
use serde_json::Value;

use super::args::{Format, Globals};
use super::failure::Failure;
use super::names::names;

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
        matches!(self.format, Format::Table | Format::Wide)
    }

    /// Whether results are JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Whether tables have all their columns.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.format == Format::Wide
    }

    /// Whether a result can be drawn again in its place.
    #[must_use]
    pub fn can_redraw(&self) -> bool {
        self.is_for_people() && std::io::stdout().is_terminal()
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

    /// A result: `value` for programs, its names for other commands, or `text` for people.
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) {
        self.result_named(value, || names(&as_json(value)), text);
    }

    /// A result whose names are not to be seen in it.
    pub fn result_named(
        &self,
        value: &impl Serialize,
        names: impl FnOnce() -> Vec<String>,
        text: impl FnOnce() -> String,
    ) {
        if !self.results {
            return;
        }
        match self.format {
            Format::Table | Format::Wide => self.text(&text()),
            Format::Name => self.text(&names().join("\n")),
            // Plain data with text keys always becomes JSON and YAML.
            Format::Json => self.line(&serde_json::to_string_pretty(value).unwrap_or_default()),
            Format::Yaml => self.line(super::yaml::render(value).trim_end_matches('\n')),
        }
    }

    /// Something that was done: a note for people, for programs what it was done to.
    pub fn done(&self, value: &impl Serialize, note: &str) {
        self.note(note);
        if !self.is_for_people() {
            self.result(value, String::new);
        }
    }

    /// One of many results that come one after the other: a line for people, a line of JSON, a document of YAML.
    pub fn event(&self, value: &impl Serialize, text: impl FnOnce() -> String) {
        match self.format {
            Format::Table | Format::Wide => self.line(&text()),
            Format::Name => self.text(&names(&as_json(value)).join("\n")),
            Format::Json => self.line(&serde_json::to_string(value).unwrap_or_default()),
            Format::Yaml => self.line(&format!("---\n{}", super::yaml::render(value).trim_end_matches('\n'))),
        }
    }

    /// A result in the place of the one before.
    pub fn redraw(&self, text: &str) {
        // Home, each line up to its end, then everything below: nothing flickers.
        let text = text.trim_end_matches('\n').replace('\n', "\x1b[K\n");
        written(write!(std::io::stdout().lock(), "\x1b[H{text}\x1b[K\n\x1b[J"));
    }

    /// An empty page to draw on.
    pub fn clear(&self) {
        written(write!(std::io::stdout().lock(), "\x1b[2J"));
    }

    fn text(&self, text: &str) {
        if !text.is_empty() {
            self.line(text.trim_end_matches('\n'));
        }
    }

    /// A line of a result.
    pub fn line(&self, text: &str) {
        written(writeln!(std::io::stdout().lock(), "{text}"));
    }

    /// Bytes that are a result.
    pub fn bytes(&self, bytes: &[u8]) {
        written(std::io::stdout().lock().write_all(bytes));
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

    /// Lets something that cannot be undone happen: when it was said so before, or somebody says so now.
    ///
    /// # Errors
    /// When nobody says yes.
    pub fn confirm(&self, question: &str, yes: bool) -> Result<(), Failure> {
        if yes {
            return Ok(());
        }
        let answer = self.ask(&format!("{question} [y/N]"), "use --yes")?;
        if matches!(answer.to_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        Err(Failure::refused("nothing was done", "answer y to do it"))
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

fn as_json(value: &impl Serialize) -> Value {
    // Plain data with text keys always becomes JSON.
    serde_json::to_value(value).unwrap_or_default()
}

/// A reader that left (`… | head`) ends the program without a word, as it ends others.
#[allow(clippy::exit, reason = "there is nobody left to tell anything")]
fn written(result: std::io::Result<()>) {
    if result.is_err_and(|fault| fault.kind() == std::io::ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
}
