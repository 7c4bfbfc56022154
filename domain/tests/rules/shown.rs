//! Comparing a document with the part of it that a case shows.

use serde_json::Value;

/// Where `found` differs from `expected`, if it does: objects are compared by the keys expected, lists as sets, and
/// everything below `defaults.config` exactly.
pub fn difference(found: &Value, expected: &Value) -> Option<String> {
    at("", found, expected)
}

fn at(path: &str, found: &Value, expected: &Value) -> Option<String> {
    let holds = match (found, expected) {
        _ if path == ".defaults.config" => found == expected,
        (Value::Object(found), Value::Object(expected)) => {
            return expected.iter().find_map(|(key, expected)| {
                at(&format!("{path}.{key}"), found.get(key).unwrap_or(&Value::Null), expected)
            });
        }
        (Value::Array(found), Value::Array(expected)) => same_set(found, expected),
        _ => found == expected,
    };
    (!holds).then(|| format!("{path}: expected {expected}, got {found}"))
}

fn same_set(found: &[Value], expected: &[Value]) -> bool {
    let same = |a: &Value, b: &Value| match (a, b) {
        (Value::Array(a), Value::Array(b)) => same_set(a, b),
        _ => a == b,
    };
    let within = |some: &[Value], all: &[Value]| some.iter().all(|a| all.iter().any(|b| same(a, b)));
    found.len() == expected.len() && within(found, expected) && within(expected, found)
}
