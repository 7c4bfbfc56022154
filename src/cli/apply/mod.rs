//! `cooperage apply`: what people wrote down becomes what the server has, with every difference shown.

mod change;
mod upload;

pub use change::Change;

use std::path::PathBuf;

use clap::{Args, ValueHint};
use console::style;
use serde_json::{Value, json};

use super::client::Client;
use super::failure::Failure;
use super::names;
use super::screen::Screen;
use crate::documents::{self, Bundle};
use upload::Pending;

/// What to apply.
#[derive(Debug, Clone, Args)]
pub struct ApplyArgs {
    /// File or folder to read
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask before changing what is stored
    #[arg(short, long)]
    pub yes: bool,
}

/// What to compare.
#[derive(Debug, Clone, Args)]
pub struct DiffArgs {
    /// File or folder to read
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// End with 8 when there are differences
    #[arg(long)]
    pub exit_code: bool,
}

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
pub async fn run(args: ApplyArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let bundle = documents::read_sources(documents::read_paths(&args.files)?)?;
    // Where nobody can be asked, for example in a pipeline, the command itself is the answer.
    let mode = match (args.dry_run, args.yes || !screen.can_ask()) {
        (true, _) => Mode::DryRun,
        (false, false) => Mode::Ask,
        (false, true) => Mode::Do,
    };
    apply(&bundle, mode, client, screen).await.map(drop)
}

/// Reads files and folders and shows what applying them would change.
///
/// # Errors
/// When anything is wrong with them, the server refuses, or there are differences and that is to be one.
pub async fn diff(args: DiffArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let bundle = documents::read_sources(documents::read_paths(&args.files)?)?;
    match apply(&bundle, Mode::DryRun, client, screen).await? {
        true if args.exit_code => Err(Failure::Differs),
        _ => Ok(()),
    }
}

/// Applies entities in one transaction, then uploads resources whose content differs and puts them to use. Tells whether
/// anything changed, or would change.
///
/// # Errors
/// When the server refuses. Resources are uploaded only after all entities are stored.
pub async fn apply(bundle: &Bundle, mode: Mode, client: &Client, screen: &Screen) -> Result<bool, Failure> {
    // Asked first: a resource that no plugin has keeps everything from being stored.
    let pending = upload::pending(&bundle.resources, client).await?;
    let mut changes = Vec::new();
    if mode != Mode::Do {
        changes = send(bundle, true, client).await?;
        show(&changes, &pending, screen);
    }
    if mode == Mode::Ask && !is_nothing(&changes, &pending) {
        screen.confirm("Store these changes?", false)?;
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
    screen.result_named(
        &result,
        || touched(&changes, &pending),
        || summary(&changes, &pending, bundle, mode),
    );
    Ok(!is_nothing(&changes, &pending))
}

/// What changes, as `KIND/NAME` or `PLUGIN/KIND/NAME`.
fn touched(changes: &[Change], pending: &[Pending]) -> Vec<String> {
    let entities = changes.iter().filter(|change| change.change != "unchanged");
    let entities = entities.map(|change| names::of_entity(change.kind, &change.name));
    entities.chain(pending.iter().map(Pending::name)).collect()
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
