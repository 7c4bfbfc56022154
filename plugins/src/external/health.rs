//! What a program found out about a machine or a service. A pure reader of its result.

use cooperage_domain::health::Finding;
use cooperage_domain::task::TaskReport;

/// What the result of a PROBE says: `health` is `up`, `down`, `gone` (a machine only) or `unknown`, `reason` a sentence.
pub(super) fn finding(plugin: &str, report: &TaskReport) -> Finding {
    let text = |key: &str| report.result.get(key).and_then(|value| value.as_str()).unwrap_or_default();
    let reason = match text("reason").trim() {
        "" => format!("plugin {plugin} says so"),
        reason => reason.to_owned(),
    };
    match text("health") {
        "up" => Finding::Up,
        "down" => Finding::Down(reason),
        "gone" => Finding::Gone(reason),
        "unknown" => Finding::Unknown(reason),
        other => Finding::Unknown(format!(
            "plugin {plugin} found {other:?}; result.health must be up, down, gone or unknown"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_said_plainly_is_believed() {
        let says = |result| {
            finding("acme", &serde_json::from_value(json!({"status": 0, "result": result})).unwrap())
        };
        assert_eq!(says(json!({"health": "up", "reason": "?"})), Finding::Up);
        assert_eq!(says(json!({"health": "down", "reason": "stopped"})), Finding::Down("stopped".to_owned()));
        assert_eq!(says(json!({"health": "gone"})), Finding::Gone("plugin acme says so".to_owned()));
        for vague in [json!({}), json!({"health": "unknown"}), json!({"health": "UP"}), json!({"health": 1})]
        {
            assert!(matches!(says(vague.clone()), Finding::Unknown(_)), "{vague}");
        }
    }
}
