//! `cooperage cluster ssh`: a shell on a node, trusting just the host key that was pinned when its machine was made.

use std::os::unix::process::CommandExt;
use std::process::Command;

use cooperage_domain::invalid::Invalid;
use serde_json::Value;

use super::find;
use super::logs::unknown_node;
use super::shapes::Node;
use crate::cli::args::SshArgs;
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Logs in to a node, or prints the command that does.
///
/// # Errors
/// When the node is not there or cannot be logged in to.
pub async fn run(args: &SshArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (_, details) = find::details(client, &args.which.cluster).await?;
    let node = details.node(&args.node).ok_or_else(|| unknown_node(&details, &args.node))?;
    let mut words = login(node)?;
    words.extend(args.command.iter().cloned());
    if args.print {
        screen.result(&words, || words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        return Ok(());
    }
    // Takes our place, so that signals, the terminal and the exit code are those of ssh.
    let (program, rest) =
        words.split_first().map_or(("ssh", &[][..]), |(first, rest)| (first.as_str(), rest));
    let fault = Command::new(program).args(rest).exec();
    Err(Failure::refused(format!("cannot run ssh: {fault}"), "install it: apt-get install openssh-client"))
}

/// The words of the command that logs in to a node.
///
/// # Errors
/// When the node has no address, identity or host key yet.
pub fn login(node: &Node) -> Result<Vec<String>, Invalid> {
    let missing = |what: &str| {
        let fault = format!("has no {what} (yet)");
        Invalid::new("node", node.name(), fault, "wait until its machine is confirmed")
    };
    let auth = node.provisioner_results.get("ssh-auth");
    let text = |key: &str| {
        auth.and_then(|auth| auth.get(key)).and_then(Value::as_str).filter(|text| !text.is_empty())
    };
    let address = node.address().ok_or_else(|| missing("address"))?;
    let identity = text("identityfile").ok_or_else(|| missing("login (ssh-auth.identityfile)"))?;
    let user = text("user").unwrap_or(&node.properties.sshuser);
    let key = node
        .provisioner_results
        .get("ssh_host_keys")
        .and_then(|keys| keys.get("ed25519"))
        .and_then(Value::as_str);
    let key = key.ok_or_else(|| missing("host key"))?.trim();
    // The algorithm, then the key, whether or not the key is told with its algorithm.
    let key = key.split_whitespace().find(|word| word.starts_with("AAAA")).unwrap_or(key);
    let mut words: Vec<String> = vec!["ssh".to_owned(), "-i".to_owned(), identity.to_owned()];
    if let Some(port) = auth.and_then(|auth| auth.get("port")).filter(|port| !port.is_null()) {
        words.extend(["-p".to_owned(), port.to_string().trim_matches('"').to_owned()]);
    }
    for option in [
        "IdentitiesOnly=yes".to_owned(),
        "StrictHostKeyChecking=yes".to_owned(),
        "HostKeyAlgorithms=ssh-ed25519".to_owned(),
        "UserKnownHostsFile=/dev/null".to_owned(),
        "GlobalKnownHostsFile=/dev/null".to_owned(),
        // The one key that is known, without a file that would have to be cleaned up (%H is the host looked for).
        format!("KnownHostsCommand=/bin/echo %H ssh-ed25519 {key}"),
    ] {
        words.extend(["-o".to_owned(), option]);
    }
    words.push(format!("{user}@{address}"));
    Ok(words)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=@:,+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(results: &Value) -> Node {
        serde_json::from_value(json!({
            "id": "n", "properties": {"nodenum": 1000, "ipaddresses": {"access_v4": "10.1.0.2"}, "sshuser": "admin"},
            "provisionerResults": results,
        }))
        .unwrap()
    }

    #[test]
    fn a_login_trusts_just_the_pinned_key() {
        let words = login(&node(&json!({
            "ssh-auth": {"user": "root", "identityfile": "/d/key"}, "ssh_host_keys": {"ed25519": "ssh-ed25519 AAAAC3 x"},
        })))
        .unwrap();
        let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        assert_eq!(
            line,
            "ssh -i /d/key -o IdentitiesOnly=yes -o StrictHostKeyChecking=yes -o HostKeyAlgorithms=ssh-ed25519 \
             -o UserKnownHostsFile=/dev/null -o GlobalKnownHostsFile=/dev/null \
             -o 'KnownHostsCommand=/bin/echo %H ssh-ed25519 AAAAC3' root@10.1.0.2"
        );
    }

    #[test]
    fn what_is_not_known_yet_is_named() {
        let fault = |results: Value| login(&node(&results)).unwrap_err().fault;
        assert!(fault(json!({})).contains("identityfile"));
        assert!(fault(json!({"ssh-auth": {"identityfile": "/k"}})).contains("host key"));
        let words = login(&node(&json!({
            "ssh-auth": {"identityfile": "/k", "port": 2222}, "ssh_host_keys": {"ed25519": "AAAAC3"},
        })))
        .unwrap();
        assert_eq!(words.last().unwrap(), "admin@10.1.0.2", "the image's user stands in");
        assert!(words.windows(2).any(|pair| pair == ["-p", "2222"]));
    }
}
