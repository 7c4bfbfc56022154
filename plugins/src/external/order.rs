//! What a program is given on its standard input: Coopr's task, and a few things it could not know otherwise.

use std::path::Path;

use cooperage_domain::task::{TaskName, TaskOrder};
use serde_json::{Value, json};

/// The key of one execution: the same whenever the same order is given again, and another one for another attempt.
///
/// A node's bootstrap is carried out by all its automators, each with a key of its own.
pub(super) fn idempotence_key(plugin: &str, order: &TaskOrder) -> String {
    let key = format!("{}-{}", order.task_id, order.attempt);
    if order.task_name == TaskName::Bootstrap { format!("{key}-{plugin}") } else { key }
}

/// The order as a program reads it.
///
/// `server_key` is the public half of the key that the server logs in to machines with; `identity` is where the program
/// finds the private one, in place of the server's own file.
pub(super) fn written(
    plugin: &str,
    order: &TaskOrder,
    server_key: Option<&str>,
    identity: Option<&Path>,
) -> Value {
    let mut written = json!(order);
    written["idempotenceKey"] = idempotence_key(plugin, order).into();
    if let Some(key) = server_key {
        written["serverKey"] = key.into();
    }
    if let (Some(path), Some(Value::Object(auth))) = (identity, written["config"].get_mut("ssh-auth")) {
        auth.insert("identityfile".to_owned(), path.to_string_lossy().into());
    }
    written
}

/// Whether a machine is logged in to with the server's own key.
pub(super) fn uses_identity(order: &TaskOrder, identity: &Path) -> bool {
    let auth = order.config.results.get("ssh-auth");
    auth.and_then(|auth| auth.get("identityfile")?.as_str()).is_some_and(|file| Path::new(file) == identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(name: &str) -> TaskOrder {
        serde_json::from_value(json!({
            "taskId": "00000001-002-003", "jobId": "00000001-002", "clusterId": "00000001", "taskName": name,
            "nodeId": "n", "attempt": 2, "config": {"ssh-auth": {"user": "root", "identityfile": "/data/identity"}},
        }))
        .unwrap()
    }

    #[test]
    fn an_execution_has_one_key_however_often_it_is_asked_for() {
        assert_eq!(idempotence_key("acme", &order("CREATE")), "00000001-002-003-2");
        assert_eq!(idempotence_key("acme", &order("BOOTSTRAP")), "00000001-002-003-2-acme");
    }

    #[test]
    fn it_is_coopr_s_task_with_the_key_and_a_file_that_can_be_read() {
        let order = order("INSTALL");
        assert!(uses_identity(&order, Path::new("/data/identity")));
        assert!(!uses_identity(&order, Path::new("/other")));
        let written =
            written("acme", &order, Some("ssh-ed25519 AAAA"), Some(Path::new("/run/lent/identity")));
        assert_eq!((&written["taskName"], &written["attempt"]), (&json!("INSTALL"), &json!(2)));
        assert_eq!(written["idempotenceKey"], "00000001-002-003-2");
        assert_eq!(written["serverKey"], "ssh-ed25519 AAAA");
        assert_eq!(
            written["config"]["ssh-auth"],
            json!({"user": "root", "identityfile": "/run/lent/identity"})
        );
    }
}
