//! What the server says is what its own description says.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::server::Answer;

/// The description, as the server gives it.
pub struct Description {
    document: Value,
}

impl Description {
    /// That of a server's.
    pub fn new(document: Value) -> Self {
        Self { document }
    }

    /// Fails when a success on the port for people looks otherwise than it is described.
    #[track_caller]
    pub fn check(&self, method: &str, path: &str, answer: &Answer) {
        if answer.status != 200 || !answer.content_type.starts_with("application/json") {
            return;
        }
        let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
        let Some(described) = self.path(path) else { return };
        let said = &self.document["paths"][&described][method.to_lowercase()]["responses"]["2XX"];
        let schema = &said["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{method} {described} gives JSON and does not say so");
        // What it refers to is found below the same key as in the description.
        let schema = json!({ "allOf": [schema], "components": self.document["components"] });
        let validator = jsonschema::validator_for(&schema).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&answer.json())
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{method} {described}: {}\n{}", faults.join("\n"), answer.text);
    }

    /// The described path that a path is one of: with as few names as possible.
    fn path(&self, path: &str) -> Option<String> {
        let fits = |described: &&String| {
            let (mut parts, mut theirs) = (path.split('/'), described.split('/'));
            loop {
                match (parts.next(), theirs.next()) {
                    (None, None) => return true,
                    (Some(part), Some(their)) if part == their || their.starts_with('{') => {}
                    _ => return false,
                }
            }
        };
        let all = self.document["paths"].as_object()?.keys();
        all.filter(fits).min_by_key(|described| described.matches('{').count()).cloned()
    }
}

/// The description that all servers of this build give; asked for once.
pub static DESCRIPTION: OnceLock<Description> = OnceLock::new();
