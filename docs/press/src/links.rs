//! Every link leads somewhere: to a chapter that the contents name, to a place that it has, or to a path of the server itself.

use crate::Fault;
use crate::chapter::Chapter;

/// Where a link of a chapter leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Outside of the book: another site, or a path of the server.
    Outside(String),
    /// A chapter by its file (from the book's root), and a place in it.
    Inside {
        /// The file, below the book's source.
        path: String,
        /// The place; empty for the beginning.
        anchor: String,
    },
}

impl Target {
    /// Reads a link as it stands in a chapter.
    pub fn of(chapter: &str, link: &str) -> Self {
        if link.contains("://") || link.starts_with("mailto:") || link.starts_with('/') {
            return Self::Outside(link.to_owned());
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = if path.is_empty() { chapter.to_owned() } else { joined(chapter, path) };
        Self::Inside { path, anchor: anchor.to_owned() }
    }
}

/// A path, from the folder of a file.
pub fn joined(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Links that lead nowhere.
pub fn dead(chapters: &[Chapter]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for chapter in chapters {
        for target in &chapter.links {
            let Target::Inside { path, anchor } = target else { continue };
            let fault = match chapters.iter().find(|one| one.path == *path) {
                None => format!("the link to {path} leads to no chapter: name it in SUMMARY.md"),
                Some(there) if !anchor.is_empty() && !there.headings.iter().any(|one| one.id == *anchor) => {
                    format!("the link to {path}#{anchor} leads to no heading there")
                }
                Some(_) => continue,
            };
            faults.push(Fault::on(&chapter.path, fault));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_from_where_they_stand() {
        let inside = |path: &str, anchor: &str| Target::Inside { path: path.into(), anchor: anchor.into() };
        for (chapter, link, target) in [
            ("a.md", "b.md#c", inside("b.md", "c")),
            ("a.md", "#c", inside("a.md", "c")),
            ("r/a.md", "../b.md", inside("b.md", "")),
            ("r/a.md", "b.md", inside("r/b.md", "")),
            ("a.md", "../../etc/x", inside("../../etc/x", "")),
            ("a.md", "/v2/openapi", Target::Outside("/v2/openapi".into())),
            ("a.md", "https://a.b/c#d", Target::Outside("https://a.b/c#d".into())),
        ] {
            assert_eq!(Target::of(chapter, link), target, "{chapter} {link}");
        }
    }
}
