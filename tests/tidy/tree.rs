//! The files in git, as they are on the disk now.

use std::fmt;
use std::path::Path;
use std::process::Command;

/// All text files in git.
pub struct Tree {
    pub files: Vec<File>,
}

/// One of them.
pub struct File {
    /// From the root of the repository.
    pub path: String,
    pub text: String,
}

/// A rule broken at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offence {
    pub path: String,
    /// From 1; 0 is the file as a whole.
    pub line: usize,
    /// What is wrong, and what to do.
    pub fault: String,
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}:{}: {}", self.path, self.line, self.fault)
    }
}

impl Tree {
    /// Reads them. Files that git knows and that are not there, as in the middle of a move, and binary ones are left out.
    pub fn of_git() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // The tests may run as another user than the one who cloned.
        let listed = Command::new("git")
            .args(["-c", "safe.directory=*", "ls-files", "-z"])
            .current_dir(root)
            .output()
            .expect("this test asks git which files there are: apt-get install git");
        assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
        let paths = String::from_utf8(listed.stdout).unwrap();
        let read = |path: &str| {
            Some(File { path: path.to_owned(), text: std::fs::read_to_string(root.join(path)).ok()? })
        };
        Self { files: paths.split_terminator('\0').filter_map(read).collect() }
    }

    /// One that must be there.
    pub fn file(&self, path: &str) -> &File {
        let found = self.files.iter().find(|file| file.path == path);
        found.unwrap_or_else(|| panic!("{path} is not in git"))
    }

    /// Rust sources below one of these folders.
    pub fn rust<'a>(&'a self, folders: &'a [&str]) -> impl Iterator<Item = &'a File> {
        let within = |file: &&File| folders.iter().any(|folder| file.path.starts_with(folder));
        self.files.iter().filter(|file| file.path.ends_with(".rs")).filter(within)
    }

    /// Whether a file or folder is in git.
    pub fn holds(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }
}

impl File {
    /// An offence in it.
    pub fn offence(&self, line: usize, fault: impl Into<String>) -> Offence {
        Offence { path: self.path.clone(), line, fault: fault.into() }
    }

    /// Its lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Its lines that are not comments.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Whether `text` holds `word` and not as a part of a longer one.
pub fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let goes_on = word.ends_with(part) && text[at + word.len()..].starts_with(part);
        !text[..at].ends_with(part) && !goes_on
    })
}

#[test]
fn words_are_whole() {
    assert!(has_word("use diesel::prelude", "diesel"));
    assert!(!has_word("cooperage_schema::x", "schema"));
    assert!(!has_word("mktemp XXXXXX", concat!("XX", "X")));
    assert!(has_word("x = to\u{64}o!(1)", concat!("to", "do!")));
}
