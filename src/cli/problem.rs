//! What a server says when it refuses (`application/problem+json`), for people.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A refusal.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong.
    pub detail: String,
    /// The field at fault.
    pub field: Option<String>,
    /// Its value.
    pub value: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Every reason why there is no layout.
    pub reasons: Vec<String>,
    /// Provider fields that are missing: alternatives, each a map from field to its description.
    pub missing_fields: Vec<Map<String, Value>>,
}

impl Problem {
    /// Reads a body; what is no problem becomes the detail of one.
    #[must_use]
    pub fn read(status: u16, body: &str) -> Self {
        let parsed: Option<Self> = serde_json::from_str(body).ok();
        match parsed.filter(|problem| !problem.detail.is_empty()) {
            Some(problem) => Self { status, ..problem },
            None => {
                let text: String = body.trim().chars().take(300).collect();
                let detail = if text.is_empty() { "the server gave no reason".to_owned() } else { text };
                Self { status, detail, ..Self::default() }
            }
        }
    }
}

impl fmt::Display for Problem {
    /// The detail; then what it does not say yet: field, value, reasons, missing fields; then the remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reasons.as_slice() {
            [] => f.write_str(&self.detail)?,
            [reason] => write!(f, "there is no layout: {reason}")?,
            reasons => {
                write!(f, "there is no layout, for {} reasons:", reasons.len())?;
                reasons.iter().try_for_each(|reason| write!(f, "\n  - {reason}"))?;
            }
        }
        let said = |text: &str| self.detail.contains(text);
        if let Some(field) = self.field.as_deref().filter(|field| !said(field)) {
            write!(f, "\n  field: {field}")?;
        }
        if let Some(value) = self.value.as_deref().filter(|value| !said(value)) {
            write!(f, "\n  value: {value:?}")?;
        }
        for (index, fields) in self.missing_fields.iter().enumerate() {
            write!(f, "\n  {}", if index == 0 { "missing:" } else { "or:" })?;
            fields.iter().try_for_each(|(name, about)| write!(f, "\n    {}", missing_field(name, about)))?;
        }
        match self.remedy.as_deref().filter(|_| self.reasons.is_empty()) {
            Some(remedy) => write!(f, "\n  remedy: {remedy}"),
            None => Ok(()),
        }
    }
}

/// `ssh_key: Key (select: a, b); what the tip says`.
fn missing_field(name: &str, about: &Value) -> String {
    let text = |key: &str| about.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let options: Vec<&str> =
        about["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let label = text("label").map(|label| format!(": {label}")).unwrap_or_default();
    let choice = if options.is_empty() { String::new() } else { format!(" (one of {})", options.join(", ")) };
    let tip = text("tip").map(|tip| format!("; {tip}")).unwrap_or_default();
    format!("--provider-field {name}=…{label}{choice}{tip}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_told_without_saying_anything_twice() {
        let cases = [
            (
                r#"{"status":404,"title":"Not Found","detail":"cluster 7 was not found"}"#,
                "cluster 7 was not found",
            ),
            (
                r#"{"detail":"numMachines: \"0\" is too small","field":"numMachines","value":"0","remedy":"use 1 or more"}"#,
                "numMachines: \"0\" is too small\n  remedy: use 1 or more",
            ),
            (r#"{"detail":"wrong","field":"a.b","value":"x y"}"#, "wrong\n  field: a.b\n  value: \"x y\""),
            (
                r#"{"detail":"no layout","reasons":["redis needs a node; use 3 machines"],"remedy":"use 3 machines"}"#,
                "there is no layout: redis needs a node; use 3 machines",
            ),
            (
                r#"{"detail":"no layout","reasons":["a; do b","c; do d"],"remedy":"do b"}"#,
                "there is no layout, for 2 reasons:\n  - a; do b\n  - c; do d",
            ),
            (
                r#"{"detail":"fields are missing","missingFields":[{"key":{"label":"Key","options":["a","b"],"tip":"see the console"}},{"password":{}}],"remedy":"give them"}"#,
                "fields are missing\n  missing:\n    --provider-field key=…: Key (one of a, b); see the console\n  or:\n    --provider-field password=…\n  remedy: give them",
            ),
            ("<html>Bad gateway</html>", "<html>Bad gateway</html>"),
            ("", "the server gave no reason"),
        ];
        for (body, expected) in cases {
            assert_eq!(Problem::read(400, body).to_string(), expected, "{body}");
        }
    }
}
