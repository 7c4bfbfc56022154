//! Prints the book: `docs/src` (as mdBook has it: `SUMMARY.md`, pages in Markdown, `{{#include}}`) becomes the pages that the
//! server carries and serves at `/docs`.
//!
//! Why not mdBook itself: its pages need scripts and styles inside the page, and text that becomes markup in the browser, which
//! the policy of our pages forbids. What is written stays mdBook's, so `mdbook build docs` works as well.
//!
//! | module | does |
//! |---|---|
//! | [`contents`] | reads the order of the chapters |
//! | [`chapter`] | one page from Markdown to HTML, with what it points at and what can be pointed at |
//! | [`links`] | every link leads somewhere |
//! | [`frame`] | what stands around each page |
//! | [`search`] | what is looked through in the browser |
//!
//! Everything is found out before anything is written: a book with a fault is not printed.

pub mod chapter;
pub mod contents;
pub mod frame;
pub mod links;
pub mod search;

use std::fmt;
use std::path::Path;

use chapter::Chapter;
use contents::Contents;

/// Where the server has the book.
pub const ROOT: &str = "/docs";

/// A file of the printed book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Its path below the book's root, such as `reference/cli.html`.
    pub path: String,
    /// Its content.
    pub content: String,
}

/// Why the book cannot be printed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The page, below `docs/src`.
    pub page: String,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "docs/src/{}: {}", self.page, self.what)
    }
}

impl Fault {
    /// A fault on a page.
    pub fn on(page: &str, what: impl Into<String>) -> Self {
        Self { page: page.to_owned(), what: what.into() }
    }
}

/// The files that every page uses.
const THEME: [(&str, &str); 4] = [
    ("book.css", include_str!("../theme/book.css")),
    ("book.js", include_str!("../theme/book.js")),
    ("before-paint.js", include_str!("../theme/before-paint.js")),
    ("icon.svg", include_str!("../../../web/public/icon.svg")),
];

/// Prints the book whose pages are in a folder.
///
/// # Errors
/// All faults of all pages: files that are not there, links that lead nowhere, markup that pages must not have.
pub fn print(source: &Path) -> Result<Vec<Leaf>, Vec<Fault>> {
    let contents = Contents::read(source).map_err(|fault| vec![fault])?;
    let mut faults = Vec::new();
    let mut chapters: Vec<Chapter> = Vec::new();
    for entry in contents.entries() {
        match Chapter::read(source, entry) {
            Ok(chapter) => chapters.push(chapter),
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() {
        faults = links::dead(&chapters);
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut leaves: Vec<Leaf> = THEME
        .into_iter()
        .map(|(path, content)| Leaf { path: path.to_owned(), content: content.to_owned() })
        .collect();
    leaves.push(Leaf { path: "search.json".to_owned(), content: search::index(&chapters) });
    for (number, chapter) in chapters.iter().enumerate() {
        let before = number.checked_sub(1).and_then(|before| chapters.get(before));
        let content = frame::page(&contents, chapter, before, chapters.get(number + 1));
        leaves.push(Leaf { path: format!("{}.html", chapter.name), content });
    }
    Ok(leaves)
}

/// Text as it stands in HTML, between tags or in an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn source() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")
    }

    #[test]
    fn the_book_has_no_dead_link_and_each_page_is_printed() {
        let leaves = match print(&source()) {
            Ok(leaves) => leaves,
            Err(faults) => {
                panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
        };
        let page = |name: &str| &leaves.iter().find(|leaf| leaf.path == name).unwrap().content;
        assert!(page("introduction.html").contains("<h1"));
        assert!(page("search.json").contains("first-cluster"));
    }

    #[test]
    fn no_page_has_anything_that_the_policy_forbids() {
        for leaf in print(&source()).unwrap() {
            if !leaf.path.ends_with(".html") {
                continue;
            }
            for forbidden in ["<style", " style=", "<script>", " onclick=", "src=\"http", "<iframe"] {
                assert!(!leaf.content.contains(forbidden), "{}: {forbidden}", leaf.path);
            }
        }
    }

    #[test]
    fn faults_of_all_pages_are_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("SUMMARY.md", "# Summary\n\n[One](one.md)\n\n# Part\n\n- [Two](two.md)\n");
        write("one.md", "# One\n\n## A part\n\n[two](two.md#there) [gone](three.md) [here](#a-part)\n");
        write("two.md", "# Two\n\n[one](one.md#nowhere) [file](../x.toml)\n");
        let told: Vec<String> = print(folder.path()).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 4, "{told:?}");
        write("one.md", "# One\n\n<script>alert(1)</script>\n");
        write("two.md", "# Two\n\n{{#include gone.sh}}\n");
        let told = print(folder.path()).unwrap_err();
        assert_eq!(told.iter().map(|fault| fault.page.as_str()).collect::<Vec<_>>(), ["one.md", "two.md"]);
    }
}
