//! What is different in a value, line by line of its YAML, whatever the order of its keys.

use console::style;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::yaml;

/// Unchanged lines shown around a changed one.
const CONTEXT: usize = 2;

/// What becomes of a thing that may not have been there before.
#[must_use]
pub fn of_entity(before: Option<&Value>, after: &Value) -> Vec<String> {
    let before = before.map(|before| yaml::render(&sorted(before))).unwrap_or_default();
    difference(&before, &yaml::render(&sorted(after)))
}

/// What is different between two values; nothing when they are the same.
#[must_use]
pub fn of_values(before: &Value, after: &Value) -> Vec<String> {
    of_entity(Some(before), after)
}

/// Keys in order, whatever order the server and the file have them in.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> =
                fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        plain => plain.clone(),
    }
}

/// Changed lines with those around them; `…` where lines are left out.
fn difference(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push(style("…").dim().to_string());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value().trim_end_matches('\n');
            lines.push(match change.tag() {
                ChangeTag::Delete => style(format!("- {line}")).red().to_string(),
                ChangeTag::Insert => style(format!("+ {line}")).green().to_string(),
                ChangeTag::Equal => style(format!("  {line}")).dim().to_string(),
            });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_changed_is_told_with_the_lines_around_it() {
        let before = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5});
        assert!(of_values(&before, &json!({"e": 5, "d": 4, "c": 3, "b": 2, "a": 1})).is_empty());
        let lines = of_values(&before, &json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 6}));
        let lines: Vec<String> = lines.iter().map(|l| console::strip_ansi_codes(l).into_owned()).collect();
        assert_eq!(lines, ["  c: 3", "  d: 4", "- e: 5", "+ e: 6"]);
    }
}
