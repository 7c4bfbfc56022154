//! The secrets of an entity on their way into the database and out of it: sealed beside its document, which holds masks.

use cooperage_domain::entity::{Kind, Parameters, ProviderType};
use cooperage_domain::secret_fields::take;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::entities::{Document, find_clear};
use crate::error::StoreError;
use crate::keyring::{Keyring, Place};

/// Field of a provider that holds the values of its type's fields.
const VALUES: &str = "provisioner";

/// A document as it is stored: without secrets, and those sealed.
pub(crate) struct Sealed {
    pub(crate) json: String,
    /// By field; `None` when there are none.
    pub(crate) sealed: Option<String>,
}

/// Seals the secrets of a document for a tenant, inside a transaction that may write.
pub(crate) fn seal(
    engine: &mut Engine,
    keyring: &Keyring,
    tenant: &str,
    document: &Document,
) -> Result<Sealed, StoreError> {
    let clear = || Sealed { json: document.json().to_owned(), sealed: None };
    if document.kind() != Kind::Provider {
        return Ok(clear());
    }
    let mut json: Value = parsed(document.name(), document.json())?;
    let parameters = parameters(engine, json["providertype"].as_str().unwrap_or_default())?;
    let Some(Value::Object(values)) = json.get_mut(VALUES) else { return Ok(clear()) };
    let taken = take(parameters.as_ref(), values);
    if taken.is_empty() {
        return Ok(clear());
    }
    let sealed = seal_each(engine, keyring, tenant, document.name(), &taken)?;
    Ok(Sealed { json: json.to_string(), sealed: Some(Value::Object(sealed).to_string()) })
}

/// Seals values one by one.
pub(crate) fn seal_each(
    engine: &mut Engine,
    keyring: &Keyring,
    tenant: &str,
    name: &str,
    values: &Map<String, Value>,
) -> Result<Map<String, Value>, StoreError> {
    let mut sealed = Map::new();
    for (field, value) in values {
        let place = Place { tenant, kind: Kind::Provider.plural(), name, field };
        sealed.insert(field.clone(), keyring.seal(engine, place, &value.to_string())?.into());
    }
    Ok(sealed)
}

/// The document with its secrets in their places.
pub(crate) fn open(
    engine: &mut Engine,
    keyring: &Keyring,
    (tenant, kind, name): (&str, Kind, &str),
    json: String,
    sealed: Option<&str>,
) -> Result<String, StoreError> {
    let Some(sealed) = sealed else { return Ok(json) };
    let sealed: Map<String, Value> = serde_json::from_str(sealed)
        .map_err(|fault| StoreError::corrupt(format!("the secrets of {name:?}"), fault))?;
    let mut json: Value = parsed(name, &json)?;
    for (field, text) in &sealed {
        let place = Place { tenant, kind: kind.plural(), name, field };
        let opened = keyring.open(engine, place, text.as_str().unwrap_or_default())?;
        let value: Value = parsed(name, &opened)?;
        if let Some(Value::Object(values)) = json.get_mut(VALUES) {
            values.insert(field.clone(), value);
        }
    }
    Ok(json.to_string())
}

/// What the newest version of a provider type says of its fields.
fn parameters(engine: &mut Engine, providertype: &str) -> Result<Option<Parameters>, StoreError> {
    let found = find_clear(engine, Kind::ProviderType, providertype)?;
    let kind: Option<ProviderType> = found
        .map(|json| serde_json::from_str(&json))
        .transpose()
        .map_err(|fault| StoreError::corrupt(format!("provider type {providertype:?}"), fault))?;
    Ok(kind.map(|kind| kind.0.parameters))
}

fn parsed(name: &str, json: &str) -> Result<Value, StoreError> {
    // The fault's words would show a part of the text.
    serde_json::from_str(json)
        .map_err(|_| StoreError::corrupt(format!("the document of {name:?}"), "it is no JSON"))
}
