//! A person's shell on a machine.

use std::time::Duration;

use cooperage_plugins::ssh::{Backend, SshError, Target, Terminal, TerminalSize, transport};

use crate::sshd::Sshd;
use crate::{CONNECT_LIMIT, over_every_backend, until};

over_every_backend! {
    what_is_typed_is_carried_out_and_shown
    its_size_is_told_and_told_again
    a_key_interrupts_what_runs
    much_output_comes_whole_to_a_slow_reader
    what_is_pasted_arrives_whole
    the_end_of_the_shell_is_its_end
    who_leaves_it_hangs_up
    a_machine_that_goes_ends_it
    a_machine_without_terminals_says_so
    a_stranger_gets_nothing
}

const SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };

async fn open(backend: Backend, target: &Target) -> Result<Terminal, SshError> {
    transport(backend).unwrap().terminal(target, SIZE, CONNECT_LIMIT).await
}

/// Types something.
async fn enter(terminal: &mut Terminal, text: &str) {
    terminal.input.write(text.as_bytes()).await.unwrap();
}

/// Reads until something was shown; gives all that was read.
async fn shown(terminal: &mut Terminal, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let Some(bytes) = terminal.output.next().await else { panic!("it ended after {text:?}") };
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    text
}

async fn what_is_typed_is_carried_out_and_shown(backend: Backend) {
    let server = Sshd::start();
    let mut terminal = open(backend, &server.target()).await.unwrap();
    enter(&mut terminal, "echo it is $((6*7)); tty; echo $TERM\r").await;
    let text = shown(&mut terminal, "xterm-256color").await;
    assert!(text.contains("it is 42") && text.contains("/dev/pts/"), "{text:?}");
}

async fn its_size_is_told_and_told_again(backend: Backend) {
    let server = Sshd::start();
    let mut terminal = open(backend, &server.target()).await.unwrap();
    enter(&mut terminal, "echo size=$(stty size)\r").await;
    shown(&mut terminal, "size=24 80").await;
    terminal.input.resize(TerminalSize::new(132, 50)).await.unwrap();
    enter(&mut terminal, "echo size=$(stty size)\r").await;
    shown(&mut terminal, "size=50 132").await;
}

async fn a_key_interrupts_what_runs(backend: Backend) {
    let server = Sshd::start();
    let mut terminal = open(backend, &server.target()).await.unwrap();
    let script = r#"trap 'echo caught$((1)); exit' INT; echo wait$((1)); while :; do sleep 0.05; done"#;
    enter(&mut terminal, &format!("sh -c {}\r", cooperage_plugins::ssh::quoted(script))).await;
    shown(&mut terminal, "wait1").await;
    enter(&mut terminal, "\u{3}").await;
    shown(&mut terminal, "caught1").await;
}

async fn much_output_comes_whole_to_a_slow_reader(backend: Backend) {
    const COUNT: usize = 3_000_000;
    let server = Sshd::start();
    let mut terminal = open(backend, &server.target()).await.unwrap();
    enter(&mut terminal, "stty -echo; PS1=; echo begin$((1))\r").await;
    shown(&mut terminal, "begin1").await;
    enter(&mut terminal, "head -c 3000000 /dev/zero | tr '\\0' '#'; echo end$((1))\r").await;
    let (mut count, mut pieces, mut tail) = (0, 0, String::new());
    while !tail.contains("end1") {
        let bytes = terminal.output.next().await.expect("it goes on");
        assert!(bytes.len() <= 64 * 1024, "a piece of {} bytes", bytes.len());
        count += bytes.iter().filter(|byte| **byte == b'#').count();
        pieces += 1;
        if pieces % 64 == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tail = tail.split_off(tail.len().saturating_sub(8)) + &String::from_utf8_lossy(&bytes);
    }
    assert_eq!(count, COUNT);
}

async fn what_is_pasted_arrives_whole(backend: Backend) {
    const LINES: usize = 5000;
    let server = Sshd::start();
    let Terminal { mut input, mut output } = open(backend, &server.target()).await.unwrap();
    let file = server.path("pasted");
    let begin = format!("cat >{}; echo done$((1))\r", file.display());
    let pasted: String =
        (0..LINES).map(|line| format!("line {line} of what was copied elsewhere\n")).collect();
    let paste = async {
        input.write(begin.as_bytes()).await.unwrap();
        // What comes before it runs would be the shell's.
        until("the command runs", || file.exists()).await;
        input.write(pasted.as_bytes()).await.unwrap();
        input.write(b"\x04").await.unwrap();
    };
    let read = async {
        let mut tail = String::new();
        while !tail.contains("done1") {
            let bytes = output.next().await.expect("it goes on");
            tail = tail.split_off(tail.len().saturating_sub(8)) + &String::from_utf8_lossy(&bytes);
        }
    };
    tokio::join!(paste, read);
    assert_eq!(std::fs::read_to_string(file).unwrap(), pasted);
}

async fn the_end_of_the_shell_is_its_end(backend: Backend) {
    let server = Sshd::start();
    let mut terminal = open(backend, &server.target()).await.unwrap();
    enter(&mut terminal, "exit\r").await;
    while terminal.output.next().await.is_some() {}
    drop(terminal);
    until("its connection is gone", || server.connections() == 0).await;
}

async fn who_leaves_it_hangs_up(backend: Backend) {
    let server = Sshd::start();
    let mut left = open(backend, &server.target()).await.unwrap();
    let closed = open(backend, &server.target()).await.unwrap();
    let noted = server.path("pid");
    enter(
        &mut left,
        &format!("sh -c 'echo $$ >{0}.new; mv {0}.new {0}; exec sleep 1000'\r", noted.display()),
    )
    .await;
    until("the command runs", || noted.exists()).await;
    let process = std::fs::read_to_string(&noted).unwrap();
    drop(left);
    closed.output.close().await;
    until("both connections are gone", || server.connections() == 0).await;
    until("what ran is gone", || !std::path::Path::new(&format!("/proc/{}", process.trim())).exists()).await;
}

async fn a_machine_that_goes_ends_it(backend: Backend) {
    let server = Sshd::start();
    let mut terminal = open(backend, &server.target()).await.unwrap();
    enter(&mut terminal, "echo here$((1))\r").await;
    shown(&mut terminal, "here1").await;
    server.cut_connections();
    while terminal.output.next().await.is_some() {}
}

async fn a_machine_without_terminals_says_so(backend: Backend) {
    let server = Sshd::start_without_terminals();
    let fault = open(backend, &server.target()).await.err();
    assert_eq!(fault, Some(SshError::NoTerminal { address: server.target().address() }));
}

async fn a_stranger_gets_nothing(backend: Backend) {
    let server = Sshd::start();
    let stranger = std::fs::read_to_string(server.path("stranger.pub")).unwrap();
    let target = Target { host_key: stranger.parse().unwrap(), ..server.target() };
    let fault = open(backend, &target).await.err();
    assert!(matches!(fault, Some(SshError::HostKeyChanged { .. })), "{fault:?}");
}
