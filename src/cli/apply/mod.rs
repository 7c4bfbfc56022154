//! `cooperage apply`: what people wrote down becomes what the server has, with every difference shown.

mod change;
mod upload;

pub use change::Change;

use console::style;
use serde_json::{Value, json};

use super::args::ApplyArgs;
use super::client::Client;
use super::failure::Failure;
use super::screen::Screen;
use crate::documents::{self, Bundle};
use upload::Pending;

/// How an apply is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Show what would change.
    DryRun,
    /// Show it, ask, then do it.
    Ask,
    /// Do it and show what changed.
    Do,
}

/// Reads files and folders and applies them.
///
/// # Errors
/// When anything is wrong with them, or the server refuses; then nothing was stored.
pub async fn run(args: &ApplyArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let bundle = documents::read_sources(documents::read_paths(&args.files)?)?;
    // Where nobody can be asked, for example in a pipeline, the command itself is the answer.
    let mode = match (args.dry_run, args.yes || !screen.can_ask()) {
        (true, _) => Mode::DryRun,
        (false, false) => Mode::Ask,
        (false, true) => Mode::Do,
    };
    apply(&bundle, mode, client, screen).await
}

/// Applies entities in one transaction, then uploads resources whose content differs and puts them to use.
///
/// # Errors
/// When the server refuses. Resources are uploaded only after all entities are stored.
pub async fn apply(bundle: &Bundle, mode: Mode, client: &Client, screen: &Screen) -> Result<(), Failure> {
    // Asked first: a resource that no plugin has keeps everything from being stored.
    let pending = upload::pending(&bundle.resources, client).await?;
    let mut changes = Vec::new();
    if mode != Mode::Do {
        changes = send(bundle, true, client).await?;
        show(&changes, &pending, screen);
    }
    if mode == Mode::Ask && !is_nothing(&changes, &pending) {
        let answer = screen.ask("Store these changes? [y/N]", "use --yes")?;
        if !matches!(answer.to_lowercase().as_str(), "y" | "yes") {
            return Err(Failure::refused("nothing was stored", "answer y to store the changes"));
        }
    }
    if mode != Mode::DryRun {
        let stored = send(bundle, false, client).await?;
        if mode == Mode::Do {
            show(&stored, &pending, screen);
        }
        changes = stored;
        upload::carry_out(&pending, client).await?;
    }
    let result = json!({ "entities": changes, "resources": pending });
    screen.result(&result, || summary(&changes, &pending, bundle, mode));
    Ok(())
}

async fn send(bundle: &Bundle, dry_run: bool, client: &Client) -> Result<Vec<Change>, Failure> {
    if bundle.documents.is_empty() {
        return Ok(Vec::new());
    }
    let body = Value::Array(bundle.documents.iter().map(documents::Document::to_json).collect());
    let path = if dry_run { "/v2/apply?dryRun=true" } else { "/v2/apply" };
    Ok(client.post(path, &body).await?)
}

fn is_nothing(changes: &[Change], pending: &[Pending]) -> bool {
    pending.is_empty() && changes.iter().all(|change| change.change == "unchanged")
}

fn show(changes: &[Change], pending: &[Pending], screen: &Screen) {
    if !screen.is_for_people() {
        return;
    }
    for change in changes.iter().filter(|change| change.change != "unchanged") {
        screen.note(&change.render());
    }
    for resource in pending {
        screen.note(&resource.to_string());
    }
}

/// `2 created, 1 changed, 9 unchanged, 3 resources uploaded, 4 resources unchanged`.
fn summary(changes: &[Change], pending: &[Pending], bundle: &Bundle, mode: Mode) -> String {
    let count = |word: &str| changes.iter().filter(|change| change.change == word).count();
    let mut parts: Vec<String> = ["created", "changed", "unchanged"]
        .into_iter()
        .map(|word| (count(word), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let same = bundle.resources.len() - pending.len();
    for (count, word) in [(pending.len(), "uploaded"), (same, "unchanged")] {
        if count > 0 {
            parts.push(format!("{count} resource{} {word}", if count == 1 { "" } else { "s" }));
        }
    }
    let text = if is_nothing(changes, pending) {
        format!("everything is unchanged ({})", parts.join(", "))
    } else {
        parts.join(", ")
    };
    if mode == Mode::DryRun {
        format!("would be: {text}; nothing was stored")
    } else {
        style(text).bold().to_string()
    }
}
