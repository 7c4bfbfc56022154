//! OpenSSH: a block of configuration for each node, which trusts just the host key that was pinned when its machine was made.

use std::fmt::Write;

use super::inventory::{Host, Inventory};

/// A block for each node, under its host name with and without the domain.
pub fn write(inventory: &Inventory) -> String {
    let mut text = format!("# Cluster {} ({})\n", inventory.name, inventory.id);
    for host in &inventory.hosts {
        block(host, &mut text);
    }
    text
}

fn block(host: &Host, text: &mut String) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\nHost {}", names(&host.name));
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "    {key} {}", quoted(value));
    };
    line("HostName", &host.address);
    if let Some(user) = &host.user {
        line("User", user);
    }
    if let Some(port) = host.port {
        line("Port", &port.to_string());
    }
    if let Some(file) = &host.identity {
        line("IdentityFile", &file.replace('%', "%%"));
        line("IdentitiesOnly", "yes");
    }
    if let Some(key) = &host.host_key {
        line("StrictHostKeyChecking", "yes");
        line("HostKeyAlgorithms", "ssh-ed25519");
        line("UserKnownHostsFile", "/dev/null");
        line("GlobalKnownHostsFile", "/dev/null");
        let _ = writeln!(text, "    KnownHostsCommand {}", known_hosts_command(key));
    }
}

/// The command that tells ssh the one key that is known, without a file that would have to be cleaned up (%H is the host
/// looked for).
pub fn known_hosts_command(key: &str) -> String {
    format!("/bin/echo %H ssh-ed25519 {key}")
}

/// A host name with and without its domain, and without what makes a pattern of it.
fn names(name: &str) -> String {
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-._".contains(*c)).collect();
    match name.split_once('.') {
        Some((short, _)) => format!("{name} {short}"),
        None => name,
    }
}

/// A value with blanks stands in quotes, in which nothing else has a meaning.
fn quoted(value: &str) -> String {
    let value = value.replace('"', "");
    if value.contains(char::is_whitespace) { format!("\"{value}\"") } else { value }
}

#[cfg(test)]
mod tests {
    use super::super::inventory::samples::shop;
    use super::*;

    #[test]
    fn each_node_has_a_block() {
        assert_eq!(
            write(&shop()),
            "# Cluster shop (00000042)

Host shop1-1000.lab.example.com shop1-1000
    HostName 10.1.0.2
    User root
    IdentityFile /d/key
    IdentitiesOnly yes
    StrictHostKeyChecking yes
    HostKeyAlgorithms ssh-ed25519
    UserKnownHostsFile /dev/null
    GlobalKnownHostsFile /dev/null
    KnownHostsCommand /bin/echo %H ssh-ed25519 AAAAC3Nza+/=

Host shop1-1001.lab.example.com shop1-1001
    HostName 10.1.0.3
    User admin
    Port 2222
    IdentityFile \"/d/my keys/k\"
    IdentitiesOnly yes
"
        );
    }

    #[test]
    fn names_are_no_patterns() {
        assert_eq!(names("a*.b?"), "a.b a");
        assert_eq!(names("a"), "a");
    }
}
