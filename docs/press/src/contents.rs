//! The order of the chapters, from `SUMMARY.md`: parts are headings, chapters are links, deeper ones are indented.

use std::path::Path;

use crate::Fault;

const FILE: &str = "SUMMARY.md";

/// What the book has, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Its parts; the first has no title when chapters stand before all parts.
    pub parts: Vec<Part>,
}

/// Chapters under one heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The heading; empty for what stands before all parts.
    pub title: String,
    /// Its chapters.
    pub entries: Vec<Entry>,
}

/// A chapter, as the contents name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What the contents call it.
    pub title: String,
    /// Its file, below the folder of the book's source.
    pub path: String,
    /// How deep it stands, from 0.
    pub depth: usize,
}

impl Contents {
    /// Reads them.
    ///
    /// # Errors
    /// When the file cannot be read, or names no chapter.
    pub fn read(source: &Path) -> Result<Self, Fault> {
        let text = std::fs::read_to_string(source.join(FILE))
            .map_err(|fault| Fault::on(FILE, format!("cannot be read: {fault}")))?;
        let contents = Self::parse(&text);
        if contents.entries().next().is_none() {
            return Err(Fault::on(FILE, "names no chapter"));
        }
        Ok(contents)
    }

    /// All chapters, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.parts.iter().flat_map(|part| &part.entries)
    }

    fn parse(text: &str) -> Self {
        let mut parts = vec![Part::default()];
        // The first heading is the file's own title.
        let mut titles = 0;
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("# ") {
                titles += 1;
                if titles > 1 {
                    parts.push(Part { title: title.trim().to_owned(), entries: Vec::new() });
                }
            } else if let (Some(entry), Some(part)) = (entry(line), parts.last_mut()) {
                part.entries.push(entry);
            }
        }
        parts.retain(|part| !part.entries.is_empty());
        Self { parts }
    }
}

/// `  - [Title](path.md)`.
fn entry(line: &str) -> Option<Entry> {
    let indent = line.len() - line.trim_start().len();
    let (title, rest) = line.trim_start().trim_start_matches("- ").strip_prefix('[')?.split_once("](")?;
    let path = rest.strip_suffix(')')?;
    Some(Entry { title: title.to_owned(), path: path.to_owned(), depth: indent / 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_depths_are_read() {
        let text = "# Summary\n\n[In](in.md)\n\n# Use\n\n- [A](a.md)\n  - [B](b/c.md)\n";
        let contents = Contents::parse(text);
        let seen: Vec<_> = contents
            .parts
            .iter()
            .flat_map(|part| {
                part.entries.iter().map(|one| (part.title.as_str(), one.path.as_str(), one.depth))
            })
            .collect();
        assert_eq!(seen, [("", "in.md", 0), ("Use", "a.md", 0), ("Use", "b/c.md", 1)]);
    }
}
