//! Secrets in providers: shown as a mask, and kept where a mask comes back.

use cooperage_domain::cluster::ValueDifference;
use cooperage_domain::entity::{Provider, ProviderType};
use cooperage_domain::invalid::Invalid;
pub use cooperage_domain::secret_fields::MASK;
use cooperage_domain::secret_fields::{is_secret, parameters_of};
use cooperage_schema::SUPERADMIN;
use serde_json::{Map, Value};

use super::problem::Problem;
use super::state::AppState;

/// Which fields of which provider types are secrets: those marked so, and those whose names say so.
/// By default none are.
#[derive(Default)]
pub struct SecretFields(Option<Vec<ProviderType>>);

impl SecretFields {
    /// Those of all provider types. Waits for the database.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load(state: &AppState) -> Result<Self, Problem> {
        Ok(Self(Some(state.store.entities(SUPERADMIN)?)))
    }

    /// Puts the mask in place of every secret in a provider's values.
    pub fn hide(&self, providertype: &str, values: &mut Map<String, Value>) {
        for (name, value) in values.iter_mut() {
            if self.is_secret(providertype, name) && !value.is_null() {
                *value = MASK.into();
            }
        }
    }

    /// A provider as it may be shown.
    #[must_use]
    pub fn hidden(&self, mut provider: Provider) -> Provider {
        self.hide(&provider.providertype, &mut provider.provisioner);
        provider
    }

    /// The same for a provider as JSON.
    pub fn hide_in(&self, provider: &mut Value) {
        let providertype = provider["providertype"].as_str().unwrap_or_default().to_owned();
        if let Some(Value::Object(values)) = provider.get_mut("provisioner") {
            self.hide(&providertype, values);
        }
    }

    /// Puts the mask in place of every secret among values of a provider that differ.
    pub fn hide_values(&self, providertype: &str, values: &mut [ValueDifference]) {
        for value in values {
            let name = value.path.split('.').next().unwrap_or_default();
            if self.is_secret(providertype, name) {
                let masked = |side: &Option<Value>| side.as_ref().map(|_| Value::from(MASK));
                (value.before, value.after) = (masked(&value.before), masked(&value.after));
            }
        }
    }

    /// A provider with the values that stand behind its masks.
    ///
    /// # Errors
    /// As for [`Self::restore`].
    pub fn restored(&self, mut provider: Provider, before: Option<&Provider>) -> Result<Provider, Invalid> {
        self.restore(&provider.providertype, &mut provider.provisioner, before)?;
        Ok(provider)
    }

    /// Takes back the values that stand behind masks: those the provider had before.
    ///
    /// # Errors
    /// When it had none: a mask is no value, and would be taken for the secret where it is needed.
    pub fn restore(
        &self,
        providertype: &str,
        values: &mut Map<String, Value>,
        before: Option<&Provider>,
    ) -> Result<(), Invalid> {
        for (name, value) in values {
            if *value != MASK || !self.is_secret(providertype, name) {
                continue;
            }
            let kept = before.and_then(|before| before.provisioner.get(name)).filter(|kept| **kept != MASK);
            let Some(kept) = kept else {
                return Err(Invalid::new(
                    format!("provisioner.{name}"),
                    MASK,
                    "stands for a secret that is not known here",
                    "write the secret itself; `cooperage export --secrets` has those of another server",
                ));
            };
            value.clone_from(kept);
        }
        Ok(())
    }

    fn is_secret(&self, providertype: &str, field: &str) -> bool {
        self.0.as_ref().is_some_and(|types| is_secret(parameters_of(types, providertype), field))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_and_come_back() {
        let kind = json!({"name": "cloud", "parameters": {"admin": {"fields": {
            "url": {"label": "URL", "type": "text"},
            "key": {"label": "Key", "type": "password"},
            "token": {"label": "Token", "type": "text", "sensitive": true}}}}});
        let secrets = SecretFields(Some(vec![serde_json::from_value(kind).unwrap()]));
        let stored: Provider = serde_json::from_value(json!({"name": "p", "providertype": "cloud",
            "provisioner": {"url": "u", "key": "k", "token": "t", "other": "o"}}))
        .unwrap();
        let mut shown = secrets.hidden(stored.clone());
        assert_eq!(
            Value::from(shown.provisioner.clone()),
            json!({"url": "u", "key": MASK, "token": MASK, "other": "o"})
        );
        shown.provisioner.insert("url".to_owned(), MASK.into());
        shown.provisioner.insert("token".to_owned(), "new".into());
        secrets.restore("cloud", &mut shown.provisioner, Some(&stored)).unwrap();
        assert_eq!(
            Value::from(shown.provisioner),
            json!({"url": MASK, "key": "k", "token": "new", "other": "o"})
        );
        let empty: Provider = serde_json::from_value(
            json!({"name": "p", "providertype": "cloud", "provisioner": {"key": MASK}}),
        )
        .unwrap();
        for before in [None, Some(&empty)] {
            let mut masked = stored.provisioner.clone();
            masked.insert("key".to_owned(), MASK.into());
            let refused = secrets.restore("cloud", &mut masked, before).unwrap_err().to_string();
            assert!(refused.contains("provisioner.key"), "{refused}");
        }
    }
}
