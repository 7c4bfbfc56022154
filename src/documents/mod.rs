//! Reading what people write down: entities as YAML, JSON or TOML, in files and folders, and plugin resources beside them.
//!
//! A file holds one document (`kind: service`, `name: …`), several (YAML separated by `---`, or a JSON array), or an export
//! (an object with `providers`, `services`, … as lists). In a folder, `resources/PLUGIN/KIND/NAME` are resources of
//! automators and everything else with another ending than `.yaml`, `.yml`, `.json` or `.toml` is left alone.
//!
//! All faults of all files are found at once, each with its file, line, column and remedy.

mod bundle;
mod check;
mod fault;
mod folder;
mod format;
mod split;

pub use bundle::{Bundle, Document, Place, ResourceFile};
pub use fault::{DocumentFault, DocumentFaults};
pub use folder::{SourceFile, read_paths};

use std::collections::BTreeMap;
use std::path::Path;

use cooperage_domain::entity::Kind;
use serde_json::{Map, Value};

/// Reads source files into documents and resources.
///
/// # Errors
/// Every fault there is: malformed text, unknown kinds, entities that break a rule of their kind, the same entity twice.
pub fn read_sources(sources: Vec<SourceFile>) -> Result<Bundle, DocumentFaults> {
    let mut bundle = Bundle::default();
    let mut faults = Vec::new();
    for source in sources {
        match source.resource() {
            Some(Ok(resource)) => bundle.resources.push(resource),
            Some(Err(fault)) => faults.push(fault),
            None => match format::read(&source).and_then(|values| split::documents(&source, values)) {
                Ok(documents) => bundle.documents.extend(documents),
                Err(fault) => faults.push(fault),
            },
        }
    }
    faults.extend(bundle.documents.iter().filter_map(check::fault));
    faults.extend(twice(&bundle.documents));
    if faults.is_empty() { Ok(bundle) } else { Err(DocumentFaults(faults)) }
}

/// Reads a file of values that are no entities: one object.
///
/// # Errors
/// When it cannot be read, is malformed, or holds something else.
pub fn read_values(path: &Path) -> Result<Map<String, Value>, DocumentFaults> {
    let sources = read_paths(&[path.to_owned()])?;
    let mut values = Map::new();
    for source in sources {
        for found in format::read(&source).map_err(|fault| DocumentFaults(vec![fault]))? {
            let Value::Object(fields) = found.value else {
                let fault = DocumentFault::new(&found.place, "is not an object", "write KEY: VALUE lines");
                return Err(DocumentFaults(vec![fault]));
            };
            values.extend(fields);
        }
    }
    Ok(values)
}

/// Entities that are written down more than once.
fn twice(documents: &[Document]) -> Vec<DocumentFault> {
    let mut first: BTreeMap<(Kind, &str), &Place> = BTreeMap::new();
    let mut faults = Vec::new();
    for document in documents.iter().filter(|document| !document.name().is_empty()) {
        let key = (document.kind, document.name());
        match first.get(&key) {
            None => {
                first.insert(key, &document.place);
            }
            Some(place) => {
                let detail =
                    format!("{} {:?} is already written down in {place}", key.0.noun(), document.name());
                faults.push(DocumentFault::new(&document.place, detail, "keep one of the two"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests;
