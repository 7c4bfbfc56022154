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

#[test]
fn users_and_tokens_are_made_and_a_token_says_who_one_is() {
    let terminal = Terminal::new();
    terminal.types("tenant create dept --workers 0").ok();
    let mut create = terminal.at_the_server();
    create.args([
        "user",
        "create",
        "ann",
        "--role",
        "admin",
        "--in",
        "dept",
        "--password-stdin",
        "-o",
        "json",
    ]);
    let ann = ran(&mut create, "correct horse battery\n").json();
    assert_eq!((&ann["role"], &ann["hasPassword"]), (&json!("admin"), &json!(true)));
    terminal.types("user create ben --role root").fails(1, "superadmin");
    assert_eq!(terminal.types("user list --in dept -o name").ok(), "ann\n");

    terminal.types("token create --for ann --in dept --scope clusters --expires 1h --save ann.token").ok();
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(terminal.home().join("ann.token")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    terminal.types("user list --token-file ann.token").fails(4, "scopes");
    terminal.types("cluster list --token-file ann.token").ok();
    let tokens = terminal.types("token list --in dept -o json").json();
    assert_eq!((&tokens[0]["user"], &tokens[0]["counts"]), (&json!("ann"), &json!(true)));
    terminal.types(&format!("token revoke {} --in dept", tokens[0]["id"].as_str().unwrap())).ok();
    terminal.types("cluster list --token-file ann.token").fails(4, "revoked");

    terminal.types("token create --for nobody --in dept --save lost.token").fails(3, "nobody");
    assert!(!terminal.home().join("lost.token").exists(), "nothing is left of what was refused");
    assert_eq!(terminal.types("whoami -o json").json()["role"], "superadmin");
    terminal.types("user set ann --in dept --role reader --disabled true").ok();
    terminal.types("user delete ann --in dept --yes").ok();
    assert_eq!(terminal.types("user list --in dept -o name").ok(), "");
}
