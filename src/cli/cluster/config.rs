//! `cooperage cluster config`: a cluster's configuration, shown or changed.
//!
//! The server takes a configuration as a whole: what is to change is laid over what is there.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::config_values::{merge, parse_override, remove};
use super::find;
use super::outcome::begun;
use super::planned::{self, Verb};
use crate::cli::args::ConfigArgs;
use crate::cli::client::Client;
use crate::cli::difference;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::documents;

/// Shows a configuration, or changes it and watches the job that this takes.
///
/// # Errors
/// When an option is wrong, the server refuses, or a task fails.
pub async fn run(args: &ConfigArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    args.wait.limit()?;
    let id = find::id_of(client, &args.which.cluster).await?;
    let path = format!("/v2/clusters/{id}/config");
    let before: Map<String, Value> = client.get(&path).await?;
    let Some(after) = changed(args, &before)? else {
        screen.result(&before, || crate::cli::yaml::render(&before));
        return Ok(());
    };
    let (before, after) = (Value::Object(before), Value::Object(after));
    let lines = difference::of_values(&before, &after);
    if lines.is_empty() {
        screen.done(&after, "everything is unchanged");
        return Ok(());
    }
    lines.iter().for_each(|line| screen.note(line));
    let fields = args.fields.read()?;
    let body = json!({ "config": after, "restart": !args.no_restart, "providerFields": fields });
    if !planned::change(Verb::Put, &path, &body, &args.preview, client, screen).await? {
        return Ok(());
    }
    begun(client, &id, screen, &args.wait).await
}

/// The configuration that is wanted, if another one is.
fn changed(args: &ConfigArgs, before: &Map<String, Value>) -> Result<Option<Map<String, Value>>, Failure> {
    let read = |file: &Option<std::path::PathBuf>| file.as_deref().map(documents::read_values).transpose();
    if args.edit {
        let again = format!("cooperage cluster config {} --replace", args.which.cluster);
        return edited(before, &again).map(Some);
    }
    let (whole, over) = (read(&args.replace)?, read(&args.merge)?);
    let sets = args.set.iter().map(|text| parse_override("--set", text)).collect::<Result<Vec<_>, _>>()?;
    if whole.is_none() && over.is_none() && sets.is_empty() && args.unset.is_empty() {
        return Ok(None);
    }
    let mut config = whole.unwrap_or_else(|| before.clone());
    for over in over.into_iter().chain(sets) {
        merge(&mut config, over);
    }
    for path in &args.unset {
        if !remove(&mut config, path) {
            let remedy = "use a path that `cooperage cluster config` shows, such as nginx.port";
            return Err(Failure::unknown(format!("--unset: the configuration has no {path:?}"), remedy));
        }
    }
    Ok(Some(config))
}

/// Values as somebody leaves them in an editor. What cannot be read is kept, for the command `again`.
///
/// # Errors
/// When the editor fails, or what it leaves cannot be read.
pub fn edited(before: &Map<String, Value>, again: &str) -> Result<Map<String, Value>, Failure> {
    let failed = |fault| Failure::file("edit", Path::new("the values"), fault);
    let mut file =
        tempfile::Builder::new().prefix("cooperage-").suffix(".yaml").tempfile().map_err(failed)?;
    file.write_all(crate::cli::yaml::render(before).as_bytes()).map_err(failed)?;
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    // It may be a command with options of its own.
    let mut shell = Command::new("sh");
    let status =
        shell.args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(file.path()).status().map_err(failed)?;
    if !status.success() {
        return Err(Failure::refused(
            format!("the editor {editor:?} failed, so nothing was changed"),
            "name another in EDITOR",
        ));
    }
    if std::fs::read_to_string(file.path()).is_ok_and(|text| text.trim().is_empty()) {
        let remedy = "to take everything away, leave {} in it";
        return Err(Failure::refused("the file was left empty, so nothing was changed", remedy));
    }
    documents::read_values(file.path()).map_err(|fault| {
        let kept = file.into_temp_path().keep().map(|path| path.display().to_string()).unwrap_or_default();
        let remedy = format!("correct it, then: {again} {kept}");
        Failure::refused(format!("{fault}"), remedy)
    })
}
