//! A cluster's configuration: the template's, with what the user wants otherwise laid over it.
//!
//! The server takes a configuration as a whole, so a single value can only be changed with the others beside it.

use cooperage_domain::invalid::Invalid;
use serde_json::{Map, Value};

/// Lays `over` upon `base`: objects key by key, everything else as a whole.
pub fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(value)) => merge(below, value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Reads `counter.title=Shop` into `{"counter": {"title": "Shop"}}`: the value is JSON where it can be read as such, else
/// text.
///
/// # Errors
/// When there is no `=`, or a part of the path is empty, naming `option`.
pub fn parse_override(option: &str, text: &str) -> Result<Map<String, Value>, Invalid> {
    let wrong = |fault: &str| Invalid::new(option, text, fault, "write it like counter.title=Shop");
    let (path, value) = text.split_once('=').ok_or_else(|| wrong("has no ="))?;
    if path.split('.').any(|part| part.trim().is_empty()) {
        return Err(wrong("has an empty part in its path"));
    }
    let value = json_or_text(value);
    let nested = path
        .rsplit('.')
        .fold(value, |inner, key| Value::Object(Map::from_iter([(key.trim().to_owned(), inner)])));
    // A path has at least one part, so that there is an object around the value.
    if let Value::Object(map) = nested { Ok(map) } else { Err(wrong("names no value")) }
}

/// Takes away what is at a path, such as `counter.title`; whether there was anything.
pub fn remove(values: &mut Map<String, Value>, path: &str) -> bool {
    match path.split_once('.') {
        None => values.shift_remove(path).is_some(),
        Some((first, rest)) => match values.get_mut(first) {
            Some(Value::Object(inner)) => remove(inner, rest),
            _ => false,
        },
    }
}

/// Reads `name=value` fields for the provider.
///
/// # Errors
/// When one has no `=`.
pub fn parse_fields(fields: &[String]) -> Result<Map<String, Value>, Invalid> {
    let parse = |text: &String| {
        let (name, value) =
            text.split_once('=').filter(|(name, _)| !name.trim().is_empty()).ok_or_else(|| {
                Invalid::new("--provider-field", text, "is not NAME=VALUE", "write it like region=eu-1")
            })?;
        Ok((name.trim().to_owned(), Value::String(value.to_owned())))
    };
    fields.iter().map(parse).collect()
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(base: Value, overrides: &[&str]) -> Value {
        let Value::Object(mut base) = base else { panic!("an object") };
        for text in overrides {
            merge(&mut base, parse_override("--config", text).unwrap());
        }
        Value::Object(base)
    }

    #[test]
    fn values_are_laid_over_the_templates() {
        let template = json!({"nginx": {"port": 80}, "redis": {"password": "x", "tags": ["a", "b"]}});
        let cases = [
            (vec![], template.clone()),
            (
                vec!["nginx.port=8080", "redis.password=y=z"],
                json!({"nginx": {"port": 8080}, "redis": {"password": "y=z", "tags": ["a", "b"]}}),
            ),
            (
                vec!["redis.tags=[\"c\"]", "new.deep.key=true"],
                json!({"nginx": {"port": 80}, "redis": {"password": "x", "tags": ["c"]}, "new": {"deep": {"key": true}}}),
            ),
            (vec!["nginx=off"], json!({"nginx": "off", "redis": {"password": "x", "tags": ["a", "b"]}})),
            (
                vec!["nginx.port="],
                json!({"nginx": {"port": ""}, "redis": {"password": "x", "tags": ["a", "b"]}}),
            ),
        ];
        for (overrides, expected) in cases {
            assert_eq!(merged(template.clone(), &overrides), expected, "{overrides:?}");
        }
    }

    #[test]
    fn values_are_taken_away_by_their_path() {
        let Value::Object(mut values) = json!({"a": {"b": 1, "c": 2}, "d": 3}) else { panic!("an object") };
        let gone: Vec<bool> = ["a.b", "d", "a.x", "d.e"].map(|path| remove(&mut values, path)).to_vec();
        assert_eq!(gone, [true, true, false, false]);
        assert_eq!(Value::Object(values), json!({"a": {"c": 2}}));
    }

    #[test]
    fn what_is_no_override_is_refused() {
        for text in ["nginx.port", "=1", "a..b=1", ".a=1"] {
            assert_eq!(parse_override("--config", text).unwrap_err().field, "--config", "{text}");
        }
        assert_eq!(parse_fields(&["key".to_owned()]).unwrap_err().field, "--provider-field");
        assert_eq!(parse_fields(&["key=a=b".to_owned()]).unwrap()["key"], "a=b");
    }
}
