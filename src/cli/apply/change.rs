//! What becomes of one entity, as a difference line by line.

use console::style;
use cooperage_domain::entity::Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::difference;

/// What became, or would become, of one entity.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Change {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// `created`, `changed` or `unchanged`.
    pub change: String,
    /// The version it has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// What was stored before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What is stored now.
    #[serde(default)]
    pub after: Value,
}

impl Change {
    /// A heading, and every changed line with those around it, as YAML.
    #[must_use]
    pub fn render(&self) -> String {
        let version = self.version.map(|version| format!(" (version {version})")).unwrap_or_default();
        let sign = if self.before.is_some() { style("~").yellow() } else { style("+").green() };
        let heading = style(format!("{} {}", self.kind.noun(), self.name)).bold();
        let mut text = format!("{sign} {heading} {}{version}", self.change);
        for line in difference::of_entity(self.before.as_ref(), &self.after) {
            text.push_str("\n    ");
            text.push_str(&line);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::golden::assert_golden;

    fn change(change: &str, before: Option<Value>, after: Value) -> Change {
        Change {
            kind: Kind::Service,
            name: "nginx".into(),
            change: change.into(),
            version: Some(2),
            before,
            after,
        }
    }

    #[test]
    fn a_change_is_shown_with_the_lines_around_it_whatever_the_order_of_keys() {
        let before = json!({
            "name": "nginx", "description": "Web server", "icon": "n",
            "dependencies": {"provides": ["web"], "conflicts": []},
            "provisioner": {"actions": {"install": {"type": "shell", "fields": {"script": "a.sh"}}}},
        });
        let after = json!({
            "description": "Web server", "name": "nginx", "label": "nginx", "icon": "n",
            "dependencies": {"conflicts": [], "provides": ["web"]},
            "provisioner": {"actions": {"install": {"type": "shell", "fields": {"script": "b.sh", "args": "now"}}}},
        });
        let text = format!(
            "{}\n{}\n",
            change("changed", Some(before), after).render(),
            change("created", None, json!({"name": "nginx", "links": [{"url": "http://x"}]})).render()
        );
        assert_golden("src/cli/apply/golden/change.txt", &text);
    }

    #[test]
    fn the_same_in_another_order_is_no_difference() {
        let one = change("unchanged", Some(json!({"a": 1, "b": 2})), json!({"b": 2, "a": 1})).render();
        assert_eq!(one.lines().count(), 1);
    }
}
