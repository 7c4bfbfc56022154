//! What documents point at is there: files, pages, and the tests that guard invariants.

use std::collections::BTreeSet;

use crate::tree::{File, Offence, Tree};

const MAP: &str = "ARCHITECTURE.md";
const CONTENTS: &str = "docs/src/SUMMARY.md";
/// What a line of the map begins with that names the tests which guard an invariant.
const GUARD: &str = "Guarded by:";

pub fn offences(tree: &Tree) -> Vec<Offence> {
    let mut offences = Vec::new();
    for page in tree.files.iter().filter(|file| file.path.ends_with(".md")) {
        offences.extend(dead_links(tree, page));
    }
    offences.extend(dead_places(tree, tree.file(MAP)));
    offences.extend(dead_guards(tree, tree.file(MAP)));
    offences.extend(lost_pages(tree, tree.file(CONTENTS)));
    offences
}

/// Links to files that are not there.
fn dead_links(tree: &Tree, page: &File) -> Vec<Offence> {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut offences = Vec::new();
    for (number, line) in page.lines() {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            let outside = path.is_empty() || path.contains("://") || path.starts_with("mailto:");
            if !outside && !tree.holds(&joined(folder, path)) {
                offences.push(page.offence(number, format!("{target} leads nowhere")));
            }
        }
    }
    offences
}

/// A relative path, from a folder.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Files and folders that the map names and that are not there.
fn dead_places(tree: &Tree, map: &File) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (number, line) in map.lines() {
        for place in line.split('`').skip(1).step_by(2) {
            let looks_like_a_path = place.contains('/') && !place.contains([' ', '<', ':', '{', '*']);
            if looks_like_a_path && !place.starts_with('/') && !tree.holds(place) {
                offences.push(map.offence(number, format!("there is no {place}")));
            }
        }
    }
    offences
}

/// Tests that the map names as guards and that are not there.
fn dead_guards(tree: &Tree, map: &File) -> Vec<Offence> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let functions: BTreeSet<&str> = tree
        .rust(&[""])
        .flat_map(File::lines)
        .filter_map(|(_, line)| line.trim_start().trim_start_matches("async ").strip_prefix("fn "))
        .filter_map(|rest| rest.split(|c| !is_name(c)).next())
        .collect();
    let mut offences = Vec::new();
    let mut guards = false;
    for (number, line) in map.lines() {
        guards = (guards && !line.trim().is_empty()) || line.contains(GUARD);
        let line = if let Some(at) = line.find(GUARD) { &line[at..] } else { line };
        for name in line.split('`').skip(1).step_by(2).filter(|_| guards) {
            let is_test = name.contains('_') && name.chars().all(is_name);
            if is_test && !functions.contains(name) {
                offences.push(map.offence(number, format!("there is no test {name}")));
            }
        }
    }
    offences
}

/// Pages of the book that its contents leave out.
fn lost_pages(tree: &Tree, contents: &File) -> Vec<Offence> {
    let pages = tree.files.iter().filter_map(|file| Some((file, file.path.strip_prefix("docs/src/")?)));
    pages
        .filter(|(file, page)| file.path != CONTENTS && page.ends_with(".md"))
        .filter(|(_, page)| !contents.text.contains(&format!("]({page})")))
        .map(|(file, _)| file.offence(0, format!("is not in {CONTENTS}")))
        .collect()
}

#[test]
fn what_is_not_there_is_found() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let tree = Tree {
        files: vec![
            file("a/src/x.rs", "//! X.\nasync fn it_holds() {}\n"),
            file("docs/src/one.md", "[a](two.md#b) [c](../../a/src/x.rs) [d](https://e.f) [g](three.md)"),
            file("docs/src/two.md", ""),
        ],
    };
    assert_eq!(dead_links(&tree, tree.file("docs/src/one.md")).len(), 1);
    let map = file("M", "`a/src/x.rs` `a/` `b/y.rs`\nGuarded by: `it_holds`,\n`it_breaks`.\n\n`no_guard`");
    assert_eq!(dead_places(&tree, &map), [map.offence(1, "there is no b/y.rs")]);
    assert_eq!(dead_guards(&tree, &map), [map.offence(3, "there is no test it_breaks")]);
    assert_eq!(lost_pages(&tree, &file("docs/src/SUMMARY.md", "[One](one.md)")).len(), 1);
}
