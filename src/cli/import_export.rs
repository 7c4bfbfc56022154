//! `cooperage export` and `cooperage import`: everything a tenant describes, as one document.

use std::collections::BTreeMap;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use console::style;
use cooperage_domain::entity::Kind;
use serde_json::{Map, Value, json};

use super::client::Client;
use super::failure::Failure;
use super::screen::Screen;
use super::{difference, names, yaml};
use crate::documents;

/// What to write.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// File to write, which nobody else may read, instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub to: Option<PathBuf>,
    /// With the secrets of providers, which only admins may see
    #[arg(long)]
    pub secrets: bool,
}

/// What to read.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    /// File or folder to read
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true, value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// Show what would be added, changed and removed, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Writes everything down: as YAML, or as JSON if that is asked for.
///
/// # Errors
/// When the server refuses, or the file cannot be written.
pub async fn export(args: ExportArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let secrets = if args.secrets { "?secrets=true" } else { "" };
    let all: Map<String, Value> = client.get(&format!("/v2/export{secrets}")).await?;
    let Some(file) = &args.to else {
        screen.result_named(&all, || called(&all).into_keys().collect(), || yaml::render(&all));
        return Ok(());
    };
    let json = file.extension().is_some_and(|ending| ending == "json") || screen.is_json();
    // Plain data with text keys always becomes JSON.
    let text =
        if json { serde_json::to_string_pretty(&all).unwrap_or_default() + "\n" } else { yaml::render(&all) };
    let failed = |fault| Failure::file("write", file, fault);
    let mut options = std::fs::OpenOptions::new();
    let mut opened =
        options.write(true).create(true).truncate(true).mode(0o600).open(file).map_err(failed)?;
    std::io::Write::write_all(&mut opened, text.as_bytes()).map_err(failed)?;
    screen.note(&format!("{} entities in {}", called(&all).len(), file.display()));
    Ok(())
}

/// Puts documents in place of everything that is there.
///
/// # Errors
/// When anything is wrong with them, nobody agrees, or the server refuses; then nothing was changed.
pub async fn import(args: ImportArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let bundle = documents::read_sources(documents::read_paths(&args.files)?)?;
    if !bundle.resources.is_empty() {
        return Err(Failure::refused(
            "an import holds entities only, and these files hold plugin resources too",
            "use `cooperage apply`, or name the files with entities",
        ));
    }
    let mut wanted: Map<String, Value> =
        Kind::OWNED.iter().map(|kind| (kind.plural().to_owned(), json!([]))).collect();
    for document in &bundle.documents {
        if let Some(Value::Array(all)) = wanted.get_mut(document.kind.plural()) {
            all.push(Value::Object(document.fields.clone()));
        }
    }
    let before: Map<String, Value> = client.get("/v2/export").await?;
    let steps = steps(&called(&before), &called(&wanted));
    if steps.is_empty() {
        screen.done(&json!([]), "everything is unchanged");
        return Ok(());
    }
    steps.iter().for_each(|step| screen.note(&step.render()));
    let count = |verb| steps.iter().filter(|step| step.verb == verb).count();
    let summary = format!(
        "{} added, {} changed, {} removed",
        count(Verb::Add),
        count(Verb::Change),
        count(Verb::Remove)
    );
    if args.dry_run {
        screen.note(&format!("would be: {summary}; nothing was done"));
    } else {
        screen.confirm(&format!("{summary}: do it?"), args.yes)?;
        let _: Value = client.post("/v2/import", &Value::Object(wanted)).await?;
    }
    let result: Vec<Value> = steps.iter().map(Step::as_json).collect();
    screen.result(&result, || if args.dry_run { String::new() } else { summary });
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Add,
    Change,
    Remove,
}

/// What becomes of one entity.
#[derive(Debug)]
struct Step {
    verb: Verb,
    name: String,
    lines: Vec<String>,
}

impl Step {
    fn render(&self) -> String {
        let sign = match self.verb {
            Verb::Add => style("+").green(),
            Verb::Change => style("~").yellow(),
            Verb::Remove => style("-").red(),
        };
        let lines: String = self.lines.iter().map(|line| format!("\n    {line}")).collect();
        format!("{sign} {}{lines}", style(&self.name).bold())
    }

    fn as_json(&self) -> Value {
        let change = match self.verb {
            Verb::Add => "added",
            Verb::Change => "changed",
            Verb::Remove => "removed",
        };
        json!({ "name": self.name, "change": change })
    }
}

/// Entities by `KIND/NAME`, without the version, which a server counts by itself.
fn called(all: &Map<String, Value>) -> BTreeMap<String, Value> {
    let of_kind = |kind: Kind| {
        let entities = all.get(kind.plural()).and_then(Value::as_array).into_iter().flatten();
        entities.filter_map(move |entity| {
            let mut fields = entity.as_object()?.clone();
            fields.shift_remove("version");
            Some((names::of_entity(kind, entity["name"].as_str()?), Value::Object(fields)))
        })
    };
    Kind::OWNED.into_iter().flat_map(of_kind).collect()
}

/// What is to be done, line by line where an entity changes.
fn steps(before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) -> Vec<Step> {
    let mut steps = Vec::new();
    for (name, wanted) in after {
        match before.get(name) {
            None => steps.push(Step { verb: Verb::Add, name: name.clone(), lines: Vec::new() }),
            Some(there) => {
                let lines = difference::of_values(there, wanted);
                if !lines.is_empty() {
                    steps.push(Step { verb: Verb::Change, name: name.clone(), lines });
                }
            }
        }
    }
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    steps.extend(gone.map(|name| Step { verb: Verb::Remove, name: name.clone(), lines: Vec::new() }));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_in_an_import_is_removed() {
        let all = |services: Value| called(&Map::from_iter([("services".to_owned(), services)]));
        let before = all(json!([{"name": "a", "version": 7}, {"name": "b", "icon": "x"}, {"name": "c"}]));
        let after = all(json!([{"name": "a"}, {"name": "b", "icon": "y"}, {"name": "d"}]));
        let told: Vec<(Verb, String)> =
            steps(&before, &after).into_iter().map(|s| (s.verb, s.name)).collect();
        let name = |name: &str| format!("service/{name}");
        assert_eq!(told, [(Verb::Change, name("b")), (Verb::Add, name("d")), (Verb::Remove, name("c"))]);
        assert!(steps(&before, &before).is_empty());
    }
}
