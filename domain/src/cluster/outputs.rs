//! What services give: whether it keeps the schema that was declared for it, and how secret ones are kept out of sight.
//!
//! A secret output never reaches a cluster's journal. A *token* stands there in its place: a hash of the value under a key
//! that only the cluster's sealed secrets hold. So it is noticed when the value changes, and the value is found again
//! for those who take it.

use std::collections::{BTreeMap, BTreeSet};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Map, Value, json};
use sha2::Sha256;

use super::state::Cluster;
use crate::entity::Service;
use crate::error_kind::ErrorKind;
use crate::secret_fields::MASK;
use crate::task::TaskReport;

/// Under this name a token is an object with nothing else.
const TOKEN: &str = "$sealed";

/// The report, or a failure in its place when it gives a value that breaks the schema of an output. That fails again until
/// somebody corrects the service or its script, so it is permanent. What was printed is kept.
#[must_use]
pub fn checked(service: &Service, report: TaskReport) -> TaskReport {
    let faults = broken(service, &report.result);
    if !report.succeeded() || faults.is_empty() {
        return report;
    }
    let printed = (!report.stderr.is_empty()).then(|| report.stderr.clone());
    let stderr = printed.into_iter().chain(faults).collect::<Vec<_>>().join("\n");
    let result = Map::new();
    TaskReport { status: 1, error_kind: Some(ErrorKind::Permanent), stderr, result, ..report }
}

/// A line for every output of a service that breaks its schema: output, place in the value and rule, and the value where it
/// is no secret.
fn broken(service: &Service, result: &Map<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    for output in &service.outputs {
        let (Some(schema), Some(value)) = (&output.schema, result.get(output.reported())) else { continue };
        if output.sensitive && is_token(value) {
            // It was looked at before it was sealed.
            continue;
        }
        let faults = match jsonschema::validator_for(schema) {
            Ok(validator) => {
                validator.iter_errors(value).map(|fault| told(&fault, output.sensitive)).collect()
            }
            Err(fault) => vec![format!("its schema cannot be used: {}", fault.masked())],
        };
        let at = format!(
            "output {} of service {} (reported as {})",
            output.name,
            service.name(),
            output.reported()
        );
        lines.extend(faults.into_iter().map(|fault: String| format!("{at}: {fault}")));
    }
    lines
}

/// Where in the value which rule is broken.
fn told(fault: &jsonschema::ValidationError<'_>, sensitive: bool) -> String {
    let place = fault.instance_path().to_string();
    let place = if place.is_empty() { "the value".to_owned() } else { format!("the value at {place}") };
    let rule = fault.schema_path();
    if sensitive {
        // Names of properties that are too many or not allowed are part of the value as well.
        return format!("{place} breaks the rule {rule} (the value is a secret)");
    }
    format!("{place} breaks the rule {rule}: {fault}")
}

/// Whether a schema can be used, and a default keeps it.
///
/// # Errors
/// In words, what is wrong: of the schema, or of the default.
pub(crate) fn check_schema(schema: &Value, default: Option<&Value>) -> Result<(), (&'static str, String)> {
    let validator = jsonschema::validator_for(schema).map_err(|fault| ("schema", fault.to_string()))?;
    let Some(default) = default else { return Ok(()) };
    let fault = validator.iter_errors(default).next();
    fault.map_or(Ok(()), |fault| Err(("default", told(&fault, false))))
}

/// The secret outputs in what a service's task reports, by the name they are reported under.
#[must_use]
pub fn secret_outputs(service: &Service, result: &Map<String, Value>) -> BTreeMap<String, Value> {
    let secret = service.outputs.iter().filter(|output| output.sensitive);
    let found = secret
        .filter_map(|output| Some((output.reported().to_owned(), result.get(output.reported())?.clone())));
    found.collect()
}

/// The hash that stands for a secret value under a key.
#[must_use]
pub fn token_hash(key: &str, value: &Value) -> String {
    // A key of any length is one: such a hash is made under every key.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    mac.update(value.to_string().as_bytes());
    mac.finalize().into_bytes().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// What stands in place of a secret value.
#[must_use]
pub fn token(hash: &str) -> Value {
    json!({ TOKEN: hash })
}

fn hash_of(value: &Value) -> Option<&str> {
    let entries = value.as_object().filter(|entries| entries.len() == 1)?;
    entries.get(TOKEN)?.as_str()
}

fn is_token(value: &Value) -> bool {
    hash_of(value).is_some()
}

/// Adds the hash of every token in a value.
pub fn tokens(value: &Value, found: &mut BTreeSet<String>) {
    if let Some(hash) = hash_of(value) {
        found.insert(hash.to_owned());
        return;
    }
    match value {
        Value::Object(entries) => entries.values().for_each(|value| tokens(value, found)),
        Value::Array(items) => items.iter().for_each(|value| tokens(value, found)),
        _ => {}
    }
}

/// The hashes of the tokens that a cluster holds.
#[must_use]
pub fn in_use(cluster: &Cluster) -> BTreeSet<String> {
    let mut hashes = BTreeSet::new();
    for value in cluster.nodes.values().flat_map(|node| node.results.values()) {
        tokens(value, &mut hashes);
    }
    hashes
}

/// Puts other values in place of tokens.
pub fn replace_tokens(value: &mut Value, with: &impl Fn(&str) -> Option<Value>) {
    if let Some(hash) = hash_of(value) {
        if let Some(other) = with(hash) {
            *value = other;
        }
        return;
    }
    match value {
        Value::Object(entries) => entries.values_mut().for_each(|value| replace_tokens(value, with)),
        Value::Array(items) => items.iter_mut().for_each(|value| replace_tokens(value, with)),
        _ => {}
    }
}

/// A report as it came from a worker, with masks in place of tokens: only what was sealed here has any, and whoever could
/// report one would be given the secret of another service as a value of its own.
#[must_use]
pub fn without_tokens(mut report: TaskReport) -> TaskReport {
    report.result.values_mut().for_each(mask_tokens);
    report
}

/// Masks in place of tokens: what people see.
pub fn mask_tokens(value: &mut Value) {
    replace_tokens(value, &|_| Some(MASK.into()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(output: &Value) -> Service {
        serde_json::from_value(json!({"name": "vault", "outputs": [output]})).unwrap()
    }

    fn reported(value: &Value) -> TaskReport {
        let result = json!({"vault_port": value, "other": 1}).as_object().cloned().unwrap();
        TaskReport { result, ..TaskReport::success() }
    }

    const SCHEMA: &str = r#"{"type": "object", "properties": {"port": {"type": "integer", "minimum": 1}}}"#;

    #[test]
    fn a_value_that_breaks_its_schema_is_a_failure_that_says_where_and_why() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        for (sensitive, shown) in [(false, true), (true, false)] {
            let service = service(
                &json!({"name": "port", "path": "vault_port", "schema": schema, "sensitive": sensitive}),
            );
            assert!(checked(&service, reported(&json!({"port": 1}))).succeeded());
            let failed = checked(&service, reported(&json!({"port": "s3cret"})));
            assert_eq!((failed.status, failed.error_kind), (1, Some(ErrorKind::Permanent)));
            for words in ["output port of service vault", "/port", "/properties/port/type"] {
                assert!(failed.stderr.contains(words), "{words}: {}", failed.stderr);
            }
            assert_eq!(failed.stderr.contains("s3cret"), shown, "{}", failed.stderr);
            assert!(failed.result.is_empty());
            let failure = TaskReport::failure(7, "no");
            assert_eq!(checked(&service, failure.clone()), failure);
        }
    }

    #[test]
    fn names_in_a_secret_value_are_secret_too() {
        let schema = json!({"type": "object", "additionalProperties": false});
        let service =
            service(&json!({"name": "p", "path": "vault_port", "schema": schema, "sensitive": true}));
        let failed = checked(&service, reported(&json!({"s3cret": 1})));
        assert!(!failed.succeeded() && !failed.stderr.contains("s3cret"), "{}", failed.stderr);
    }

    #[test]
    fn tokens_stand_for_values_and_change_with_them_and_with_the_key() {
        let (one, other) = (json!({"a": 1}), json!({"a": 2}));
        assert_eq!(token_hash("k", &one), token_hash("k", &one));
        assert_ne!(token_hash("k", &one), token_hash("k", &other));
        assert_ne!(token_hash("k", &one), token_hash("l", &one));
        let hash = token_hash("k", &one);
        let mut value = json!({"n1": token(&hash), "n2": ["x", token("unknown")]});
        let mut found = BTreeSet::new();
        tokens(&value, &mut found);
        assert_eq!(found, BTreeSet::from([hash.clone(), "unknown".to_owned()]));
        replace_tokens(&mut value, &|of| (of == hash).then(|| one.clone()));
        assert_eq!(value, json!({"n1": {"a": 1}, "n2": ["x", token("unknown")]}));
        mask_tokens(&mut value);
        assert_eq!(value["n2"][1], MASK);
    }

    #[test]
    fn nobody_reports_a_token() {
        let token = token("0123");
        let report = reported(&json!({"deep": [token]}));
        assert_eq!(without_tokens(report).result["vault_port"], json!({"deep": [MASK]}));
    }
}
