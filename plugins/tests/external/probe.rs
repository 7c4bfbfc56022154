//! What programs find out about machines and services, and those that cannot.

use cooperage_domain::health::Finding;
use serde_json::json;

use crate::rig::{Rig, order};

const TELLS: &str = r#"#!/bin/sh
read -r order
case $order in
  *'"taskName":"PROBE"'*) ;;
  *) exit 9 ;;
esac
case $order in
  *'"nodeId":"well"'*) echo '{"result": {"result": {"health": "up"}}}' ;;
  *'"nodeId":"lost"'*) echo '{"result": {"result": {"health": "gone", "reason": "no such instance"}}}' ;;
  *'"nodeId":"ill"'*) echo '{"result": {"result": {"health": "down", "reason": "stopped, says hunter2-secret"}}}' ;;
  *) echo '{"result": {"status": 1, "message": "the cloud is away"}}' ;;
esac
"#;

#[tokio::test]
async fn a_program_that_can_tell_is_asked_and_believed() {
    let rig = Rig::new().with_prober(TELLS);
    let secret = json!({"token": "hunter2-secret"});
    let ask = |node: &str| rig.probe(order("PROBE", node, "acme", &secret, &json!({})));
    assert_eq!(ask("well").await, Finding::Up);
    assert_eq!(ask("lost").await, Finding::Gone("no such instance".to_owned()));
    assert!(matches!(ask("ill").await, Finding::Down(reason) if reason.starts_with("stopped")));
    assert!(matches!(ask("n").await, Finding::Unknown(reason) if reason.contains("the cloud is away")));
}

#[tokio::test]
async fn one_that_does_not_know_how_is_not_run() {
    let rig = Rig::new();
    let trace = rig.open().join("ran");
    let rig = rig.with_script(&format!("#!/bin/sh\ntouch {}\n", trace.display()));
    let found = rig.probe(order("PROBE", "n", "acme", &json!({}), &json!({}))).await;
    assert!(matches!(&found, Finding::Unknown(why) if why.contains("\"probe\": true")), "{found:?}");
    assert!(!trace.exists());
}
