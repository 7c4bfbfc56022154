//! The book's table of routes is this one.

use super::{Operation, Port, all, shown};
use crate::cli::golden::assert_golden;

const PAGE: &str = "docs/src/rest.md";
const BEGIN: &str = "<!-- Made from the table of operations; UPDATE_GOLDEN=1 cargo test writes it. -->\n";
const END: &str = "<!-- End of the table. -->\n";

fn row(operation: &Operation) -> String {
    let who = operation.rule.role.map_or("everybody", |role| role.as_str());
    let query = operation.query.iter().map(|(name, meaning)| format!("; `?{name}=` {meaning}"));
    let query: String = query.collect();
    format!("| `{}` `{}` | {}{query} | {who} |\n", operation.method, shown(operation.path), operation.summary)
}

fn table(port: Port) -> String {
    let rows: String = all().iter().filter(|operation| operation.port == port).map(row).collect();
    format!("{BEGIN}\n| route | does | for |\n|---|---|---|\n{rows}\n{END}")
}

#[test]
fn the_book_holds_the_table() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let mut parts = page.split(BEGIN);
    let mut written = parts.next().unwrap().to_owned();
    for (part, port) in parts.zip([Port::User, Port::Tasks]) {
        let (_, rest) = part.split_once(END).expect("a table has an end");
        written += &(table(port) + rest);
    }
    assert_eq!(written.matches(BEGIN).count(), 2, "one table for each port");
    assert_golden(PAGE, &written);
}
