//! Reading what Coopr's clients really send: numbers and booleans as text, `null` for absent, numbers where text belongs.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// `null` and absent are the same: both give the default.
///
/// # Errors
/// When the value is there and does not fit its type.
pub fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A whole number, as a number or as text.
///
/// # Errors
/// When it is neither, or out of range.
pub fn number<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr + DeserializeOwned,
    T::Err: Display,
{
    parse_number(Value::deserialize(deserializer)?)
}

/// A whole number, as a number or as text, or nothing.
///
/// # Errors
/// When it is there and is neither.
pub fn optional_number<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr + DeserializeOwned,
    T::Err: Display,
{
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        value => parse_number(value).map(Some),
    }
}

fn parse_number<T, E>(value: Value) -> Result<T, E>
where
    T: FromStr + DeserializeOwned,
    T::Err: Display,
    E: Error,
{
    match value {
        Value::String(text) => {
            text.trim().parse().map_err(|fault| E::custom(format!("{text:?} is not a whole number: {fault}")))
        }
        // Some clients write whole numbers as decimals: 5.0.
        Value::Number(n) if n.as_f64().is_some_and(|f| n.is_f64() && f.fract() == 0.0) => {
            n.as_f64().map_or_else(String::new, |f| format!("{f:.0}")).parse().map_err(E::custom)
        }
        other => T::deserialize(&other)
            .map_err(|fault| E::custom(format!("{other} is not a whole number: {fault}"))),
    }
}

/// A boolean, as one or as text.
///
/// # Errors
/// When it is neither.
pub fn boolean<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(flag),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        other => Err(D::Error::custom(format!("{other} is neither true nor false"))),
    }
}

/// Text; numbers and booleans become text.
///
/// # Errors
/// When it is a list, an object or `null`.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = Value::deserialize(deserializer)?;
    into_text(value)?.ok_or_else(|| D::Error::custom("expected text, found null"))
}

/// Text or nothing; numbers and booleans become text.
///
/// # Errors
/// When it is a list or an object.
pub fn optional_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    into_text(Value::deserialize(deserializer)?)
}

fn into_text<E: Error>(value: Value) -> Result<Option<String>, E> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Bool(_) | Value::Number(_) => Ok(Some(value.to_string())),
        Value::Array(_) | Value::Object(_) => Err(E::custom(format!("expected text, found {value}"))),
    }
}

/// A map of text; numbers and booleans become text, `null` entries are dropped.
///
/// # Errors
/// When a value is a list or an object.
pub fn text_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let raw = Option::<BTreeMap<String, Value>>::deserialize(deserializer)?.unwrap_or_default();
    to_text_map(raw)
}

/// A map of [`text_map`]s.
///
/// # Errors
/// When a value is a list or an object.
pub fn map_of_text_maps<'de, D>(
    deserializer: D,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, D::Error>
where
    D: Deserializer<'de>,
{
    let raw = Option::<BTreeMap<String, Option<BTreeMap<String, Value>>>>::deserialize(deserializer)?;
    raw.unwrap_or_default()
        .into_iter()
        .map(|(name, entries)| Ok((name, to_text_map(entries.unwrap_or_default())?)))
        .collect()
}

fn to_text_map<E: Error>(raw: BTreeMap<String, Value>) -> Result<BTreeMap<String, String>, E> {
    let mut map = BTreeMap::new();
    for (key, value) in raw {
        let text = into_text(value).map_err(|fault: E| E::custom(format!("{key}: {fault}")))?;
        map.extend(text.map(|text| (key, text)));
    }
    Ok(map)
}
