//! Provider fields: what a user gives with a request, what is missing, and what of it is secret.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::entity::{FieldSchema, ParameterSet, Parameters, Provider};
use crate::secret_fields::is_secret;

/// Not enough was given: one entry for each alternative, with the fields that would complete it. Any one suffices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("required provider fields are missing: give {}", alternatives(.missing_fields))]
pub struct MissingFields {
    /// By alternative, the schemas of the missing fields by name.
    #[serde(rename = "missingFields")]
    pub missing_fields: Vec<BTreeMap<String, FieldSchema>>,
}

fn alternatives(missing: &[BTreeMap<String, FieldSchema>]) -> String {
    let names = |fields: &BTreeMap<String, FieldSchema>| {
        fields.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    missing.iter().map(names).collect::<Vec<_>>().join("; or ")
}

/// The fields of a request, by what becomes of them.
#[derive(Clone, Default, PartialEq)]
pub struct GroupedFields {
    /// Secrets: kept apart and encrypted, replacing those kept before; laid over the provider only for a worker.
    pub sensitive: Map<String, Value>,
    /// Put into the cluster's copy of the provider.
    pub plain: Map<String, Value>,
    /// Neither a user field nor an admin field that users may override.
    pub ignored: Vec<String>,
}

/// Names the fields and shows no value.
impl fmt::Debug for GroupedFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupedFields")
            .field("sensitive", &self.sensitive.keys().collect::<Vec<_>>())
            .field("plain", &self.plain.keys().collect::<Vec<_>>())
            .field("ignored", &self.ignored)
            .finish()
    }
}

/// What is missing from `set` when the fields `given` are there: nothing when nothing is required or one alternative is
/// complete, else what each alternative lacks.
pub fn missing_fields(
    set: &ParameterSet,
    given: impl Fn(&str) -> bool,
) -> Vec<BTreeMap<String, FieldSchema>> {
    let mut missing = Vec::new();
    for alternative in &set.required {
        let lacking: Vec<&String> = alternative.iter().filter(|name| !given(name)).collect();
        if lacking.is_empty() {
            return Vec::new();
        }
        let schema = |name: &String| Some((name.clone(), set.fields.get(name)?.clone()));
        missing.push(lacking.into_iter().filter_map(schema).collect());
    }
    missing
}

/// Sorts the fields of a request: an admin field that users may override first, else a user field, else ignored.
/// `null` is the same as absent.
#[must_use]
pub fn group_fields(parameters: &Parameters, fields: &Map<String, Value>) -> GroupedFields {
    let mut grouped = GroupedFields::default();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let overriding = parameters.admin.fields.get(name).filter(|schema| schema.overridable);
        match overriding.or_else(|| parameters.user.fields.get(name)) {
            Some(_) if is_secret(Some(parameters), name) => {
                grouped.sensitive.insert(name.clone(), value.clone())
            }
            Some(_) => grouped.plain.insert(name.clone(), value.clone()),
            None => {
                grouped.ignored.push(name.clone());
                continue;
            }
        };
    }
    grouped
}

/// Decides on the fields of a request for a cluster with this `provider` copy, whose kept secrets are `stored`. A
/// request without fields stands for one with the kept secrets; one with any fields must bring all secrets anew.
///
/// # Errors
/// When no alternative of required user fields is complete.
pub fn admit(
    parameters: &Parameters,
    provider: &Provider,
    requested: &Map<String, Value>,
    stored: &Map<String, Value>,
) -> Result<GroupedFields, MissingFields> {
    let fields = if requested.is_empty() { stored } else { requested };
    let present = |map: &Map<String, Value>, name: &str| map.get(name).is_some_and(|value| !value.is_null());
    let given = |name: &str| present(&provider.provisioner, name) || present(fields, name);
    let missing_fields = missing_fields(&parameters.user, given);
    if missing_fields.is_empty() {
        Ok(group_fields(parameters, fields))
    } else {
        Err(MissingFields { missing_fields })
    }
}

/// Lays fields over the provider's own values: the plain ones of a request over a cluster's copy of the provider, or
/// kept secrets over the copy that a worker is given.
pub fn overlay(provider: &mut Provider, fields: &Map<String, Value>) {
    provider.provisioner.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::entity::ProviderType;

    fn parameters() -> Parameters {
        let document = json!({"name": "pt", "parameters": {
            "admin": {"fields": {
                "region": {"label": "Region", "type": "text", "override": true},
                "account": {"label": "Account", "type": "text"},
                "url": {"label": "URL", "type": "text", "override": true, "sensitive": true}}},
            "user": {"fields": {
                "keyname": {"label": "Key name", "type": "text"},
                "key": {"label": "Key", "type": "text", "sensitive": true}},
                "required": [["keyname", "key"]]}}});
        serde_json::from_value::<ProviderType>(document).unwrap().0.parameters
    }

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn fields_are_sorted_by_schema() {
        let fields = map(&json!({"key": "k", "url": "u", "keyname": "dev", "region": "iad", "account": "a",
            "bogus": 1, "absent": null}));
        let grouped = group_fields(&parameters(), &fields);
        assert_eq!(Value::from(grouped.sensitive), json!({"key": "k", "url": "u"}));
        assert_eq!(Value::from(grouped.plain), json!({"keyname": "dev", "region": "iad"}));
        assert_eq!(grouped.ignored, ["account", "bogus"]);
        let printed =
            format!("{:?}", group_fields(&parameters(), &map(&json!({"key": "hush", "region": "iad"}))));
        assert!(printed.contains("key") && !printed.contains("hush"), "{printed}");
    }

    #[test]
    fn one_complete_alternative_is_enough() {
        let mut set = parameters().user;
        set.required.push(["keyname".to_owned()].into());
        assert!(missing_fields(&set, |name| name == "keyname").is_empty());
        let missing = missing_fields(&set, |name| name == "key");
        let names: Vec<Vec<_>> = missing.iter().map(|fields| fields.keys().collect()).collect();
        assert_eq!(names, [["keyname"], ["keyname"]]);
    }

    #[test]
    fn the_answer_to_missing_fields_is_one_object_for_each_alternative() {
        let fault = admit(&parameters(), &Provider::default(), &map(&json!({"keyname": "k"})), &Map::new())
            .unwrap_err();
        assert_eq!(
            serde_json::to_value(&fault).unwrap(),
            json!({"missingFields": [{"key": {"label": "Key", "type": "text", "tip": "", "override": false,
                "sensitive": true}}]})
        );
        assert_eq!(fault.to_string(), "required provider fields are missing: give key");
    }

    #[test]
    fn kept_secrets_count_only_when_no_field_is_given() {
        let mut provider = Provider { provisioner: map(&json!({"keyname": "k"})), ..Provider::default() };
        let stored = map(&json!({"key": "s"}));
        let grouped = admit(&parameters(), &provider, &Map::new(), &stored).unwrap();
        assert_eq!(grouped.sensitive, stored);
        assert!(admit(&parameters(), &provider, &map(&json!({"region": "r"})), &stored).is_err());

        overlay(&mut provider, &map(&json!({"keyname": "l", "region": "r"})));
        assert_eq!(Value::from(provider.provisioner), json!({"keyname": "l", "region": "r"}));
    }
}
