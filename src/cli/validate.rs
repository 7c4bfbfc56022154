//! `cooperage validate`: documents looked at without a server.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde_json::json;

use super::failure::Failure;
use super::names;
use super::screen::Screen;
use crate::documents;

/// What to look at.
#[derive(Debug, Clone, Args)]
pub struct ValidateArgs {
    /// File or folder to read
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
}

/// Reads files and folders by the rules of their kinds.
///
/// # Errors
/// Every fault there is.
pub fn run(args: &ValidateArgs, screen: &Screen) -> Result<(), Failure> {
    let bundle = documents::read_sources(documents::read_paths(&args.files)?)?;
    let entities: Vec<_> = bundle
        .documents
        .iter()
        .map(|document| json!({ "kind": document.kind, "name": document.name(), "place": document.place.to_string() }))
        .collect();
    let resources: Vec<String> = bundle.resources.iter().map(ToString::to_string).collect();
    let count = (entities.len(), resources.len());
    let result = json!({ "entities": entities, "resources": resources });
    let names = || {
        let documents = bundle.documents.iter().map(|it| names::of_entity(it.kind, it.name()));
        documents.chain(resources.clone()).collect()
    };
    screen.result_named(&result, names, || {
        let said =
            |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        format!("well: {}, {}", said(count.0, "entity", "entities"), said(count.1, "resource", "resources"))
    });
    Ok(())
}
