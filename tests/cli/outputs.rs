//! Every noun in every form.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::terminal::Terminal;

/// What shows something, and a name that `-o name` must give.
const COMMANDS: [(&str, &str); 29] = [
    ("cluster list", "00000001"),
    ("cluster show farm", "00000001"),
    ("cluster status farm", "00000001"),
    ("cluster nodes farm", ""),
    ("cluster services farm", "web"),
    ("cluster config farm", "web"),
    ("cluster plan farm", "00000001-002"),
    ("cluster jobs farm", "00000001-002"),
    ("cluster lease farm", "00000001"),
    ("node list", ""),
    ("template list", "farm"),
    ("template show farm", "farm"),
    ("template resolve farm", "farm"),
    ("partial list", ""),
    ("service list", "worker"),
    ("service show web", "web"),
    ("provider list", "sim"),
    ("provider show sim --secrets", "sim"),
    ("hardware list", "small"),
    ("image list", "plain"),
    ("plugin list", "simulated"),
    ("plugin show shell", "shell"),
    ("resource list", ""),
    ("tenant list", "superadmin"),
    ("tenant show superadmin", "superadmin"),
    ("provisioner list", ""),
    ("queue list", "superadmin"),
    ("export", "service/web"),
    ("status", ""),
];

/// What is left of a lease is less at every look.
fn forget_time_left(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget_time_left),
        Value::Object(entries) => {
            entries.remove("expiresIn");
            entries.values_mut().for_each(forget_time_left);
        }
        _ => {}
    }
}

/// Names of columns stand in capitals.
fn headings_of(table: &str) -> BTreeSet<&str> {
    let first = table.lines().next().unwrap_or_default();
    first.split_whitespace().filter(|word| word.chars().all(char::is_uppercase)).collect()
}

#[test]
fn everything_is_shown_in_every_form() {
    let terminal = Terminal::new();
    terminal.types("cluster create farm -t farm -n 3 -q").ok();
    for (line, name) in COMMANDS {
        let said = |form: &str| terminal.types(&format!("{line} -o {form}")).ok();
        let timeless = |mut value: Value| {
            forget_time_left(&mut value);
            value
        };
        let json = timeless(serde_json::from_str(&said("json")).unwrap_or_else(|it| panic!("{line}: {it}")));
        let yaml =
            timeless(serde_saphyr::from_str(&said("yaml")).unwrap_or_else(|it| panic!("{line}: {it}")));
        // What counts time differs from one look to the next.
        if line != "status" && !line.starts_with("cluster plan") && !line.starts_with("cluster jobs") {
            assert_eq!(json, yaml, "{line}");
        }
        let (table, wide, names) = (said("table"), said("wide"), said("name"));
        assert!(!table.is_empty() && !table.starts_with(['{', '[']), "{line}: {table}");
        // Not by their length: what counts time may have got a digit more.
        assert!(headings_of(&table).is_subset(&headings_of(&wide)), "{line}: {table} {wide}");
        assert!(name.is_empty() || names.lines().any(|line| line == name), "{line}: {names}");
        assert!(!table.contains('\u{1b}') && !names.contains(' '), "{line}: {table} {names}");
    }
    let headings = |line: &str| terminal.types(line).lines().remove(0);
    assert!(
        !headings("node list").contains("HARDWARE") && headings("node list -o wide").contains("HARDWARE")
    );
    let profile = terminal.types("profile set ui.theme=dark ui.rows=50 -o json").json();
    assert_eq!(profile["ui"]["rows"], 50);
    terminal.types("profile set --unset ui.rows").ok();
    assert_eq!(terminal.types("profile show").ok(), "ui:\n  theme: dark\n");
    terminal.types("profile delete --yes").ok();
    terminal.types("profile show").fails(3, "you have no profile");
}

#[test]
fn machine_time_and_nodes_are_shown_as_asked_for() {
    let terminal = Terminal::new();
    terminal.types("cluster create farm -t farm -n 3 -q").ok();
    let used = terminal.types("usage --cluster farm --by year --unit seconds --from 400d -o json").json();
    assert!(!used["data"].as_array().unwrap().is_empty(), "{used}");
    assert!(terminal.types("usage --unit hours").ok().starts_with("FROM"));
    assert_eq!(terminal.types("node list --service web -o name").lines().len(), 1);
    assert_eq!(terminal.types("node list --cluster farm --service worker -o name").lines().len(), 2);
    let id = terminal.types("node list --service web -o name").lines().remove(0);
    assert_eq!(terminal.types(&format!("node show {id} -o json")).json()["properties"]["nodenum"], 1000);
    terminal.types(&format!("node delete {id} --yes")).fails(1, "belongs to cluster 00000001");
    let file = terminal.file("node.yaml", "id: rack7-3\nservices: []\n");
    terminal.types(&format!("node register -f {}", file.display())).ok();
    assert!(terminal.types("node list -o name").lines().contains(&"rack7-3".to_owned()));
    terminal.types("node delete rack7-3 --yes").ok();
    terminal.types("node show rack7-3").fails(3, "rack7-3");
}

#[test]
fn what_is_watched_is_written_anew_when_it_changes() {
    let terminal = Terminal::new();
    let mut command = terminal.at_the_server();
    command.args(["cluster", "list", "--watch=1s", "-o", "json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next(), serde_json::json!([]));
    terminal.types("cluster create farm -t farm -n 2 --no-wait").ok();
    loop {
        let seen = next();
        assert_eq!(seen[0]["name"], "farm");
        if seen[0]["status"] == "active" {
            break;
        }
    }
    let told = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
