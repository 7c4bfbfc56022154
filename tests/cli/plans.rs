//! Looking at changes before they are made, and at what was made.

use serde_json::json;

use crate::terminal::Terminal;

fn farm() -> Terminal {
    let terminal = Terminal::new();
    terminal.types("cluster create farm -t farm -n 3 --timeout 1m").ok();
    terminal
}

#[test]
fn every_change_can_be_planned_kept_and_carried_out() {
    let terminal = farm();
    let revision =
        |terminal: &Terminal| terminal.types("cluster show farm -o json").json()["revision"].clone();
    let before = revision(&terminal);
    for change in [
        "restart farm",
        "stop farm web",
        "start farm",
        "delete farm",
        "lease farm --by 1m",
        "config farm --set web.port=81",
        "pause farm",
        "resume farm",
        "abort farm",
        "sync farm",
    ] {
        let planned = terminal.types(&format!("cluster {change} --plan"));
        assert!(planned.out.contains("as of revision"), "{change}: {planned:?}");
        assert!(planned.err.contains("Nothing was changed"), "{change}: {planned:?}");
    }
    let told = terminal.types("cluster delete farm --plan").ok();
    assert!(told.contains("Cannot be undone:") && told.contains("- node farm1-"), "{told}");
    assert_eq!(revision(&terminal), before);
    let file = terminal.file("plan.json", "");
    let place = file.display();
    terminal.types(&format!("cluster restart farm --plan --save {place}")).ok();
    terminal.types(&format!("cluster apply-plan farm {place} --timeout 1m")).ok();
    let again = terminal.types(&format!("cluster apply-plan farm {place}"));
    assert!(again.err.contains("carried out by admin") && again.err.contains("remedy"), "{again:?}");
}

#[test]
fn drafts_go_from_hand_to_hand() {
    let terminal = farm();
    let made = terminal.types("cluster draft create farm configure --set web.port=81 --title port -o name");
    assert_eq!(made.ok().trim(), "1");
    let shown = terminal.types("cluster draft show farm 1").ok();
    assert!(shown.contains("draft 1: port") && shown.contains("~ config web.port: 80 -> 81"), "{shown}");
    terminal.types("cluster draft edit farm 1 --set web.port=82").ok();
    terminal.types("cluster config farm --set web.name=x --no-restart --timeout 1m").ok();
    let committed = terminal.types("cluster draft commit farm 1 --yes --timeout 1m");
    assert!(committed.err.contains("moved on") && committed.err.contains("config web.name"), "{committed:?}");
    assert_eq!(
        terminal.types("cluster config farm -o json").json(),
        json!({"web": {"port": 82, "name": "x"}})
    );
    let file = terminal.file("change.yaml", "operation: stop_services\nservice: web\n");
    terminal.types(&format!("cluster draft create farm -f {}", file.display())).ok();
    assert_eq!(terminal.types("cluster draft list farm -o json").json().as_array().unwrap().len(), 2);
    terminal.types("cluster draft delete farm 2").ok();
    assert!(terminal.types("cluster draft list farm").ok().contains("configure"));
}

#[test]
fn the_past_is_looked_at_by_revision_job_and_time() {
    let terminal = farm();
    terminal.types("cluster config farm --set web.port=81 --timeout 1m").ok();
    let history = terminal.types("cluster history farm --kind config_replaced -o json").json();
    let revision = history[0]["revision"].as_u64().unwrap();
    let before = terminal.types(&format!("cluster show farm --at {} -o json", revision - 1)).json();
    assert_eq!(before["config"]["web"]["port"], 80);
    let job = terminal.types("cluster show farm --at 00000001-002 -o json").json();
    assert_eq!(job["revision"], before["revision"]);
    let different = terminal.types("cluster diff farm 00000001-002").ok();
    assert!(different.contains("~ config web.port: 80 -> 81"), "{different}");
    assert!(terminal.types("cluster history farm --limit 2").err.contains("--before"));
    let replayed = terminal.types("replay --all").ok();
    assert!(replayed.contains("the same"), "{replayed}");
}
