//! Every setting is explained where it is set, and in the book.

use crate::tree::{Offence, Tree};

const FILE: &str = "etc/cooperage.toml";
const SOURCE: &str = "src/config.rs";
const PAGE: &str = "docs/src/settings.md";

pub fn offences(tree: &Tree) -> Vec<Offence> {
    let file = tree.file(FILE);
    let settings = settings(&file.text);
    let page = &tree.file(PAGE).text;
    let mut offences = Vec::new();
    for setting in &settings {
        if !setting.explained {
            let fault = format!("{} has no comment: say what it does and what its values are", setting.name);
            offences.push(file.offence(setting.line, fault));
        }
        if !page.contains(&format!("`{}`", setting.name)) {
            offences.push(file.offence(setting.line, format!("{} is not in {PAGE}", setting.name)));
        }
    }
    let known =
        |field: &str| settings.iter().any(|setting| setting.name.split('.').any(|part| part == field));
    let source = tree.file(SOURCE);
    // What only a build for tests has is nobody's setting.
    let mut for_tests = false;
    for (number, line) in source.code() {
        for_tests |= line.trim_start().starts_with("#[cfg(feature = \"simulation\")]");
        let field =
            line.strip_prefix("    pub ").and_then(|rest| rest.split_once(": ")).map(|(name, _)| name);
        let Some(field) = field else { continue };
        if !std::mem::take(&mut for_tests) && !field.contains(['(', ' ']) && !known(field) {
            offences.push(source.offence(number, format!("{field} is not in {FILE}: add it with a comment")));
        }
    }
    offences
}

struct Setting {
    /// `section.key`, as in `--set`.
    name: String,
    line: usize,
    /// Whether a comment stands above it, or above the keys it follows without a blank line.
    explained: bool,
}

fn settings(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let (mut section, mut explained) = (String::new(), false);
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            explained = true;
        } else if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
            explained = false;
        } else if let Some((key, _)) = line.split_once(" = ") {
            found.push(Setting { name: format!("{section}{key}"), line: index + 1, explained });
        } else {
            explained = false;
        }
    }
    found
}

#[test]
fn settings_are_read_with_their_comments() {
    let found = settings("# Where.\ndir = 1\n\nbare = 2\n[a]\n# Both.\nx = 1\ny = 2\n");
    let seen: Vec<(&str, bool)> = found.iter().map(|s| (s.name.as_str(), s.explained)).collect();
    assert_eq!(seen, [("dir", true), ("bare", false), ("a.x", true), ("a.y", true)]);
}
