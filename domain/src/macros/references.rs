//! What a configuration refers to: for checks before any machine exists.

use serde_json::Value;

use super::error::MacroError;
use super::path::within;
use super::syntax::{Basic, parse};
use super::text::{Piece, pieces};

/// A service that a macro names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Where in the configuration: `shop.hosts[2]`.
    pub path: String,
    /// The macro, without its percent signs.
    pub text: String,
    /// The service.
    pub service: String,
    /// Whether the macro has a value when no node carries the service. Only counts have one, `0`; others are then left
    /// as written.
    pub may_be_absent: bool,
}

/// Checks the macros of a text without a cluster.
///
/// # Errors
/// The first macro that is written wrongly.
pub fn validate(text: &str) -> Result<(), MacroError> {
    for piece in pieces(text) {
        if let Piece::Macro(inner) = piece {
            parse(inner)?;
        }
    }
    Ok(())
}

/// The services named by the macros of a configuration, in order of the configuration.
///
/// # Errors
/// The first macro that is written wrongly, with its place.
pub fn references(tree: &Value) -> Result<Vec<Reference>, MacroError> {
    let mut found = Vec::new();
    match tree {
        Value::String(text) => {
            for piece in pieces(text) {
                let Piece::Macro(inner) = piece else { continue };
                let basic = parse(inner)?.basic;
                found.extend(basic.service().map(|service| Reference {
                    path: String::new(),
                    text: inner.to_owned(),
                    service: service.to_owned(),
                    may_be_absent: matches!(basic, Basic::Count(_)),
                }));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let inner = references(item).map_err(|fault| fault.within_index(index))?;
                found.extend(inner.into_iter().map(|it| it.within(&format!("[{index}]"))));
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                let inner = references(value).map_err(|fault| fault.within_key(key))?;
                found.extend(inner.into_iter().map(|it| it.within(key)));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(found)
}

impl Reference {
    fn within(self, step: &str) -> Self {
        Self { path: within(step, &self.path), ..self }
    }
}
