//! Sizes, names and words of sources.

use crate::tree::{File, Offence, Tree, has_word};

/// A room that cannot be overlooked is two.
const LONGEST_FILE: usize = 500;

/// Names that say nothing of what is in a file.
const EMPTY_NAMES: [&str; 9] =
    ["util", "utils", "helper", "helpers", "common", "manager", "misc", "shared", "stuff"];

/// Loose ends. Cut in two, since this file is read as well.
const LOOSE_ENDS: [&str; 5] = [
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
    concat!("db", "g!"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

/// Paths that only exist on the machine where something was written, and where its material lay.
const FOREIGN_PLACES: [&str; 6] = [
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/root/", ".cargo"),
    concat!("/tmp/", "wt"),
    concat!("/tmp/", "target"),
    concat!("shared/", "spec"),
];

/// The one file that reads the wall clock.
const CLOCK: &str = "actors/src/clock.rs";
/// What runs on simulated time asks its clock, or is told the time.
const TIMELESS: [&str; 3] = ["domain/", "schema/src/", "actors/src/"];

pub fn offences(tree: &Tree) -> Vec<Offence> {
    let mut offences: Vec<Offence> = tree.files.iter().flat_map(of_any).collect();
    for file in tree.rust(&[""]) {
        offences.extend(of_rust(file));
    }
    offences
}

fn of_any(file: &File) -> Vec<Offence> {
    let mut offences = Vec::new();
    if file.path == "Cargo.lock" || file.path == "LICENSE" {
        return offences;
    }
    for (number, line) in file.lines() {
        for word in LOOSE_ENDS.iter().filter(|word| has_word(line, word)) {
            offences.push(file.offence(number, format!("{word}: finish it, or say in words what is left")));
        }
        for place in FOREIGN_PLACES.iter().filter(|place| line.contains(**place)) {
            let fault = format!("{place}: a path that others do not have; say what it is instead");
            offences.push(file.offence(number, fault));
        }
    }
    offences
}

fn of_rust(file: &File) -> Vec<Offence> {
    let mut offences = Vec::new();
    let lines = file.lines().count();
    if lines > LONGEST_FILE {
        let fault = format!("{lines} lines, {LONGEST_FILE} are allowed: split it along its meaning");
        offences.push(file.offence(0, fault));
    }
    if !file.text.starts_with("//!") {
        offences.push(file.offence(1, "begins without `//!`: say what the file is for"));
    }
    let stem = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    if EMPTY_NAMES.contains(&stem) {
        let fault = format!("{stem} says nothing: name the file after the one thing in it");
        offences.push(file.offence(0, fault));
    }
    let timeless = TIMELESS.iter().any(|folder| file.path.starts_with(folder));
    for (number, line) in file.code() {
        let wall = line.contains(concat!("SystemTime::", "now"));
        let stopwatch = timeless && line.contains(concat!("Instant::", "now"));
        if (wall || stopwatch) && file.path != CLOCK {
            let fault = format!("reads a clock: take the time as an argument, or ask {CLOCK}");
            offences.push(file.offence(number, fault));
        }
    }
    offences
}

#[test]
fn every_rule_bites() {
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let long = format!("//! Long.\n{}", "\n".repeat(LONGEST_FILE));
    for (path, text) in [
        ("domain/src/a.rs", long.as_str()),
        ("domain/src/a.rs", "fn a() {}"),
        ("src/utils.rs", "//! Any."),
        ("src/a.rs", concat!("//! A.\nlet t = SystemTime::", "now();")),
        ("domain/src/a.rs", concat!("//! A.\nlet t = Instant::", "now();")),
    ] {
        assert_eq!(of_rust(&file(path, text)).len(), 1, "{path}: {text}");
    }
    assert!(of_rust(&file("plugins/src/a.rs", concat!("//! A.\nlet t = Instant::", "now();"))).is_empty());
    assert!(of_rust(&file(CLOCK, concat!("//! A.\nlet t = SystemTime::", "now();"))).is_empty());
    assert_eq!(of_any(&file("etc/a.sh", concat!("cd /wo", "rk/main # FIX", "ME"))).len(), 2);
}
