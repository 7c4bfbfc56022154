//! Secret values of one cluster: in memory only, and not printed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zeroize::Zeroize;

use crate::cluster::outputs;
use crate::entity::Provider;
use crate::provider_fields::overlay;
use crate::task::TaskOrder;

/// So many secret outputs are kept before those go that are not in use any more.
const MANY_OUTPUTS: usize = 256;

/// What a cluster's workers need and nobody else may see. Overwritten in memory when it goes.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClusterSecrets {
    /// The provider's own, as they were when the cluster was made.
    #[serde(default)]
    pub provider: Map<String, Value>,
    /// Those given with requests for the cluster.
    #[serde(default)]
    pub given: Map<String, Value>,
    /// Secret outputs of its services, by the hash of the token that stands for each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, Value>,
    /// Under which these hashes are made; empty before the first.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output_key: String,
}

impl ClusterSecrets {
    /// Those of a cluster that has just been asked for.
    #[must_use]
    pub const fn of(provider: Map<String, Value>, given: Map<String, Value>) -> Self {
        Self { provider, given, outputs: BTreeMap::new(), output_key: String::new() }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.provider.is_empty() && self.given.is_empty() && self.outputs.is_empty()
    }

    /// Puts them where their masks and tokens stand in what a worker is given: those of the provider, and the outputs that
    /// the task's service takes.
    pub fn reveal(&self, order: &mut TaskOrder) {
        self.reveal_in(&mut order.config.provider);
        for input in order.config.service.iter_mut().flat_map(|service| service.inputs.values_mut()) {
            outputs::replace_tokens(input, &|hash| self.outputs.get(hash).cloned());
        }
    }

    /// Tokens for secret outputs, which it keeps from now on. Where it has many already it keeps the ones `in_use`: fewer
    /// may be a server's that does not know yet that it has lost the cluster. A `fresh` key is taken where it has none.
    pub fn seal(
        &mut self,
        values: BTreeMap<String, Value>,
        in_use: &BTreeSet<String>,
        fresh: String,
    ) -> BTreeMap<String, Value> {
        if self.output_key.is_empty() {
            self.output_key = fresh;
        }
        if self.outputs.len() >= MANY_OUTPUTS {
            self.outputs.retain(|hash, _| in_use.contains(hash));
        }
        let mut tokens = BTreeMap::new();
        for (name, value) in values {
            let hash = outputs::token_hash(&self.output_key, &value);
            tokens.insert(name, outputs::token(&hash));
            self.outputs.insert(hash, value);
        }
        tokens
    }

    /// Puts them where their masks stand in the copy that a worker is given; what was given with a request wins.
    fn reveal_in(&self, provider: &mut Provider) {
        overlay(provider, &self.provider);
        overlay(provider, &self.given);
    }

    /// Every text in them.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for value in self.provider.values().chain(self.given.values()).chain(self.outputs.values()) {
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
        let (provider, given, outputs) = (self.provider.len(), self.given.len(), self.outputs.len());
        write!(f, "ClusterSecrets({provider} of the provider, {given} given, {outputs} outputs)")
    }
}

impl Drop for ClusterSecrets {
    fn drop(&mut self) {
        self.provider.values_mut().chain(self.given.values_mut()).for_each(wipe);
        self.outputs.values_mut().for_each(wipe);
        self.output_key.zeroize();
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

    #[test]
    fn outputs_are_found_by_their_tokens_and_of_many_those_in_use_are_kept() {
        let mut secrets = ClusterSecrets::default();
        let values = |value: &str| BTreeMap::from([("key".to_owned(), json!(value))]);
        let first = secrets.seal(values("s3cret-1"), &BTreeSet::new(), "k1".into());
        let again = secrets.seal(values("s3cret-1"), &BTreeSet::new(), "k2".into());
        assert_eq!(first, again, "the first key stays");
        assert!(!first["key"].to_string().contains("s3cret") && secrets.texts() == ["s3cret-1"]);
        let mut order: TaskOrder = serde_json::from_value(json!({
            "taskId": "00000001-001-001", "jobId": "00000001-001", "clusterId": "00000001", "taskName": "START",
            "nodeId": "n1", "config": {"service": {"name": "web", "action": {"type": "shell"},
                "inputs": {"keys": {"n2": first["key"]}}}, "vault_key": first["key"]}}))
        .unwrap();
        secrets.reveal(&mut order);
        assert_eq!(order.config.service.as_ref().unwrap().inputs["keys"], json!({"n2": "s3cret-1"}));
        assert_eq!(order.config.results["vault_key"], first["key"], "what is not declared is not given");
        let second = secrets.seal(values("s3cret-2"), &BTreeSet::new(), "k3".into());
        assert!(second != first && secrets.outputs.len() == 2);
        for number in 3..=MANY_OUTPUTS {
            let _ = secrets.seal(values(&format!("s3cret-{number}")), &BTreeSet::new(), "k4".into());
        }
        let mut in_use = BTreeSet::new();
        outputs::tokens(&second["key"], &mut in_use);
        let _ = secrets.seal(values("s3cret-new"), &in_use, "k5".into());
        assert_eq!(
            secrets.outputs.values().map(|value| value.as_str().unwrap()).collect::<BTreeSet<_>>(),
            BTreeSet::from(["s3cret-2", "s3cret-new"])
        );
    }
}
