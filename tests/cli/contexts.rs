//! Contexts: which server is asked, and what it is told.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::terminal::{Ran, Terminal, ran};

/// Types a line without anything in the environment but these.
#[track_caller]
fn bare(terminal: &Terminal, line: &str, environment: &[(&str, &str)], input: &str) -> Ran {
    let mut command = terminal.command();
    command.envs(environment.iter().copied()).args(line.split(' '));
    ran(&mut command, input)
}

#[test]
fn a_context_names_a_server_and_who_we_are_to_it() {
    let terminal = Terminal::new();
    let (base, token) = (terminal.server.base(), terminal.server.data_dir().join("admin.token"));
    let token = std::fs::read_to_string(token).unwrap();
    let types = |line: &str| bare(&terminal, line, &[], &token);
    types(&format!("context set prod --server {base} --token-stdin")).ok();
    types("context set lab --server http://127.0.0.1:1 --user ann --tenant dept").ok();
    let file = terminal.home().join(".config/cooperage/contexts.toml");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(types("context list -o name").lines(), ["lab", "prod"]);
    for form in ["table", "json", "yaml"] {
        assert!(
            !types(&format!("context list -o {form}")).ok().contains(token.trim()),
            "tokens are not shown"
        );
    }
    // The first one is the current one.
    assert_eq!(types("service list -o name").lines(), ["web", "worker"]);
    types("service list --context lab").fails(5, "127.0.0.1:1");
    types("context use lab").ok();
    types("service list").fails(5, "127.0.0.1:1");
    let named = [("COOPERAGE_CONTEXT", "prod")];
    assert_eq!(bare(&terminal, "service list -o name", &named, "").lines(), ["web", "worker"]);
    let server = [("COOPERAGE_SERVER", base.as_str()), ("COOPERAGE_CONTEXT", "lab")];
    // The server is the environment's, and what the context says of us is not for it.
    bare(&terminal, "service list", &server, "").fails(4, "token");
    let current = types("context current -o json").json();
    assert_eq!(
        (&current["user"]["value"], &current["user"]["from"]),
        (&"ann".into(), &"context lab (current)".into())
    );
    types("context delete lab").ok();
    assert_eq!(types("context list -o name").lines(), ["prod"]);
    types("context show lab").fails(3, "use one of: prod");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    types("context list").fails(1, "chmod 600");
}

#[test]
fn another_server_is_never_sent_a_token_that_is_not_its_own() {
    let terminal = Terminal::new();
    // Where a server on this host keeps its token.
    std::fs::create_dir(terminal.home().join("data")).unwrap();
    terminal.file("data/admin.token", "local-secret");
    bare(&terminal, "context set prod --server http://127.0.0.9:9 --token-stdin", &[], "prod-secret").ok();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = [0; 4096];
        let length = stream.read(&mut heard).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]").unwrap();
        String::from_utf8_lossy(&heard[..length]).into_owned()
    });
    bare(&terminal, &format!("service list --server http://{address}"), &[], "").ok();
    let heard = asked.join().unwrap();
    assert!(heard.starts_with("GET /v2/services") && !heard.contains("prod-secret"), "{heard}");
    // This one is on this host; and the token says who we are.
    assert!(heard.contains("local-secret") && !heard.to_lowercase().contains("coopr-"), "{heard}");
    let elsewhere = bare(&terminal, "context current --server http://203.0.113.9:9 -o json", &[], "").json();
    assert_eq!(elsewhere["credential"]["from"], "default");
}
