//! Exit codes, and what is said beside them.

use serde_json::json;

use crate::terminal::Terminal;

#[test]
fn failures_are_told_apart_by_their_codes() {
    let terminal = Terminal::new();
    for (line, code, words) in [
        ("cluster show none", 3, "cooperage cluster list"),
        ("cluster plan 00000009", 3, "there is no cluster"),
        ("template show none", 3, "use one of: farm"),
        ("template show farm --version 9", 3, "its newest is 1"),
        ("service delete none --yes", 3, "use one of: web, worker"),
        ("tenant show none", 3, "none"),
        ("resource show shell/scripts/none", 3, "there is no resource"),
        ("plugin show none", 3, "use one of: "),
        ("cluster create farm -t none -n 2", 3, "use one of: farm"),
        ("cluster create farm -t farm -n 50", 1, "remedy"),
        ("cluster create farm -t farm -n 2 --timeout soon", 2, "--timeout"),
        ("cluster list --status wrong", 2, "active"),
        ("cluster list --watch=soon", 2, "--watch"),
        ("cluster lisst", 2, "list"),
        ("status --token-file /dev/null", 4, "token"),
        ("service delete web", 1, "--yes"),
        ("status --context none", 3, "cooperage context set"),
        ("man cluster none", 3, "use one of: create"),
    ] {
        terminal.types(line).fails(code, words);
    }
    assert_eq!(terminal.types("cluster list --all -o name").ok(), "", "nothing was created");
    assert_eq!(terminal.types("service list -o name").lines(), ["web", "worker"], "nothing was deleted");
}

#[test]
fn a_server_that_is_not_there_is_told_apart() {
    let terminal = Terminal::new();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    terminal.types(&format!("status --server http://{nobody}")).fails(5, "cooperage serve");
}

#[test]
fn a_job_that_fails_is_told_apart_from_one_that_takes_long() {
    let fault = json!([{"task": "INSTALL", "service": "web", "attempts": 1, "code": 7}]);
    let terminal = Terminal::with_faults(&fault);
    let ran = terminal.types("cluster create farm -t farm -n 2 --timeout 1m");
    assert!(
        ran.err.contains("INSTALL web") && ran.err.contains("cooperage cluster retry 00000001"),
        "{ran:?}"
    );
    assert!(!ran.err.contains('\u{1b}'), "no colours without a terminal: {ran:?}");
    ran.fails(6, "failed");
    terminal.types("cluster wait farm").fails(6, "failed");
    terminal.types("cluster wait farm --for active --timeout 1s").fails(7, "not active yet");
    terminal.types("cluster delete farm --yes").ok();
    terminal.types("cluster wait 00000001 --for active").fails(6, "terminated");
}
