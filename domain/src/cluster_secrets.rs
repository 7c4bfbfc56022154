//! Secret values of one cluster: in memory only, and not printed.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zeroize::Zeroize;

use crate::entity::Provider;
use crate::provider_fields::overlay;

/// What a cluster's workers need and nobody else may see. Overwritten in memory when it goes.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterSecrets {
    /// The provider's own, as they were when the cluster was made.
    #[serde(default)]
    pub provider: Map<String, Value>,
    /// Those given with requests for the cluster.
    #[serde(default)]
    pub given: Map<String, Value>,
}

impl ClusterSecrets {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.provider.is_empty() && self.given.is_empty()
    }

    /// Puts them where their masks stand in the copy that a worker is given; what was given with a request wins.
    pub fn reveal_in(&self, provider: &mut Provider) {
        overlay(provider, &self.provider);
        overlay(provider, &self.given);
    }

    /// Every text in them.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for value in self.provider.values().chain(self.given.values()) {
            collect(value, &mut texts);
        }
        texts
    }
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Says how many there are.
impl fmt::Debug for ClusterSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClusterSecrets({} of the provider, {} given)", self.provider.len(), self.given.len())
    }
}

impl Drop for ClusterSecrets {
    fn drop(&mut self) {
        self.provider.values_mut().chain(self.given.values_mut()).for_each(wipe);
    }
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(values) => values.iter_mut().for_each(wipe),
        Value::Object(fields) => fields.values_mut().for_each(wipe),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_given_wins_and_nothing_is_printed() {
        let secrets: ClusterSecrets =
            serde_json::from_value(json!({"provider": {"a": "own-a", "b": "own-b"},
            "given": {"b": "given-b", "c": {"d": ["deep", 123_456, true]}}}))
            .unwrap();
        let mut provider = Provider::default();
        secrets.reveal_in(&mut provider);
        let json = Value::from(provider.provisioner.clone());
        assert_eq!(json, json!({"a": "own-a", "b": "given-b", "c": {"d": ["deep", 123_456, true]}}));
        assert_eq!(secrets.texts(), ["own-a", "own-b", "given-b", "deep", "123456"]);
        for printed in [format!("{secrets:?}"), format!("{provider:?}")] {
            assert!(!printed.contains("own-") && !printed.contains("given-"), "{printed}");
        }
    }
}
