//! What the package brings is there, and its services are what the program expects.

use std::process::Command;

use crate::tree::{Offence, Tree};

const MANIFEST: &str = "Cargo.toml";
const UNITS: [&str; 2] = ["etc/systemd/cooperage.service", "etc/systemd/cooperage-provisioner.service"];
/// What each unit says; without it the service would be less safe, or not be waited for.
const LINES: [&str; 14] = [
    "Type=notify",
    "Restart=on-failure",
    "User=cooperage",
    "UMask=0077",
    "StateDirectoryMode=0700",
    "NoNewPrivileges=yes",
    "CapabilityBoundingSet=",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "PrivateTmp=yes",
    "PrivateDevices=yes",
    "ProtectKernelTunables=yes",
    "RestrictNamespaces=yes",
    "SystemCallFilter=@system-service",
];
/// The most that `systemd-analyze security` may find, in tenths.
const MOST_EXPOSED: &str = "20";

pub fn offences(tree: &Tree) -> Vec<Offence> {
    let mut offences = Vec::new();
    for path in UNITS {
        let unit = tree.file(path);
        for line in LINES.iter().filter(|line| !unit.lines().any(|(_, text)| text == **line)) {
            offences.push(unit.offence(0, format!("does not say {line}")));
        }
    }
    let manifest = tree.file(MANIFEST);
    for (number, line) in manifest.lines() {
        let Some(source) = line.trim().strip_prefix("[\"").and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        let fixed = source.split("/*").next().unwrap_or_default();
        if !source.starts_with("target/") && !tree.holds(fixed) {
            offences.push(manifest.offence(number, format!("there is no {source} for the package")));
        }
    }
    offences
}

#[test]
fn services_are_exposed_to_little() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    for path in UNITS {
        let told = Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--no-pager", "--threshold", MOST_EXPOSED])
            .arg(format!("{folder}{path}"))
            .output();
        let Ok(told) = told else {
            return eprintln!("NOT TESTED: how exposed services are, since systemd-analyze is missing");
        };
        let text = String::from_utf8_lossy(&told.stdout);
        assert!(told.status.success(), "{path}: {text} {}", String::from_utf8_lossy(&told.stderr));
    }
}
