//! What `-o name` prints: a line for each thing, that other commands take as its name.

use cooperage_domain::entity::Kind;
use serde_json::Value;

/// What things are called by: by id where they have one, else by name; with their kind where kinds are mixed. A map of things
/// is called by its keys; what is no thing has no name.
#[must_use]
pub fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().flat_map(names).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Object(fields) => {
            let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            let is_map = fields.values().all(Value::is_object);
            match (text("id").or_else(|| text("clusterid")), text("kind"), text("name")) {
                (Some(id), ..) => vec![id.to_owned()],
                (None, Some(kind), Some(name)) => vec![format!("{kind}/{name}")],
                (None, None, Some(name)) => vec![name.to_owned()],
                (None, _, None) if is_map => fields.keys().cloned().collect(),
                (None, _, None) => Vec::new(),
            }
        }
    }
}

/// What an entity is called where kinds are mixed, such as `service/nginx`.
#[must_use]
pub fn of_entity(kind: Kind, name: &str) -> String {
    format!("{}/{name}", kind.plural().trim_end_matches('s'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn things_are_called_by_id_then_by_name_then_by_key() {
        for (value, expected) in [
            (json!([{"id": "00000001", "name": "shop"}, {"id": "00000002"}]), vec!["00000001", "00000002"]),
            (json!([{"name": "web", "version": 3}]), vec!["web"]),
            (json!([{"kind": "service", "name": "nginx"}]), vec!["service/nginx"]),
            (json!(["nginx", "redis"]), vec!["nginx", "redis"]),
            (json!({"superadmin": {"queued": 1}}), vec!["superadmin"]),
            (json!({"clusterid": "00000001", "status": "active"}), vec!["00000001"]),
            (json!({"server": "http://127.0.0.1", "clusters": 3}), vec![]),
            (json!(7), vec!["7"]),
            (json!([null, []]), vec![]),
        ] {
            assert_eq!(names(&value), expected, "{value}");
        }
    }
}
