//! Which paths an archive may have, and where its links may lead. Pure decisions.
//!
//! Every folder on the way to an entry is a real one, never a link. So a link's own folder is as deep as its path says, and
//! one whose leading `..` are no more than that, and which has no other `..`, cannot lead out, whatever it leads through.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Longest path, in bytes.
const MAX_LENGTH: usize = 512;
/// Most folders in each other.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    Folder,
    File,
    /// A symbolic link.
    Link,
    /// A hard link.
    SameAs,
}

/// The paths of an archive so far.
pub(super) struct Paths {
    known: BTreeMap<PathBuf, PathKind>,
    limit: u64,
}

impl Paths {
    pub(super) const fn new(limit: u64) -> Self {
        Self { known: BTreeMap::new(), limit }
    }

    pub(super) fn count(&self) -> u64 {
        self.known.len() as u64
    }

    /// One more path; gives where a link leads: what stands in a symbolic one, the file that another one names.
    ///
    /// # Errors
    /// What is wrong; continues the sentence "entry ENTRY ...".
    pub(super) fn add(&mut self, path: &Path, kind: PathKind, link: &[u8]) -> Result<PathBuf, String> {
        let parents: Vec<&Path> =
            path.ancestors().skip(1).filter(|parent| *parent != Path::new("")).collect();
        for parent in &parents {
            if self.known.get(*parent).is_some_and(|kind| *kind != PathKind::Folder) {
                return Err(format!("lies in {}, which is no folder", parent.display()));
            }
        }
        let aim = match kind {
            PathKind::Folder | PathKind::File => PathBuf::new(),
            PathKind::Link => aim(link, parents.len())?,
            PathKind::SameAs => self.same(link)?,
        };
        if path != Path::new("") {
            let known = self.known.get(path);
            if known.is_some_and(|known| (*known, kind) != (PathKind::Folder, PathKind::Folder)) {
                return Err("is in it twice".to_owned());
            }
            self.known.insert(path.to_owned(), kind);
        }
        for parent in parents {
            self.known.entry(parent.to_owned()).or_insert(PathKind::Folder);
        }
        if self.count() > self.limit {
            return Err(format!("is one too many: {} are allowed", self.limit));
        }
        Ok(aim)
    }

    fn same(&self, link: &[u8]) -> Result<PathBuf, String> {
        let aim = relative(link).map_err(|fault| format!("is a link to what {fault}"))?;
        match self.known.get(&aim) {
            Some(PathKind::File | PathKind::SameAs) => Ok(aim),
            _ => Err(format!("is a hard link to {}, which is no file before it", aim.display())),
        }
    }
}

/// A path below the root, from its bytes.
///
/// # Errors
/// What is wrong; continues the sentence "entry ENTRY ...".
pub(super) fn relative(bytes: &[u8]) -> Result<PathBuf, String> {
    let text = text(bytes)?;
    if text.starts_with('/') {
        return Err("is absolute".to_owned());
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err("leads out of its folder with '..'".to_owned());
    }
    if parts.len() > MAX_DEPTH {
        return Err(format!("lies in more than {MAX_DEPTH} folders"));
    }
    Ok(parts.iter().collect())
}

/// What may stand in a symbolic link that lies in so many folders.
fn aim(link: &[u8], depth: usize) -> Result<PathBuf, String> {
    let text = text(link).map_err(|fault| format!("is a link to what {fault}"))?;
    let leaves = || format!("is a link to {text:?}, which may lead out of its folder");
    if text.is_empty() || text.starts_with('/') {
        return Err(leaves());
    }
    let parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
    let ups = parts.clone().take_while(|part| *part == "..").count();
    if ups > depth || parts.skip(ups).any(|part| part == "..") {
        return Err(leaves());
    }
    Ok(PathBuf::from(text))
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    if bytes.len() > MAX_LENGTH {
        return Err(format!("is longer than {MAX_LENGTH} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    if text.contains('\0') { Err("holds a NUL".to_owned()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_in_their_folder() {
        for (link, depth, good) in [
            ("b", 0, true),
            ("../b", 1, true),
            ("./../../b/c", 2, true),
            ("..", 0, false),
            ("../../b", 1, false),
            ("b/..", 1, false),
            ("b/../../..", 1, false),
            ("/etc/passwd", 1, false),
            ("", 1, false),
        ] {
            assert_eq!(aim(link.as_bytes(), depth).is_ok(), good, "{link} {depth}");
        }
    }

    #[test]
    fn paths_are_relative_and_have_one_meaning() {
        assert_eq!(relative(b"./a//b/").unwrap(), Path::new("a/b"));
        assert_eq!(relative(b"./").unwrap(), Path::new(""));
        let deep = "a/".repeat(MAX_DEPTH + 1);
        for path in ["/a", "a/../b", "..", "a\0b", deep.as_str()] {
            assert!(relative(path.as_bytes()).is_err(), "{path}");
        }
        assert!(relative(&[0xff]).is_err());
    }

    #[test]
    fn nothing_lies_below_a_link_or_comes_twice() {
        let mut paths = Paths::new(6);
        let mut add = |path: &str, kind, link: &str| paths.add(Path::new(path), kind, link.as_bytes());
        add("d/f", PathKind::File, "").unwrap();
        add("d", PathKind::Folder, "").unwrap();
        add("l", PathKind::Link, "d").unwrap();
        assert!(add("l/x", PathKind::File, "").is_err());
        assert!(add("d/f/x", PathKind::File, "").is_err());
        assert!(add("d/f", PathKind::File, "").is_err());
        assert!(add("d", PathKind::Link, "l").is_err());
        assert_eq!(add("h", PathKind::SameAs, "./d/f").unwrap(), Path::new("d/f"));
        for aim in ["l", "later", "../x", "/etc/passwd"] {
            assert!(add("h2", PathKind::SameAs, aim).is_err(), "{aim}");
        }
        assert!(add("a/b/c", PathKind::File, "").unwrap_err().contains("too many"));
    }
}
