//! Faults in what people wrote, shown where they stand.

use std::fmt;

use super::bundle::Place;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct DocumentFault {
    /// Where it is.
    pub place: Place,
    /// The line it is in, where that is known.
    pub excerpt: Option<String>,
    /// What is wrong.
    pub detail: String,
    /// What to do about it.
    pub remedy: String,
}

/// All faults of what was read; at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct DocumentFaults(pub Vec<DocumentFault>);

impl DocumentFault {
    /// A fault whose line is not shown.
    pub fn new(place: &Place, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.clone(), excerpt: None, detail: detail.into(), remedy: remedy.into() }
    }

    /// With the line of `text` it is in.
    #[must_use]
    pub fn within(mut self, text: &str) -> Self {
        let line = self.place.line.and_then(|line| text.lines().nth(line.saturating_sub(1) as usize));
        self.excerpt = line.map(str::to_owned);
        self
    }
}

/// Longest part of a line that is shown, in characters.
const WIDTH: usize = 100;

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.detail)?;
        if let (Some(excerpt), Some(line)) = (&self.excerpt, self.place.line) {
            let column = self.place.column.unwrap_or(1).max(1) as usize;
            // A very long line (a whole document in one) is shown from a little before the fault.
            let from = if column > WIDTH { column - WIDTH / 2 } else { 0 };
            let shown: String = excerpt.chars().skip(from).take(WIDTH).collect();
            // Tabs stay tabs, so that the caret stands below its character however wide they are shown.
            let blank = |c: char| if c == '\t' { '\t' } else { ' ' };
            let before: String = excerpt.chars().skip(from).take(column - 1 - from).map(blank).collect();
            write!(f, "\n{line:>6} | {shown}\n       | {before}^")?;
        }
        write!(f, "\n  remedy: {}", self.remedy)
    }
}

impl fmt::Display for DocumentFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            write!(f, "{}{fault}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
