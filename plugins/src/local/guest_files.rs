//! The files that make a copy of an image this one machine: its name, its keys, its resolver.
//!
//! They are written once, before the machine first runs. Afterwards its disk may hold anything, for instance a link that
//! leads out of it, and nothing is written to it from outside any more.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::fault::{At, LocalError};
use super::record::Record;

/// A file of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuestFile {
    /// Path without the leading slash.
    path: &'static str,
    /// Mode of the file.
    mode: u32,
    /// What it holds.
    content: String,
}

/// What the files are made from.
#[derive(Debug, Clone)]
pub(super) struct Personality {
    /// The machine's ssh host key, private half, OpenSSH format.
    pub(super) host_key: String,
    /// Public key that root lets in, as a line of `authorized_keys`.
    pub(super) authorized_key: String,
    /// Resolver settings.
    pub(super) resolv_conf: String,
}

/// Only the pinned key is offered, only keys let in, and a burst of connections from the server is not turned away.
const SSHD: &str = "HostKey /etc/ssh/ssh_host_ed25519_key\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n\
                    UseDNS no\nMaxStartups 100:30:200\nMaxSessions 100\n";

/// All files of one machine.
pub(super) fn guest_files(record: &Record, personality: Personality) -> Vec<GuestFile> {
    let file = |path, mode, content| GuestFile { path, mode, content };
    let public = format!("ssh-ed25519 {} {}\n", record.host_key, record.hostname);
    vec![
        file("etc/hostname", 0o644, format!("{}\n", short_name(&record.hostname))),
        file("etc/hosts", 0o644, hosts(record)),
        file("etc/resolv.conf", 0o644, personality.resolv_conf),
        file("etc/machine-id", 0o444, String::new()),
        file("etc/ssh/ssh_host_ed25519_key", 0o600, personality.host_key),
        file("etc/ssh/ssh_host_ed25519_key.pub", 0o644, public),
        file("etc/ssh/sshd_config.d/cooperage.conf", 0o644, SSHD.to_owned()),
        file("root/.ssh/authorized_keys", 0o600, format!("{}\n", personality.authorized_key.trim_end())),
    ]
}

/// A host name without its domain.
pub(super) fn short_name(hostname: &str) -> &str {
    hostname.split('.').next().unwrap_or(hostname)
}

/// The machine finds its full name (`hostname -f`) and its own address by its name.
fn hosts(record: &Record) -> String {
    let short = short_name(&record.hostname);
    let names =
        if short == record.hostname { short.to_owned() } else { format!("{} {short}", record.hostname) };
    format!("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n{} {names}\n", record.address)
}

/// Writes them below a machine's root.
pub(super) fn write_all(root: &Path, files: &[GuestFile]) -> Result<(), LocalError> {
    for file in files {
        let path = root.join(file.path);
        if let Some(directory) = path.parent().filter(|directory| !directory.exists()) {
            let private = file.path.contains("/.ssh/");
            let mode = if private { 0o700 } else { 0o755 };
            std::fs::DirBuilder::new().recursive(true).mode(mode).create(directory).at("make", directory)?;
        }
        write(&path, file).at("write", &path)?;
    }
    Ok(())
}

/// Replaces whatever is there, even a link.
fn write(path: &Path, file: &GuestFile) -> std::io::Result<()> {
    let unfinished = path.with_extension("cooperage-new");
    match std::fs::remove_file(&unfinished) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options
        .write(true)
        .create_new(true)
        .mode(file.mode)
        .open(&unfinished)?
        .write_all(file.content.as_bytes())?;
    std::fs::rename(&unfinished, path)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::local::flavor::Limits;
    use crate::local::record::Stage;

    fn record(hostname: &str) -> Record {
        Record {
            id: "coop-1".to_owned(),
            node: "n".to_owned(),
            hostname: hostname.to_owned(),
            base: "/images/x".into(),
            bridge: "br".to_owned(),
            network: "10.77.0.0/24".parse().unwrap(),
            address: Ipv4Addr::new(10, 77, 0, 2),
            limits: Limits::default(),
            host_key: "AAAA".to_owned(),
            stage: Stage::Making,
        }
    }

    fn personality() -> Personality {
        Personality {
            host_key: "secret".to_owned(),
            authorized_key: "ssh-ed25519 BBBB server".to_owned(),
            resolv_conf: "nameserver 10.0.0.1\n".to_owned(),
        }
    }

    #[test]
    fn names_are_full_in_hosts_and_short_in_hostname() {
        let files = guest_files(&record("web-1.example.org"), personality());
        let content = |path: &str| files.iter().find(|file| file.path == path).unwrap().content.clone();
        assert_eq!(content("etc/hostname"), "web-1\n");
        assert!(content("etc/hosts").ends_with("10.77.0.2 web-1.example.org web-1\n"));
        assert!(hosts(&record("alone")).ends_with("10.77.0.2 alone\n"));
    }

    #[test]
    fn files_replace_links_and_keep_secrets() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::fs::create_dir(root.path().join("etc")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("etc/resolv.conf")).unwrap();
        let files = guest_files(&record("a"), personality());
        write_all(root.path(), &files).unwrap();
        write_all(root.path(), &files).unwrap();
        assert_eq!(
            std::fs::read_to_string(outside.path()).unwrap(),
            "",
            "a link was followed out of the machine"
        );
        let mode = |path| root.path().join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("etc/ssh/ssh_host_ed25519_key"), 0o600);
        assert_eq!((mode("root/.ssh"), mode("root/.ssh/authorized_keys")), (0o700, 0o600));
    }
}
