//! Finding the files.

use std::path::{Path, PathBuf};

use super::bundle::{Place, ResourceFile};
use super::fault::{DocumentFault, DocumentFaults};

/// Endings of files that hold documents.
const ENDINGS: [&str; 4] = ["yaml", "yml", "json", "toml"];
/// Folder of plugin resources.
const RESOURCES: &str = "resources";

/// A file and what it holds, wherever it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as people know it.
    pub path: PathBuf,
    /// What it holds.
    pub content: Vec<u8>,
}

impl SourceFile {
    /// The file as a place.
    #[must_use]
    pub fn place(&self) -> Place {
        Place { file: self.path.clone(), line: None, column: None }
    }

    /// What it is as a resource: `None` when it lies in no folder `resources`.
    pub(super) fn resource(&self) -> Option<Result<ResourceFile, DocumentFault>> {
        let parts: Vec<&str> = self.path.iter().filter_map(|part| part.to_str()).collect();
        let folder = parts.iter().rposition(|part| *part == RESOURCES)?;
        Some(match parts.get(folder + 1..).unwrap_or_default() {
            [plugin, kind, name] => Ok(ResourceFile {
                plugin: (*plugin).to_owned(),
                kind: (*kind).to_owned(),
                name: (*name).to_owned(),
                content: self.content.clone(),
            }),
            _ => Err(DocumentFault::new(
                &self.place(),
                "the file is not at resources/PLUGIN/KIND/NAME",
                "move it, for example to resources/shell/scripts/install.sh",
            )),
        })
    }

    /// Whether a folder's file is read at all.
    #[must_use]
    pub fn is_wanted(path: &Path) -> bool {
        let names: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        let hidden = names.iter().any(|name| name.starts_with('.') && !matches!(*name, "." | ".."));
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        !hidden && (names.contains(&RESOURCES) || ENDINGS.contains(&ending))
    }
}

/// Reads files and folders: of a folder, everything below it that is wanted, in order of path.
///
/// # Errors
/// All paths that cannot be read, or that a folder holds nothing to read.
pub fn read_paths(paths: &[PathBuf]) -> Result<Vec<SourceFile>, DocumentFaults> {
    let mut sources = Vec::new();
    let mut faults = Vec::new();
    for path in paths {
        match files_at(path) {
            Ok(files) if files.is_empty() => faults.push(empty(path)),
            Ok(files) => {
                for file in files {
                    match std::fs::read(&file) {
                        Ok(content) => sources.push(SourceFile { path: file, content }),
                        Err(fault) => faults.push(unreadable(&file, &fault)),
                    }
                }
            }
            Err(fault) => faults.push(unreadable(path, &fault)),
        }
    }
    if faults.is_empty() { Ok(sources) } else { Err(DocumentFaults(faults)) }
}

fn files_at(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        // A file that is named is wanted, whatever it is called.
        std::fs::metadata(path)?;
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let inner = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            // Links to folders are not followed: they may lead in a circle.
            if entry.file_type()?.is_dir() && !hidden {
                folders.push(inner);
            } else if !inner.is_dir() && inner.strip_prefix(path).is_ok_and(SourceFile::is_wanted) {
                files.push(inner);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn place(path: &Path) -> Place {
    Place { file: path.to_owned(), line: None, column: None }
}

fn unreadable(path: &Path, fault: &std::io::Error) -> DocumentFault {
    DocumentFault::new(
        &place(path),
        format!("cannot be read: {fault}"),
        "name a file or folder that can be read",
    )
}

fn empty(path: &Path) -> DocumentFault {
    let remedy = "name a folder with .yaml, .yml, .json or .toml files, or with resources/PLUGIN/KIND/NAME";
    DocumentFault::new(&place(path), "the folder holds nothing to apply", remedy)
}
