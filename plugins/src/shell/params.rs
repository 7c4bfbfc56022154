//! What a script is told, as shell assignments: facts of the node, and the cluster's configuration laid flat.

use std::fmt::Write;

use cooperage_domain::task::TaskOrder;
use serde_json::Value;

/// A file that a script's shell reads first: `export NAME='value'` per line, for the whole [`environment`].
#[must_use]
pub fn render(order: &TaskOrder) -> String {
    let mut text = String::from("# Written for one execution of one task.\n");
    for (name, value) in environment(order) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "export {name}={}", quote(&value));
    }
    text
}

/// What a script finds in its environment.
///
/// `CLUSTER_ID`, `NODE_ID`, `NODE_NUM`, `NODE_HOSTNAME`, `NODE_IP` (where services listen), `NODE_ACCESS_IP` (where the
/// node is reached), `SERVICE`, `ACTION` (lower case), `ATTEMPT`, and for every text, number or boolean in the cluster's
/// configuration `CONFIG_` and its path: `{"web": {"port": 80}}` becomes `CONFIG_WEB_PORT='80'`. The values that the service
/// declares to take are there as `INPUT_` and their names as well.
#[must_use]
pub fn environment(order: &TaskOrder) -> Vec<(String, String)> {
    let node = &order.config.node;
    let address = |kind: &str| node.ipaddresses.get(kind).map(String::as_str).unwrap_or_default();
    let bind = if address("bind_v4").is_empty() { address("access_v4") } else { address("bind_v4") };
    let mut environment = Vec::new();
    let mut export = |name: &str, value: &str| environment.push((name.to_owned(), value.to_owned()));
    export("CLUSTER_ID", &order.cluster_id.to_string());
    export("NODE_ID", order.node_id.as_str());
    export("NODE_NUM", &node.nodenum.to_string());
    export("NODE_HOSTNAME", node.hostname.as_deref().unwrap_or_default());
    export("NODE_IP", bind);
    export("NODE_ACCESS_IP", address("access_v4"));
    export("SERVICE", order.config.service.as_ref().map(|s| s.name.as_str()).unwrap_or_default());
    export("ACTION", &order.task_name.as_str().to_lowercase());
    export("ATTEMPT", &order.attempt.to_string());
    for (key, value) in order.config.service.iter().flat_map(|service| &service.inputs) {
        flatten(&format!("INPUT_{}", variable(key)), value, &mut export);
    }
    for (key, value) in &order.config.cluster {
        flatten(&format!("CONFIG_{}", variable(key)), value, &mut export);
    }
    environment
}

fn flatten(name: &str, value: &Value, export: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Null => {}
        Value::String(text) => export(name, text),
        Value::Bool(_) | Value::Number(_) => export(name, &value.to_string()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&format!("{name}_{index}"), item, export);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                flatten(&format!("{name}_{}", variable(key)), item, export);
            }
        }
    }
}

/// A key as part of a variable's name: upper case, anything but letters and digits becomes `_`.
fn variable(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

/// A text as one word of the shell, whatever is in it.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cooperage_domain::id::{ClusterId, JobId, NodeId, TaskId};
    use cooperage_domain::task::{TaskConfig, TaskName};
    use serde_json::json;

    #[test]
    fn configuration_is_laid_flat_and_quoted() {
        let job = JobId { cluster: ClusterId(7), number: 2 };
        let mut config = TaskConfig::default();
        config.node.hostname = Some("web7-1000.local".into());
        config.node.ipaddresses.insert("access_v4".into(), "10.0.0.9".into());
        let cluster = json!({"web": {"port": 80, "title": "it's $HOME", "tags": ["a", true]}, "x-y": null});
        config.cluster = cluster.as_object().unwrap().clone();
        let order = TaskOrder {
            task_id: TaskId { job, number: 3 },
            job_id: job,
            cluster_id: ClusterId(7),
            task_name: TaskName::Install,
            node_id: NodeId("n1".into()),
            attempt: 2,
            config,
        };
        let text = render(&order);
        for line in [
            "export CLUSTER_ID='00000007'",
            "export ACTION='install'",
            "export ATTEMPT='2'",
            "export NODE_IP='10.0.0.9'",
            "export CONFIG_WEB_PORT='80'",
            r"export CONFIG_WEB_TITLE='it'\''s $HOME'",
            "export CONFIG_WEB_TAGS_0='a'",
            "export CONFIG_WEB_TAGS_1='true'",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in:\n{text}");
        }
        assert!(!text.contains("X_Y"));
    }
}
