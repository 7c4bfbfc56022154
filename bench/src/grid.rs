//! Rows of what was measured, for people.

/// Rows under headings.
#[derive(Debug, Clone)]
pub struct Grid {
    /// What stands above each column.
    pub headings: Vec<&'static str>,
    /// As many cells as headings.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// Rows that have as many cells as there are headings.
    #[must_use]
    pub fn new<const N: usize>(headings: [&'static str; N], rows: impl Iterator<Item = [String; N]>) -> Self {
        Self { headings: headings.into(), rows: rows.map(Vec::from).collect() }
    }
}
