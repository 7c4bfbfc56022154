//! The book's table of routes is the program's.
//!
//! Routes are read from the sources as text: every path begins in a text with `/v2` or `/status`, goes on from one by a
//! variable (`{base}/x`) or in a scope (`/{x}`), or is given to a small function that puts it behind one (`{base}/{path}`).

use std::collections::BTreeMap;

use crate::tree::{Offence, Tree};

const PAGE: &str = "docs/src/rest.md";
const SOURCES: &str = "src/api/";
/// The variable that stands for the argument of a function which makes routes.
const ARGUMENT: &str = "/{path}";

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

/// Paths that a source serves, with the lines they stand on.
fn paths(source: &str) -> Vec<(usize, String)> {
    let mut reader = Reader::default();
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut line = 1;
    for statement in source.split_inclusive(';') {
        reader.statement(line, statement);
        line += statement.matches('\n').count();
    }
    reader.found
}

/// What is known of the paths of a source so far.
#[derive(Default)]
struct Reader {
    variables: BTreeMap<String, String>,
    /// Functions that make routes, with what they put before their argument.
    functions: BTreeMap<String, String>,
    /// What the scope that was opened last begins with.
    scope: String,
    found: Vec<(usize, String)>,
}

impl Reader {
    fn statement(&mut self, first_line: usize, statement: &str) {
        let code: Vec<&str> = statement
            .lines()
            .map(|line| if line.trim_start().starts_with("//") { "" } else { line })
            .collect();
        let code = code.join("\n");
        let (names, value) = assigned(&code);
        let mut names = names.into_iter();
        // Between quotes stand the texts, at every second place.
        let mut line = first_line;
        for (index, part) in code.split('"').enumerate() {
            if index % 2 == 1
                && let Some(path) = self.resolved(part, &code)
            {
                if code.contains("scope(") && part.starts_with("/v2") {
                    self.scope.clone_from(&path);
                }
                if let Some(base) = path.strip_suffix(ARGUMENT) {
                    self.functions.extend(names.next().map(|name| (name, base.to_owned())));
                } else if let Some(name) = names.next() {
                    self.variables.insert(name, path);
                } else {
                    self.found.push((line, without_names(&path)));
                }
            }
            line += part.matches('\n').count();
        }
        for (name, path) in &self.variables {
            let used = ["resource(&NAME)", "resource(NAME)", "route(&NAME,", "\n                &NAME,"];
            let is_used = used.iter().any(|form| value.contains(&form.replace("NAME", name)));
            if is_used {
                self.found.push((first_line, without_names(path)));
            }
        }
    }

    /// The whole path that a text stands for, if it stands for one.
    fn resolved(&self, text: &str, code: &str) -> Option<String> {
        if text.starts_with("/v2") || text.starts_with("/status") {
            return (!text.contains(' ')).then(|| text.to_owned());
        }
        if text.starts_with("/{") && !self.scope.is_empty() {
            return Some(format!("{}{text}", self.scope));
        }
        if let Some((name, rest)) = text.strip_prefix('{').and_then(|rest| rest.split_once('}'))
            && rest.starts_with('/')
        {
            return Some(format!("{}{rest}", self.variables.get(name)?));
        }
        let called = |name: &str| {
            let code = code.split_whitespace().collect::<String>();
            ["NAME(\"", "NAME(&format!(\""]
                .iter()
                .any(|form| code.contains(&(form.replace("NAME", name) + text)))
        };
        let (_, base) = self.functions.iter().find(|(name, _)| called(name))?;
        Some(format!("{base}/{text}"))
    }
}

/// The names a statement gives to values, and what comes behind the `=`.
fn assigned(code: &str) -> (Vec<String>, &str) {
    let Some((before, rest)) = code.split_once("let ") else { return (Vec::new(), code) };
    let Some((names, value)) = rest.split_once(" = ") else { return (Vec::new(), code) };
    if before.contains('"') || names.contains('"') {
        return (Vec::new(), code);
    }
    let names = names.trim_start_matches("mut ").trim_matches(['(', ')']).split(", ");
    (names.map(str::to_owned).collect(), value)
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
    let source = r#"
        config.route("/v2/clusters/{id}", web::get().to(x));
        let base = format!("/v2/plugins/{}/{{plugin}}", side);
        let (one, two) = (format!("{base}/one"), format!("{base}/{{name}}"));
        config.route(&base, web::get());
        web::resource(&one).route(web::post());
        // config.route("/v2/nothing", web::get());
        web::resource(format!("{one}/stage"));
        let mut post = |path: &str| web::resource(format!("{base}/{path}"));
        post("abort", web::post());
        post(
            &format!("services/{word}"),
            web::post());
        Problem::new("all paths begin with /v2");
        #[cfg(test)]
        get("/v2/test");
    "#;
    let found: Vec<String> = paths(source).into_iter().map(|(_, path)| path).collect();
    assert_eq!(
        found,
        [
            "/v2/clusters/*",
            "/v2/plugins/*/*",
            "/v2/plugins/*/*/one",
            "/v2/plugins/*/*/one/stage",
            "/v2/plugins/*/*/abort",
            "/v2/plugins/*/*/services/*"
        ]
    );
    assert_eq!(row("| `GET` `/v2/nodes?x=1` | all |"), Some("/v2/nodes".to_owned()));
    assert_eq!(row("| field | what |"), None);
}
