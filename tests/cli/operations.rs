//! What operators do: plugin resources, tenants, other users.

use serde_json::json;

use crate::terminal::{Terminal, ran};

#[test]
fn resources_are_uploaded_used_and_taken_back() {
    let terminal = Terminal::new();
    let statuses = || -> Vec<String> {
        let all = terminal.types("resource show shell/scripts/a.sh -o json").json();
        let mut all = all.as_array().unwrap().clone();
        all.sort_by_key(|it| it["version"].as_u64());
        all.iter().map(|it| it["status"].as_str().unwrap().to_owned()).collect()
    };
    terminal.file("a.sh", "one\n");
    let name = terminal.types("resource upload a.sh shell/scripts/a.sh --sync -o name").ok();
    assert_eq!(name, "shell/scripts/a.sh\n");
    assert_eq!(statuses(), ["active"]);
    terminal.file("a.sh", "two\n");
    terminal.types("resource upload a.sh shell/scripts/a.sh").ok();
    assert_eq!(statuses(), ["active", "inactive"]);
    terminal.types("resource stage shell/scripts/a.sh").ok();
    assert_eq!(statuses()[1], "staged");
    terminal.types("resource sync").ok();
    assert_eq!(statuses(), ["inactive", "active"]);
    assert_eq!(terminal.types("resource download shell/scripts/a.sh").ok(), "two\n");
    terminal.types("resource download shell/scripts/a.sh --version 1 --to old.sh").ok();
    assert_eq!(std::fs::read_to_string(terminal.home().join("old.sh")).unwrap(), "one\n");
    assert_eq!(
        terminal.types("resource list shell/scripts --status active -o name").ok(),
        "shell/scripts/a.sh\n"
    );
    terminal.types("resource recall shell/scripts/a.sh --sync").ok();
    assert_eq!(statuses(), ["inactive", "inactive"]);
    terminal.types("resource show shell/scripts/a.sh --side provider").fails(3, "there is no resource");
    terminal.types("resource download shell/scripts/a.sh --version 7").fails(3, "there are: 1, 2");
    terminal.types("resource upload a.sh shell/pictures/a.sh").fails(3, "cooperage plugin list");
    terminal.types("resource delete shell/scripts/a.sh --version 1 --yes").ok();
    assert_eq!(statuses().len(), 1);
    terminal.types("resource delete shell/scripts/a.sh --yes").ok();
    assert_eq!(terminal.types("resource list -o name").ok(), "");
}

#[test]
fn plugin_types_are_deleted_by_version() {
    let terminal = Terminal::new();
    let types = |line: &str| terminal.types(line);
    types("plugin delete simulated --yes").fails(1, "--side provider or --side automator");
    types("plugin delete simulated --side provider --version 1 --yes").ok();
    assert_eq!(
        types("plugin list --side provider -o name").lines().iter().filter(|it| *it == "simulated").count(),
        0
    );
    types("plugin show simulated").ok();
}

#[test]
fn tenants_are_made_changed_and_removed() {
    let terminal = Terminal::new();
    let made = terminal.types("tenant create dept --max-nodes 7 --bootstrap -o json").json();
    assert_eq!((&made["maxNodes"], &made["workers"]), (&json!(7), &json!(0)));
    let set = terminal.types("tenant set dept --max-clusters 2 -o json").json();
    assert_eq!((&set["maxNodes"], &set["maxClusters"]), (&json!(7), &json!(2)));
    terminal.types("tenant create dept").fails(1, "already exists");
    assert_eq!(terminal.types("tenant delete dept --yes -o json").json(), json!({"name": "dept"}));
    assert_eq!(terminal.types("tenant list -o name").ok(), "superadmin\n");
}

#[test]
fn a_command_asks_before_it_destroys_and_prompts_nobody_who_is_not_there() {
    let terminal = Terminal::new();
    let mut command = terminal.at_the_server();
    // A pipe is nobody, whatever it says.
    let refused = ran(command.args(["service", "delete", "web"]), "y\n");
    refused.fails(1, "use --yes");
    assert_eq!(terminal.types("service list -o name").lines(), ["web", "worker"]);
}
