//! Completion: what a shell is told when Tab is pressed.

use crate::terminal::{Terminal, ran};

/// What bash offers at the end of a line.
fn offers(terminal: &Terminal, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = terminal.at_the_server();
    command.env("COOPERAGE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    command.env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_COMP_TYPE", "9").env("_CLAP_COMPLETE_SPACE", "true");
    let ran = ran(command.arg("--").args(&words), "");
    assert_eq!(ran.err, "", "{line}");
    ran.lines()
}

#[test]
fn the_names_of_what_the_server_has_are_offered() {
    let terminal = Terminal::new();
    terminal.types("cluster create shop -t farm -n 2 -q").ok();
    terminal.types("context set prod --server http://10.0.0.1:1").ok();
    for (line, expected) in [
        ("cooperage cluster show sh", vec!["shop"]),
        ("cooperage cluster show 0", vec!["00000001"]),
        ("cooperage cluster ssh shop ", vec!["1000", "1001"]),
        ("cooperage cluster restart shop w", vec!["web", "worker"]),
        ("cooperage cluster plan shop 00000001-002", vec!["00000001-002"]),
        ("cooperage cluster create x --template ", vec!["farm"]),
        ("cooperage service show wo", vec!["worker"]),
        ("cooperage templates get ", vec!["farm"]),
        ("cooperage provider show ", vec!["sim"]),
        ("cooperage tenant show ", vec!["superadmin"]),
        ("cooperage --context ", vec!["prod"]),
        ("cooperage cluster li", vec!["list"]),
        ("cooperage -o w", vec!["wide"]),
    ] {
        let mut found = offers(&terminal, line);
        found.retain(|it| !it.starts_with('-'));
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn without_an_answer_nothing_is_offered_and_nothing_said() {
    let mut terminal = Terminal::new();
    terminal.server.kill();
    let found = offers(&terminal, "cooperage cluster show s");
    assert_eq!(found, [""; 0]);
}

#[test]
fn bash_takes_the_script() {
    let terminal = Terminal::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_cooperage")).parent().unwrap();
    let script = "source <(cooperage completion bash)
        COMP_WORDS=(cooperage service show wo) COMP_CWORD=3 COMP_TYPE=9
        _clap_complete_cooperage cooperage wo show
        echo \"${COMPREPLY[@]}\"";
    let mut command = std::process::Command::new("bash");
    command.env("COOPERAGE_SERVER", terminal.server.base());
    command.env("COOPERAGE_TOKEN_FILE", terminal.server.data_dir().join("admin.token"));
    command.env("PATH", format!("{}:/usr/bin:/bin", program.display())).env("HOME", terminal.home());
    let ran = ran(command.args(["-c", script]), "");
    assert_eq!(ran.out.trim(), "worker", "{ran:?}");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(
            terminal.types(&format!("completion {shell}")).ok().contains("COOPERAGE_COMPLETE"),
            "{shell}"
        );
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let terminal = Terminal::new();
    assert!(terminal.types("man cluster create").ok().contains("cluster"));
    terminal.types("man --dir man1").ok();
    let page = |name: &str| std::fs::read_to_string(terminal.home().join("man1").join(name)).unwrap();
    assert!(page("cooperage.1").contains("Exit codes"));
    let pages = std::fs::read_dir(terminal.home().join("man1")).unwrap();
    assert!(pages.flatten().all(|page| !page.file_name().to_str().unwrap().contains("help")));
    assert!(page("cooperage-cluster-create.1").contains("dry\\-run"));
}
