//! Case files: facts as data, each an input and its outcome, run against the public interface.
//!
//! A file is a list of cases, or an object with the list under `cases` and, under `givens`, states that cases name in
//! place of writing them out. A case says `name`, `given`, `when` (with the operation under `op`) and `expect`. The
//! files in the directory that `COOPERAGE_CASES` names are run as well, as far as their operations are known here;
//! cases marked `quirk` are left out.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

/// One fact.
pub struct Case {
    /// Unique in its file.
    pub name: String,
    /// The state before.
    pub given: Value,
    /// The operation and its input.
    pub when: Value,
    /// The outcome.
    pub expect: Value,
}

/// The outcome holds, or what came instead.
pub type Verdict = Result<(), String>;

impl Case {
    /// The name of the operation.
    pub fn op(&self) -> &str {
        self.when["op"].as_str().unwrap_or_default()
    }

    /// Compares a result, or the label and message of an error, with what is expected: a value as `same` decides, an
    /// error by its label and the texts it must mention.
    pub fn judge<T: std::fmt::Debug>(
        &self,
        outcome: Result<T, (&str, String)>,
        same: impl FnOnce(&T) -> Verdict,
    ) -> Verdict {
        match (outcome, self.expect["error"].as_str()) {
            (Ok(value), None) => same(&value),
            (Ok(value), Some(expected)) => Err(format!("expected error {expected}, got {value:?}")),
            (Err((label, message)), Some(expected)) if label == expected => {
                let mentions = self.expect["mentions"].as_array().into_iter().flatten();
                let mut texts = mentions.filter_map(Value::as_str);
                match texts.find(|text| !message.contains(text)) {
                    None => Ok(()),
                    Some(text) => Err(format!("message does not mention {text:?}: {message}")),
                }
            }
            (Err((label, message)), expected) => {
                Err(format!("expected {expected:?}, got error {label}: {message}"))
            }
        }
    }
}

/// `Ok` when both are equal.
pub fn equal<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Verdict {
    if found == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {found:?}")) }
}

/// Runs all cases of our own `directory` below `tests`, and those of others. `run` gives `None` for an operation it does
/// not know.
pub fn run_all(directory: &str, run: impl Fn(&Case) -> Option<Verdict>) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let mut faults = Vec::new();
    let cases = load(&own);
    assert!(!cases.is_empty(), "no cases in {}", own.display());
    for (file, case) in cases {
        match run(&case) {
            Some(Ok(())) => {}
            Some(Err(fault)) => faults.push(format!("{file}: {}: {fault}", case.name)),
            None => faults.push(format!("{file}: {}: op {} is not known", case.name, case.op())),
        }
    }
    if let Some(others) = std::env::var_os("COOPERAGE_CASES") {
        let mut count = 0;
        for (file, case) in load(Path::new(&others)) {
            match run(&case) {
                Some(Err(fault)) => faults.push(format!("{file}: {}: {fault}", case.name)),
                Some(Ok(())) => count += 1,
                None => {}
            }
        }
        eprintln!("{count} cases of {} hold", others.display());
    }
    assert!(faults.is_empty(), "{} cases fail:\n{}", faults.len(), faults.join("\n"));
}

/// All cases of the JSON files in a directory, with the names of their files.
fn load(directory: &Path) -> Vec<(String, Case)> {
    let entries = fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let document = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        cases.extend(read(document).into_iter().map(|case| (file.clone(), case)));
    }
    cases
}

fn read(document: Value) -> Vec<Case> {
    let (givens, list) = match document {
        Value::Object(mut file) => {
            let givens = file.remove("givens").unwrap_or_default();
            (givens.as_object().cloned().unwrap_or_default(), file.remove("cases").unwrap_or_default())
        }
        list => (Map::new(), list),
    };
    let cases = list.as_array().cloned().unwrap_or_default();
    cases
        .into_iter()
        .filter(|case| case["when"].is_object() && case["quirk"] != true)
        .map(|case| {
            let given = match &case["given"] {
                Value::String(name) => givens[name].clone(),
                given => given.clone(),
            };
            Case {
                name: case["name"].as_str().unwrap_or_default().to_owned(),
                given,
                when: case["when"].clone(),
                expect: case["expect"].clone(),
            }
        })
        .collect()
}
