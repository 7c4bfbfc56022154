//! Secrets that a program was given do not come back in what it prints.

use cooperage_domain::entity::{FieldSchema, ParameterSet, PluginType};
use cooperage_domain::task::TaskOrder;
use serde_json::Value;

use crate::output::{Output, Stream};
use crate::resources::Side;

/// What stands in place of a secret.
const MASK: &str = "********";
/// Texts shorter than this are too common to be masked.
const SHORTEST: usize = 4;

/// The secrets of one order.
#[derive(Clone, Default)]
pub(super) struct Masks(Vec<String>);

impl Masks {
    /// The values of the fields that the plugin's type calls secret, and a machine's password.
    pub(super) fn of(side: Side, plugin_type: &PluginType, order: &TaskOrder) -> Self {
        let parameters = &plugin_type.parameters;
        let secret =
            |set: &ParameterSet, name: &str| set.fields.get(name).is_some_and(FieldSchema::is_secret);
        let is_secret = |name: &str| secret(&parameters.admin, name) || secret(&parameters.user, name);
        let mut values: Vec<String> = Vec::new();
        match side {
            Side::Provider => {
                let fields = order.config.provider.provisioner.iter().filter(|(name, _)| is_secret(name));
                values.extend(fields.map(|(_, value)| text(value)));
            }
            Side::Automator => {
                let fields = order.config.service.iter().flat_map(|service| &service.action.fields);
                values.extend(fields.filter(|(name, _)| is_secret(name)).map(|(_, value)| value.clone()));
            }
        }
        let auth = order.config.results.get("ssh-auth");
        values.extend(auth.and_then(|auth| auth.get("password")).map(text));
        // A secret of many lines is printed line by line.
        let lines = values.iter().flat_map(|value| value.lines().map(|line| line.trim().to_owned()));
        let mut secrets: Vec<String> = lines.filter(|line| line.len() >= SHORTEST).collect();
        // The longest first: one may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(secrets)
    }

    /// The text without secrets.
    pub(super) fn over(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Passes output on without secrets.
pub(super) struct Masked<'a> {
    pub(super) output: &'a dyn Output,
    pub(super) masks: &'a Masks,
}

impl Output for Masked<'_> {
    fn line(&self, stream: Stream, text: &str) {
        self.output.line(stream, &self.masks.over(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let masks = Masks(vec!["hunter2-long".to_owned(), "hunter2".to_owned()]);
        assert_eq!(masks.over("a=hunter2-long b=hunter2"), "a=******** b=********");
        assert_eq!(masks.over("nothing"), "nothing");
    }
}
