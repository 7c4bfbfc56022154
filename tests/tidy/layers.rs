//! Five floors, each of which uses only those below it.

use crate::tree::{File, Offence, Tree, has_word};

/// What a floor must not know.
struct Floor {
    /// Its folder.
    folder: &'static str,
    /// Crates it must not depend on; with a `*`, all that begin so.
    crates: &'static [&'static str],
    /// Paths its sources must not name.
    paths: &'static [&'static str],
}

const FLOORS: [Floor; 4] = [
    Floor {
        folder: "domain",
        crates: &["actix*", "tokio*", "diesel*", "futures*", "reqwest", "russh*", "slog*", "cooperage-*"],
        paths: &[
            "std::fs",
            "std::net",
            "std::process",
            "std::thread",
            "std::env",
            "std::io",
            concat!("std::time::", "SystemTime"),
            concat!("std::time::", "Instant"),
        ],
    },
    Floor {
        folder: "schema",
        crates: &["actix*", "tokio*", "reqwest", "russh*", "cooperage-plugins", "cooperage-actors"],
        paths: &[],
    },
    Floor {
        folder: "plugins",
        crates: &["actix*", "diesel*", "reqwest", "cooperage-schema", "cooperage-actors"],
        paths: &[],
    },
    Floor { folder: "actors", crates: &["actix-web*", "diesel*", "reqwest", "russh*"], paths: &[] },
];

pub fn offences(tree: &Tree) -> Vec<Offence> {
    FLOORS.iter().flat_map(|floor| floor.offences(tree)).collect()
}

impl Floor {
    fn offences(&self, tree: &Tree) -> Vec<Offence> {
        let mut offences = self.in_manifest(tree.file(&format!("{}/Cargo.toml", self.folder)));
        let sources = format!("{}/src/", self.folder);
        offences.extend(tree.rust(&[&sources]).flat_map(|file| self.in_source(file)));
        offences
    }

    /// Dependencies for tests alone are free.
    fn in_manifest(&self, file: &File) -> Vec<Offence> {
        let mut offences = Vec::new();
        let mut section = "";
        for (number, line) in file.lines() {
            if line.starts_with('[') {
                section = line;
            }
            let name = line.split([' ', '.', '=']).next().unwrap_or_default();
            let counts = section.ends_with("dependencies]") && !section.contains("dev-");
            if counts && self.crates.iter().any(|banned| matches(banned, name)) {
                offences.push(self.offence(file, number, name));
            }
        }
        offences
    }

    fn in_source(&self, file: &File) -> Vec<Offence> {
        let mut offences = Vec::new();
        for (number, line) in file.code() {
            for path in self.paths.iter().filter(|path| has_word(line, path)) {
                offences.push(self.offence(file, number, path));
            }
            for banned in self.crates.iter().filter(|banned| names(line, banned)) {
                offences.push(self.offence(file, number, banned));
            }
        }
        offences
    }

    fn offence(&self, file: &File, line: usize, what: &str) -> Offence {
        let fault =
            format!("{} must not know {what}: do this on a higher floor (see ARCHITECTURE.md)", self.folder);
        file.offence(line, fault)
    }
}

fn matches(banned: &str, name: &str) -> bool {
    match banned.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == banned,
    }
}

/// Whether a line of code names a crate. Its own crate is named with its own name only from outside `src`.
fn names(line: &str, banned: &str) -> bool {
    let name = banned.trim_end_matches('*').replace('-', "_");
    line.match_indices(&name).any(|(at, _)| {
        let free = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let rest = line[at + name.len()..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        let longer = line.len() - at - name.len() > rest.len();
        free && rest.starts_with("::") && (banned.ends_with('*') || !longer)
    })
}

#[test]
fn a_crate_is_found_in_manifests_and_sources() {
    let file = |text: &str| File { path: "x".to_owned(), text: text.to_owned() };
    let [domain, _, _, actors] = &FLOORS;
    let manifest = file("[dependencies]\ntokio.workspace = true\n[dev-dependencies]\ndiesel = \"2\"\n");
    assert_eq!(domain.in_manifest(&manifest).len(), 1);
    for (text, faults) in [
        ("use tokio_util::x;", 1),
        ("let x = ::actix::y;", 0),
        ("let x = actix_web::y;", 1),
        ("use std::fs;", 1),
        ("use std::fsx;", 0),
        ("// use diesel::x;", 0),
        ("mod tokio;", 0),
    ] {
        assert_eq!(domain.in_source(&file(text)).len(), faults, "{text}");
    }
    assert!(actors.in_source(&file("use actix::Addr;")).is_empty());
    assert_eq!(actors.in_source(&file("use actix_web::web;")).len(), 1);
}
