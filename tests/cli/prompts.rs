//! What somebody at a terminal is asked.

use std::process::Command;

use crate::terminal::{Ran, Terminal, ran};

/// Types a line at a terminal, and answers. What is shown is in the output.
fn at_terminal(terminal: &Terminal, line: &str, answer: &str) -> Ran {
    with_setting(terminal, "LC_ALL=C", line, answer)
}

/// The same, with something in the environment.
fn with_setting(terminal: &Terminal, setting: &str, line: &str, answer: &str) -> Ran {
    let mut command = Command::new("script");
    command.env_clear().env("HOME", terminal.home()).env("PATH", "/usr/bin:/bin").env("TERM", "xterm");
    command.env("COOPERAGE_SERVER", terminal.server.base());
    command.env("COOPERAGE_TOKEN_FILE", terminal.server.data_dir().join("admin.token"));
    let line = format!("{setting} {} {line}", env!("CARGO_BIN_EXE_cooperage"));
    ran(command.args(["-q", "-e", "-c", &line, "/dev/null"]), answer)
}

#[test]
fn what_cannot_be_undone_is_asked_for() {
    let terminal = Terminal::new();
    let refused = at_terminal(&terminal, "service delete web", "n\n");
    assert!(refused.out.contains("Delete service web with all its versions? [y/N]"), "{refused:?}");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_eq!(terminal.types("service list -o name").lines(), ["web", "worker"]);
    assert_eq!(at_terminal(&terminal, "service delete web", "y\n").code, 0);
    assert_eq!(terminal.types("service list -o name").lines(), ["worker"]);
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let terminal = Terminal::new();
    let coloured = |line: &str| at_terminal(&terminal, line, "").out.contains("\u{1b}[");
    assert!(coloured("service list"));
    assert!(!coloured("service list --no-color"));
    let heeded = with_setting(&terminal, "NO_COLOR=1", "service list", "");
    assert!(heeded.out.contains("worker") && !heeded.out.contains("\u{1b}["), "{heeded:?}");
}
