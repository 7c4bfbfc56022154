//! Tables for people: columns under headings, aligned, without lines, so that they can be searched and cut.

use console::{measure_text_width, style};

/// A table under construction.
pub struct Table {
    rows: Vec<Vec<String>>,
    is_wide: bool,
}

impl Table {
    /// With these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self::wide(false, headings, [])
    }

    /// With these headings, and `more` where there is room for everything.
    pub fn wide<const N: usize, const M: usize>(is_wide: bool, headings: [&str; N], more: [&str; M]) -> Self {
        let headings = headings.iter().chain(more.iter().filter(|_| is_wide));
        Self { rows: vec![headings.map(|heading| style(heading).bold().to_string()).collect()], is_wide }
    }

    /// These rows under these headings.
    pub fn of(headings: &[&str], rows: Vec<Vec<String>>) -> Self {
        let mut table = Self::wide(false, [], []);
        table.rows[0] = headings.iter().map(|heading| style(heading).bold().to_string()).collect();
        table.rows.extend(rows.into_iter().map(|cells| cells.into_iter().map(shown).collect()));
        table
    }

    /// Adds a row; an empty cell is shown as `-`.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.wide_row(cells, []);
    }

    /// Adds a row with the cells of all columns.
    pub fn wide_row<const N: usize, const M: usize>(&mut self, cells: [String; N], more: [String; M]) {
        let is_wide = self.is_wide;
        let cells = cells.into_iter().chain(more.into_iter().filter(|_| is_wide));
        self.rows.push(cells.map(shown).collect());
    }

    /// As text; `nothing` when there is no row.
    #[must_use]
    pub fn render(&self, nothing: &str) -> String {
        if self.rows.len() < 2 {
            return format!("{nothing}\n");
        }
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|c| measure_text_width(c)).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - measure_text_width(cell) + 2));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// An empty cell is shown as `-`.
fn shown(cell: String) -> String {
    if cell.is_empty() { "-".to_owned() } else { cell }
}

/// A status in its colour: what is well is green, what failed is red, what is going on is yellow.
#[must_use]
pub fn status(word: &str) -> String {
    match word {
        "active" | "healthy" | "ready" | "complete" | "done" | "created" => style(word).green().to_string(),
        "down" | "failed" | "incomplete" | "inconsistent" => style(word).red().to_string(),
        "pending" | "working" | "running" | "changed" => style(word).yellow().to_string(),
        _ => style(word).dim().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_columns_are_shown_where_there_is_room() {
        for (is_wide, expected) in [(false, "NAME\nshop\n"), (true, "NAME  OWNER\nshop  ann\n")] {
            let mut table = Table::wide(is_wide, ["NAME"], ["OWNER"]);
            table.wide_row(["shop".to_owned()], ["ann".to_owned()]);
            assert_eq!(console::strip_ansi_codes(&table.render("")), expected);
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["NAME", "STATUS", "NODES"]);
        assert_eq!(table.render("no clusters"), "no clusters\n");
        table.row(["shop".to_owned(), status("active"), "5".to_owned()]);
        table.row(["müller".to_owned(), String::new(), "12".to_owned()]);
        let text = console::strip_ansi_codes(&table.render("")).into_owned();
        assert_eq!(text, "NAME    STATUS  NODES\nshop    active  5\nmüller  -       12\n");
    }
}
