//! What is looked through in the browser: a row for each section.

use serde_json::json;

use crate::chapter::Chapter;

/// Rows of `[address below the book, chapter, heading, text]`.
pub fn index(chapters: &[Chapter]) -> String {
    let rows: Vec<_> = chapters
        .iter()
        .flat_map(|chapter| {
            chapter.sections.iter().map(move |section| {
                let address = match section.anchor.as_str() {
                    "" => chapter.name.clone(),
                    anchor => format!("{}#{anchor}", chapter.name),
                };
                json!([address, chapter.title, section.heading, section.text.trim()])
            })
        })
        .collect();
    json!(rows).to_string()
}
