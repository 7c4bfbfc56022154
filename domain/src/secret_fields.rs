//! Which values of a provider are secrets, and what stands in their place where they must not be.
//!
//! A field is secret when its provider type says so, and also when its name says so, whatever the type says: a descriptor
//! that forgot to mark `api_key` leaks nothing.

use serde_json::{Map, Value};

use crate::entity::{Entity, FieldSchema, Parameters, ProviderType};

/// What stands for a secret in answers, and in the copy of a provider that a cluster's journal holds.
pub const MASK: &str = "********";

/// Words of a name that make its value a secret.
const SECRET_WORDS: [&str; 16] = [
    "apikey",
    "accesskey",
    "credential",
    "credentials",
    "key",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "secrets",
    "sharedkey",
    "token",
    "tokens",
];

/// Last words of a name that say something about a secret and are none: `key_name`, `password_file`, `token_url`.
const DESCRIBING_WORDS: [&str; 19] = [
    "algorithm",
    "bits",
    "days",
    "endpoint",
    "expiry",
    "file",
    "fingerprint",
    "format",
    "id",
    "length",
    "name",
    "path",
    "resource",
    "seconds",
    "size",
    "type",
    "uri",
    "url",
    "user",
];

/// Whether a field's name says that its value is a secret: `rackspace_api_key`, `clientSecret`, `admin.password`; but
/// not what describes one (`key_name`, `token_url`) and nothing public (`public_key`).
#[must_use]
pub fn names_a_secret(field: &str) -> bool {
    let words = words(field);
    let Some(last) = words.last() else { return false };
    words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
        && !DESCRIBING_WORDS.contains(&last.as_str())
        && !words.iter().any(|word| word == "public")
}

/// The words of a name in small letters, parted by case, digits and signs: `AWSSecretKey2` has three.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && (before.is_some_and(char::is_lowercase) || after.is_some_and(|after| after.is_lowercase()));
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a field of a provider holds a secret; `parameters` are its type's. A type that is not known marks nothing.
///
/// A checkbox or a choice from a list is a secret only when it is marked: whoever knows the form knows its values.
#[must_use]
pub fn is_secret(parameters: Option<&Parameters>, field: &str) -> bool {
    let schemas = parameters.into_iter().flat_map(|parameters| [&parameters.admin, &parameters.user]);
    let schemas: Vec<&FieldSchema> = schemas.filter_map(|set| set.fields.get(field)).collect();
    let is_choice = |schema: &&FieldSchema| matches!(schema.kind.as_str(), "checkbox" | "select");
    schemas.iter().any(|schema| schema.is_secret())
        || (names_a_secret(field) && !schemas.iter().any(is_choice))
}

/// The parameters of a provider type, among all types.
#[must_use]
pub fn parameters_of<'a>(types: &'a [ProviderType], name: &str) -> Option<&'a Parameters> {
    types.iter().find(|kind| kind.base().name == name).map(|kind| &kind.0.parameters)
}

/// Takes the secrets out of a provider's values and leaves masks. Absent ones and masks are left as they are.
pub fn take(parameters: Option<&Parameters>, values: &mut Map<String, Value>) -> Map<String, Value> {
    let mut taken = Map::new();
    for (field, value) in values.iter_mut() {
        if is_secret(parameters, field) && !value.is_null() && *value != MASK {
            taken.insert(field.clone(), std::mem::replace(value, MASK.into()));
        }
    }
    taken
}

/// Takes the secrets out of every copy of a provider in a document, whatever the document is: an entity, an event, a state.
/// A copy is an object with a `providertype` and a `provisioner`.
pub fn take_from_copies(types: &[ProviderType], document: &mut Value) -> Map<String, Value> {
    let mut taken = Map::new();
    match document {
        Value::Object(fields) => {
            let kind = fields.get("providertype").and_then(Value::as_str).map(str::to_owned);
            if let (Some(kind), Some(Value::Object(values))) = (kind, fields.get_mut("provisioner")) {
                taken.extend(take(parameters_of(types, &kind), values));
            }
            for value in fields.values_mut() {
                taken.extend(take_from_copies(types, value));
            }
        }
        Value::Array(values) => {
            for value in values {
                taken.extend(take_from_copies(types, value));
            }
        }
        _ => {}
    }
    taken
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_judged_by_their_words() {
        for name in [
            "password",
            "api_key",
            "rackspace_api_key",
            "aws_secret_key",
            "aws-access-key",
            "clientSecret",
            "APIKey",
            "admin.password",
            "key",
            "secret",
            "token2",
            "sshKey",
            "openstack_passwd",
            "apikey",
            "PASSWORD",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in [
            "keyname",
            "key_name",
            "keyName",
            "ssh_keypair",
            "public_key",
            "password_file",
            "token_url",
            "monkey",
            "keystone",
            "region",
            "secretary",
            "access_key_id",
            "ssh_key_resource",
            "",
            "_",
            "url",
            "zone",
            "user",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    fn cloud() -> ProviderType {
        let kind = json!({"name": "cloud", "parameters": {
            "admin": {"fields": {
                "url": {"label": "URL", "type": "text"},
                "pin": {"label": "PIN", "type": "password"},
                "use_key": {"label": "Use the key", "type": "checkbox"}}},
            "user": {"fields": {"login": {"label": "Login", "type": "text", "sensitive": true}}}}});
        serde_json::from_value(kind).unwrap()
    }

    #[test]
    fn a_field_is_secret_by_its_mark_or_by_its_name() {
        let kind = cloud();
        let secret = |field| is_secret(Some(&kind.0.parameters), field);
        assert!(secret("pin") && secret("login") && secret("api_key"));
        assert!(!secret("url") && !secret("use_key"), "a checkbox tells nothing");
        assert!(is_secret(None, "password") && !is_secret(None, "pin"), "without a type the name counts");
    }

    #[test]
    fn copies_are_found_wherever_they_are() {
        let mut event = json!({"event": "x", "order": {"provider": {"name": "p", "providertype": "cloud",
            "provisioner": {"pin": "1234", "url": "u", "api_key": null, "token": MASK}}},
            "more": [{"providertype": "unknown", "provisioner": {"password": "pw", "pin": "5"}}]});
        let taken = take_from_copies(&[cloud()], &mut event);
        assert_eq!(Value::from(taken), json!({"pin": "1234", "password": "pw"}));
        assert_eq!(
            event,
            json!({"event": "x", "order": {"provider": {"name": "p", "providertype": "cloud",
                "provisioner": {"pin": MASK, "url": "u", "api_key": null, "token": MASK}}},
                "more": [{"providertype": "unknown", "provisioner": {"password": MASK, "pin": "5"}}]})
        );
        assert!(take_from_copies(&[cloud()], &mut event).is_empty(), "a second time finds nothing");
    }
}
