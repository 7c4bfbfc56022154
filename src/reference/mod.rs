//! Pages of the book that are made from the code, so that they are never behind it. Each is a golden file in
//! `docs/src/reference/`: `UPDATE_GOLDEN=1 cargo test --bins reference` writes them.

mod command_line;
mod errors;
mod macros;

use crate::cli::golden::assert_golden;

/// The note on each page; it is not printed.
const MADE: &str = "<!-- Made from the code; UPDATE_GOLDEN=1 cargo test writes it. -->\n";

/// Compares a page of the book with what the code says.
fn assert_page(name: &str, text: &str) {
    let (title, rest) = text.split_once('\n').expect("a page has a title and more");
    assert_golden(&format!("docs/src/reference/{name}.md"), &format!("{title}\n\n{MADE}{rest}"));
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").trim().to_owned()
}
