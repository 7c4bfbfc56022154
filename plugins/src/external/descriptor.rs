//! Reading the folders of plugins: what each is called, which fields it takes, and what is to be run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use cooperage_domain::entity::{AutomatorType, Entity, PluginType, ProviderType};
use cooperage_domain::invalid::Invalid;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::resources::Side;

/// Folders that only hold folders of plugins, as Coopr has them.
const SHELVES: [&str; 2] = ["providers", "automators"];
/// Keys of a descriptor besides the names of its types.
const KNOWN: [&str; 5] = ["name", "description", "providertypes", "automatortypes", "process"];
/// Variables that are given in any case, and what the server keeps to itself.
const OWN_VARIABLES: [&str; 4] = ["PATH", "HOME", "TMPDIR", "LANG"];
const SERVER_VARIABLES: &str = "COOPERAGE";

/// A plugin type that a program carries out.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Whether it is a provider or an automator.
    pub side: Side,
    /// Name, fields and resource types.
    pub plugin_type: PluginType,
    /// What is run.
    pub program: PathBuf,
    /// Variables of the server's environment that it may see.
    pub environment: Vec<String>,
    /// Most memory of a run, in MB; 0: no limit; `None`: as the settings say.
    pub memory_mb: Option<u64>,
    /// Whether it can be asked how a machine or a service is.
    pub probes: bool,
}

/// What is wrong with a descriptor, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("plugins.dir: {}: {what}", file.display())]
pub struct DescriptorFault {
    /// The descriptor, or the folder without one.
    pub file: PathBuf,
    /// The field at fault, its value, and what to do.
    pub what: Invalid,
}

/// The key `process` of a descriptor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Process {
    executable: String,
    #[serde(default)]
    environment: Vec<String>,
    #[serde(default, rename = "memoryMb")]
    memory_mb: Option<u64>,
    #[serde(default)]
    probe: bool,
}

/// All plugin types below `dir`, in order of folders and files. Hidden folders are left out.
///
/// # Errors
/// The first fault: what cannot be read, is no descriptor, names a program that cannot be run, or a type twice.
pub fn declared(dir: &Path) -> Result<Vec<Declared>, DescriptorFault> {
    let mut found: Vec<Declared> = Vec::new();
    for folder in plugin_folders(dir)? {
        for file in descriptors(&folder)? {
            for declared in read(&folder, &file)? {
                let name = &declared.plugin_type.base.name;
                if found
                    .iter()
                    .any(|other| (other.side, &other.plugin_type.base.name) == (declared.side, name))
                {
                    let what = Invalid::new(
                        "name",
                        name,
                        "is declared twice",
                        "remove one, or give it another name",
                    );
                    return Err(DescriptorFault { file, what });
                }
                found.push(declared);
            }
        }
    }
    Ok(found)
}

fn fault(
    file: &Path,
    field: &str,
    value: impl std::fmt::Display,
    what: impl Into<String>,
    remedy: &str,
) -> DescriptorFault {
    DescriptorFault { file: file.to_owned(), what: Invalid::new(field, value, what, remedy) }
}

fn plugin_folders(dir: &Path) -> Result<Vec<PathBuf>, DescriptorFault> {
    let mut folders = Vec::new();
    for folder in entries(dir)?.into_iter().filter(|path| path.is_dir()) {
        let is_shelf = folder.file_name().is_some_and(|name| SHELVES.iter().any(|shelf| name == *shelf));
        if is_shelf && descriptors(&folder).is_err() {
            folders.extend(entries(&folder)?.into_iter().filter(|path| path.is_dir()));
        } else {
            folders.push(folder);
        }
    }
    Ok(folders)
}

/// What is in a folder and not hidden, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, DescriptorFault> {
    let unreadable = |error: std::io::Error| {
        let remedy = "name a folder the server may read, or none";
        fault(folder, "folder", folder.display(), format!("cannot be read: {error}"), remedy)
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn descriptors(folder: &Path) -> Result<Vec<PathBuf>, DescriptorFault> {
    let mut files = entries(folder)?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json") && path.is_file());
    if files.is_empty() {
        let remedy = "put one there, or begin the folder's name with a dot";
        return Err(fault(folder, "folder", folder.display(), "holds no descriptor (*.json)", remedy));
    }
    Ok(files)
}

fn read(folder: &Path, file: &Path) -> Result<Vec<Declared>, DescriptorFault> {
    let refuse = |field: &str, value: &str, what: &str, remedy: &str| fault(file, field, value, what, remedy);
    let text = fs::read(file).map_err(|error| {
        fault(file, "file", file.display(), format!("cannot be read: {error}"), "let the server read it")
    })?;
    let mut document: Map<String, Value> = serde_json::from_slice(&text).map_err(|error| {
        fault(file, "file", file.display(), format!("is no JSON object: {error}"), "correct it")
    })?;
    if document.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err(refuse("name", "", "is missing", "give the plugin a name"));
    }
    let mut types = Vec::new();
    for side in [Side::Provider, Side::Automator] {
        let listed = document.get(side.as_str()).cloned().unwrap_or_else(|| Value::Array(Vec::new()));
        let names: Vec<String> = part(file, side.as_str(), listed)?;
        types.extend(names.into_iter().map(|name| (side, name)));
    }
    if types.is_empty() {
        return Err(refuse(
            "providertypes",
            "",
            "lists nothing, and automatortypes neither",
            "list the types it brings",
        ));
    }
    let listed: BTreeSet<&str> = types.iter().map(|(_, name)| name.as_str()).collect();
    if let Some(key) =
        document.keys().find(|key| !KNOWN.contains(&key.as_str()) && !listed.contains(key.as_str()))
    {
        return Err(refuse(
            key,
            "",
            "is not known here",
            "drop it, or list it under providertypes or automatortypes",
        ));
    }
    let Some(process) = document.remove("process") else {
        let remedy =
            r#"add "process": {"executable": "PROGRAM"}; classes of Coopr's Ruby plugins cannot be run"#;
        return Err(refuse("process", "", "is missing", remedy));
    };
    let process: Process = part(file, "process", process)?;
    let program = program(folder, file, &process.executable)?;
    check_environment(file, &process.environment)?;
    let mut found = Vec::new();
    for (side, name) in &types {
        let Some(body) = document.get(name) else {
            return Err(refuse(name, "", "is listed and not described", "add an object of this name"));
        };
        found.push(Declared {
            side: *side,
            plugin_type: plugin_type(file, *side, name, body)?,
            program: program.clone(),
            environment: process.environment.clone(),
            memory_mb: process.memory_mb,
            probes: process.probe,
        });
    }
    Ok(found)
}

/// A part of a descriptor; a fault names the place in it.
fn part<T: serde::de::DeserializeOwned>(
    file: &Path,
    field: &str,
    value: Value,
) -> Result<T, DescriptorFault> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let field = if inner == "." { field.to_owned() } else { format!("{field}.{inner}") };
        fault(
            file,
            &field,
            "",
            format!("cannot be used: {}", error.inner()),
            "correct it; the book's page on plugins shows how",
        )
    })
}

fn plugin_type(file: &Path, side: Side, name: &str, body: &Value) -> Result<PluginType, DescriptorFault> {
    let found: PluginType = part(file, name, body.clone())?;
    if found.base.name != name {
        let field = format!("{name}.name");
        return Err(fault(
            file,
            &field,
            &found.base.name,
            "is not the name it is listed by",
            "use the same name twice",
        ));
    }
    let checked = match side {
        Side::Provider => ProviderType(found.clone()).check(),
        Side::Automator => AutomatorType(found.clone()).check(),
    };
    checked.map_err(|what| {
        let what = Invalid { field: format!("{name}.{}", what.field), ..what };
        DescriptorFault { file: file.to_owned(), what }
    })?;
    Ok(found)
}

/// The program, which is a file in the plugin's folder.
fn program(folder: &Path, file: &Path, name: &str) -> Result<PathBuf, DescriptorFault> {
    let refuse = |what: &str, remedy: &str| Err(fault(file, "process.executable", name, what, remedy));
    let path = Path::new(name);
    if name.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return refuse("is no file of the plugin's folder", "give its path within the folder");
    }
    let program = folder.join(path);
    let inside = match (program.canonicalize(), folder.canonicalize()) {
        (Ok(program), Ok(folder)) => program.starts_with(folder) && program.is_file(),
        _ => return refuse("is not there", "put it into the plugin's folder"),
    };
    if !inside {
        return refuse("leads out of the plugin's folder, or is no file", "put the program itself there");
    }
    let mode = fs::metadata(&program).map_or(0, |found| found.permissions().mode());
    if mode & 0o111 == 0 {
        return refuse("cannot be run", "chmod 755 it");
    }
    std::path::absolute(&program)
        .or_else(|_| refuse("has no absolute path", "name plugins.dir by its whole path"))
}

fn check_environment(file: &Path, names: &[String]) -> Result<(), DescriptorFault> {
    let mut seen = BTreeMap::new();
    for name in names {
        let refuse = |what: &str, remedy: &str| Err(fault(file, "process.environment", name, what, remedy));
        let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if name.is_empty() || !letters || name.starts_with(|first: char| first.is_ascii_digit()) {
            return refuse(
                "is no name of a variable",
                "name variables of the server's environment, such as HTTPS_PROXY",
            );
        }
        if name.starts_with(SERVER_VARIABLES) {
            return refuse("is a setting of the server's own", "drop it: plugins get no settings");
        }
        if OWN_VARIABLES.contains(&name.as_str()) || seen.insert(name, ()).is_some() {
            return refuse("is given in any case", "drop it");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
