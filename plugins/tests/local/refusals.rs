//! What is refused, and in which words.

use cooperage_domain::task::TaskName;
use cooperage_plugins::Provider;
use serde_json::{Map, Value, json};

use crate::lab::{IMAGE, Lab, task, task_with};

async fn refused(lab: &Lab, flavor: &str, image: &str, fields: Value) -> String {
    let fields: Map<_, _> = fields.as_object().cloned().unwrap();
    let fault =
        lab.provider.create(&task_with(TaskName::Create, "a", flavor, image, fields)).await.unwrap_err();
    assert_eq!(fault.status, 200, "{fault}");
    fault.message
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_given_is_refused_before_anything_is_made() {
    let Some(lab) = Lab::new().await else { return };
    let message = refused(&lab, "huge", IMAGE, json!({})).await;
    assert!(message.contains("\"huge\"") && message.contains("2cpu-4g"), "{message}");
    let message = refused(&lab, "small", "plan9", json!({})).await;
    assert!(message.contains("\"plan9\"") && message.contains("cooperage image build"), "{message}");
    let message = refused(&lab, "small", IMAGE, json!({"bridge": "lo"})).await;
    assert!(message.contains("bridge lo") && message.contains("another name"), "{message}");

    let routes = std::process::Command::new("ip").args(["-4", "route", "show", "default"]).output().unwrap();
    let routes = String::from_utf8(routes.stdout).unwrap();
    let gateway = routes.split_whitespace().nth(2).map(str::to_owned);
    if let Some([a, b, ..]) =
        gateway.as_deref().map(|address| address.split('.').collect::<Vec<_>>()).as_deref()
    {
        let message = refused(&lab, "small", IMAGE, json!({"network": format!("{a}.{b}.0.0/16")})).await;
        assert!(message.contains("shares addresses") || message.contains("is not private"), "{message}");
    }
    assert_eq!(lab.provider.machines().await.unwrap(), []);
    assert_eq!(lab.leftovers(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_keeps_the_network_of_its_machines() {
    let Some(lab) = Lab::new().await else { return };
    lab.machine("one").await;
    let order = |fields: Value| {
        task_with(TaskName::Create, "two", "small", IMAGE, fields.as_object().cloned().unwrap())
    };
    let bridges = std::fs::read_dir("/run/cooperage/local").unwrap().flatten();
    let state = lab.settings.state_dir.display().to_string();
    let mine = bridges
        .map(|entry| entry.path())
        .find(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(&state)));
    let bridge = mine.unwrap().file_stem().unwrap().to_str().unwrap().to_owned();
    let wish = order(json!({"bridge": bridge, "network": "192.168.254.0/24"}));
    let fault = lab.provider.create(&wish).await.unwrap_err();
    assert_eq!(fault.status, 200);
    assert!(fault.message.contains("is not the network of bridge"), "{fault}");
    let fault = lab.provider.confirm(&task(TaskName::Confirm, "two")).await.unwrap_err();
    assert!(fault.message.contains("is not there") && fault.message.contains("create it first"), "{fault}");
}
