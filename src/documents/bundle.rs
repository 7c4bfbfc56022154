//! What was read: entities and resources, and where each stands.

use std::fmt;
use std::path::PathBuf;

use cooperage_domain::entity::Kind;
use serde_json::{Map, Value};

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bundle {
    /// Entities, in the order in which they were read.
    pub documents: Vec<Document>,
    /// Resources of automators.
    pub resources: Vec<ResourceFile>,
}

/// An entity as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its kind.
    pub kind: Kind,
    /// Its fields, without `kind`.
    pub fields: Map<String, Value>,
    /// Where it stands.
    pub place: Place,
}

impl Document {
    /// Its name; empty when there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.fields.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// As the server takes it: the fields and the kind.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let kind = serde_json::to_value(self.kind).unwrap_or_default();
        let fields = self.fields.iter().map(|(name, value)| (name.clone(), value.clone()));
        Value::Object(std::iter::once(("kind".to_owned(), kind)).chain(fields).collect())
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Line from 1, where it is known.
    pub line: Option<u32>,
    /// Column from 1, in characters, where it is known.
    pub column: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        let numbers = self.line.into_iter().chain(self.column.filter(|_| self.line.is_some()));
        numbers.into_iter().try_for_each(|number| write!(f, ":{number}"))
    }
}

/// A file that an automator uses on nodes: a script, a cookbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceFile {
    /// The automator type, such as `shell`.
    pub plugin: String,
    /// The automator type's word for this sort of file, such as `scripts`.
    pub kind: String,
    /// Its name, as services refer to it.
    pub name: String,
    /// What it holds.
    pub content: Vec<u8>,
}

impl fmt::Display for ResourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.plugin, self.kind, self.name)
    }
}
