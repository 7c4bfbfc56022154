//! Bad input: which field, which value, what is wrong with it, and what to do.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// One fault in what somebody sent. Never a fault of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{field}: {value:?} {fault}; {remedy}")]
pub struct Invalid {
    /// Path of the field, with dots.
    pub field: String,
    /// What was sent.
    pub value: String,
    /// What is wrong with it; continues the sentence "FIELD: VALUE ...".
    pub fault: String,
    /// What to do about it.
    pub remedy: String,
}

impl Invalid {
    /// One fault, from its four parts.
    pub fn new(
        field: impl Into<String>,
        value: impl Display,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), value: value.to_string(), fault: fault.into(), remedy: remedy.into() }
    }
}
