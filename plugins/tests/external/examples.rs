//! The plugins of the book.

use std::fs;
use std::net::TcpListener;

use cooperage_plugins::Stream;
use cooperage_plugins::resources::Side;
use serde_json::{Value, json};

use crate::rig::{Rig, order};

#[tokio::test]
async fn the_one_in_python_lends_each_machine_once_however_often_it_is_asked() {
    let rig = Rig::new().with_example("host-list");
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = door.local_addr().unwrap().port().to_string();
    let fields = json!({"hosts": "127.0.0.1 127.0.0.2", "state": rig.open(), "port": port});
    let ask =
        |task: &str, node: &str, more: Value| rig.execute(order(task, node, "host-list", &fields, &more));
    let made = ask("CREATE", "one", json!({})).await;
    assert_eq!((made.status, &made.result["providerid"]), (0, &json!("127.0.0.1")), "{made:?}");
    let auth = &made.result["ssh-auth"];
    assert!(auth["user"] == "root" && auth["identityfile"].as_str().unwrap().ends_with("/data/identity"));
    assert_eq!(ask("CREATE", "one", json!({})).await, made, "the same call again");
    assert_eq!(ask("CREATE", "two", json!({})).await.result["providerid"], "127.0.0.2");
    let full = ask("CREATE", "three", json!({})).await;
    assert!(full.status == 200 && full.stderr.contains("all 2 machines are lent"), "{full:?}");
    let up = ask("CONFIRM", "one", json!({"providerid": "127.0.0.1"})).await;
    assert_eq!((up.status, up.ipaddresses.unwrap()["access_v4"].as_str()), (0, "127.0.0.1"));
    for _ in 0..2 {
        assert_eq!(ask("DELETE", "one", json!({"providerid": "127.0.0.1"})).await.status, 0);
    }
    assert_eq!(ask("CREATE", "three", json!({})).await.result["providerid"], "127.0.0.1");
    let progress = rig.noted.of(Stream::Progress);
    assert!(progress.contains(&"127.0.0.1 is lent to one".to_owned()), "{progress:?}");
    let unwritable = json!({"hosts": "127.0.0.1", "state": "/proc/nowhere"});
    let refused = rig.execute(order("CREATE", "four", "host-list", &unwritable, &json!({}))).await;
    assert!(
        refused.status == 200 && refused.stderr.contains("/proc/nowhere"),
        "nothing was made: {refused:?}"
    );
}

#[tokio::test]
async fn the_one_in_shell_keeps_a_file_for_each_service_that_runs() {
    let rig = Rig::new().with_example("scrape-targets");
    rig.upload(Side::Automator, "scrape-targets", "labels", "common", br#"{"site": "lab"}"#);
    let ask = |task: &str, folder: Value| {
        let action = json!({"type": "scrape-targets", "fields": {"folder": folder, "port": "9100"}});
        let more =
            json!({"service": {"name": "web", "action": action}, "ipaddresses": {"access_v4": "192.0.2.7"}});
        rig.execute(order(task, "one", "scrape-targets", &json!({}), &more))
    };
    assert_eq!(ask("BOOTSTRAP", json!("")).await.status, 0);
    let open = json!(rig.open());
    for _ in 0..2 {
        let report = ask("START", open.clone()).await;
        assert_eq!(report.status, 0, "{report:?}");
    }
    let written: Value = serde_json::from_slice(&fs::read(rig.open().join("one-web.json")).unwrap()).unwrap();
    let labels = json!({"cluster": "00000001", "service": "web", "site": "lab"});
    assert_eq!(written, json!([{"targets": ["192.0.2.7:9100"], "labels": labels}]));
    let refused = ask("START", json!("/proc")).await;
    assert!(
        refused.status == 1 && refused.stderr.contains("Plugin scrape-targets failed: /proc is no folder"),
        "{refused:?}"
    );
    for _ in 0..2 {
        assert_eq!(ask("STOP", open.clone()).await.status, 0);
    }
    assert_eq!(fs::read_dir(rig.open()).unwrap().count(), 0);
}
