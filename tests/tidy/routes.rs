//! The book's table of routes is the program's.

use std::collections::BTreeMap;

use crate::tree::{Offence, Tree};

const PAGE: &str = "docs/src/rest.md";
const SOURCES: &str = "src/api/";

pub fn offences(tree: &Tree) -> Vec<Offence> {
    let page = tree.file(PAGE);
    let told: BTreeMap<String, usize> = page.lines().filter_map(|(n, line)| Some((row(line)?, n))).collect();
    let mut offences = Vec::new();
    let mut served = Vec::new();
    for file in tree.rust(&[SOURCES]) {
        for (number, path) in paths(&file.text) {
            if !told.contains_key(&path) {
                offences.push(file.offence(number, format!("{path} is not in the table of {PAGE}")));
            }
            served.push(path);
        }
    }
    for (path, number) in told.iter().filter(|(path, _)| !served.contains(path)) {
        offences.push(page.offence(*number, format!("{path} is not served: no route in {SOURCES} has it")));
    }
    offences
}

/// The path of a row such as "| `GET` `/v2/clusters/{id}` | ... |".
fn row(line: &str) -> Option<String> {
    let cell = line.strip_prefix('|')?.split('|').next()?;
    let path = cell.split('`').find(|part| part.starts_with('/'))?;
    Some(without_names(path.split('?').next().unwrap_or(path)))
}

/// Paths in the texts of a source, with the lines they stand on.
///
/// A text that begins with a variable (`{base}/x`) goes on from the text that was given to it, one that begins with
/// `/{` from the scope before it.
fn paths(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut scope = String::new();
    let mut variables = BTreeMap::new();
    for (index, line) in source.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("#[cfg(test)]") {
            break;
        }
        if line.starts_with("//") {
            continue;
        }
        for text in line.split('"').skip(1).step_by(2) {
            let path = match text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                Some((name, rest)) if rest.starts_with('/') => match variables.get(name) {
                    Some(base) => format!("{base}{rest}"),
                    None => continue,
                },
                _ if text.starts_with("/{") => format!("{scope}{text}"),
                _ if text.starts_with("/v2") || text.starts_with("/status") => text.to_owned(),
                _ => continue,
            };
            if line.contains("scope(") {
                scope.clone_from(&path);
            }
            match line.strip_prefix("let ").and_then(|rest| rest.split_once(" = ")) {
                Some((name, _)) => drop(variables.insert(name.to_owned(), path)),
                None => found.push((index + 1, without_names(&path))),
            }
        }
        // A route may be given by the variable itself.
        for (name, path) in &variables {
            if line.contains(&format!("&{name},")) || line.contains(&format!("&{name})")) {
                found.push((index + 1, without_names(path)));
            }
        }
    }
    found
}

/// What stands in braces is a name, the same whatever it is called.
fn without_names(path: &str) -> String {
    let mut parts = path.replace("{{", "{").replace("}}", "}");
    while let Some((at, end)) = parts.find('{').and_then(|at| Some((at, at + parts[at..].find('}')?))) {
        parts.replace_range(at..=end, "*");
    }
    parts
}

#[test]
fn paths_are_put_together() {
    let source = "
        .route(\"/v2/clusters/{id}\", web::get())
        web::scope(&format!(\"/v2/{}\", kind.plural()))
            .route(\"/{name}\", web::get())
        let base = format!(\"/v2/plugins/{}/{{plugin}}\", side);
        let one = format!(\"{base}/{{name}}\");
        .route(&base, web::get())
        web::resource(&one)
        .route(&format!(\"{one}/stage\"), web::post())
    ";
    let found: Vec<String> = paths(source).into_iter().map(|(_, path)| path).collect();
    assert_eq!(
        found,
        [
            "/v2/clusters/*",
            "/v2/*",
            "/v2/*/*",
            "/v2/plugins/*/*",
            "/v2/plugins/*/*/*",
            "/v2/plugins/*/*/*/stage"
        ]
    );
    assert_eq!(row("| `GET` `/v2/nodes?x=1` | all |"), Some("/v2/nodes".to_owned()));
    assert_eq!(row("| field | what |"), None);
}
