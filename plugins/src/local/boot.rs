//! Switching a machine on.
//!
//! It does not depend on the server: it has a session and control groups of its own, and the host's first process as its
//! parent, so clusters run on while the server restarts.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::Instant;

use super::cgroup::Hierarchies;
use super::fault::{At, LocalError};
use super::guest_files::short_name;
use super::host_command::SEARCH_PATH;
use super::namespace;
use super::record::Record;

/// What is said on the machine's console.
const CONSOLE: &str = "console.log";
/// How long the machine's first process may take to appear.
const START_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);
/// How much of the console is quoted in an error, in characters from its end.
const QUOTED: usize = 600;

/// Enters the groups named before `--`, then becomes the program after it. A fixed text: values come as arguments only.
const ENTER: &str = r#"while [ "$1" != -- ]; do echo $$ >"$1" || exit 1; shift; done; shift; exec "$@""#;

const NSPAWN: [&str; 11] = [
    "systemd-nspawn",
    "--quiet",
    "--boot",
    "--register=no",
    "--keep-unit",
    "--settings=no",
    "--console=pipe",
    "--link-journal=no",
    "--resolv-conf=off",
    "--timezone=off",
    "--capability=CAP_NET_ADMIN",
];

/// Starts the machine unless it runs, and waits until it has a process.
pub(super) async fn switch_on(
    hierarchies: &Hierarchies,
    directory: &Path,
    record: &Record,
) -> Result<(), LocalError> {
    if hierarchies.runs(&record.id)? {
        return Ok(());
    }
    let path = directory.join(CONSOLE);
    let console = File::create(&path).at("write", &path)?;
    let errors = console.try_clone().at("write", &path)?;
    let mut starter = Command::new("setsid");
    starter.args(["--fork", "sh", "-c", ENTER, "sh"]).args(hierarchies.entrances(&record.id)).arg("--");
    starter.args(nspawn(directory, record)).env_clear().env("PATH", SEARCH_PATH);
    // Lets the machine set its own network's kernel parameters.
    starter.env("SYSTEMD_NSPAWN_API_VFS_WRITABLE", "network");
    starter.stdin(Stdio::null()).stdout(console).stderr(errors);
    starter.status().await.at("run", "setsid")?;
    let deadline = Instant::now() + START_LIMIT;
    while !hierarchies.runs(&record.id)? {
        if Instant::now() > deadline {
            let fault = format!("did not start; its console says: {}", last_words(directory).await);
            return Err(LocalError::machine(
                &record.id,
                fault,
                "see its console, then delete and create it again",
            ));
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

/// Names, address and resolver are set already, and nobody else manages the machine.
///
/// The network namespace is entered first and then named again: entered, so that `/sys` shows the machine's interfaces and
/// not the host's; named, so that it is not taken for the host's own. What is in it is the machine's to change.
fn nspawn(directory: &Path, record: &Record) -> Vec<String> {
    let network = namespace::path(&record.id);
    let mut args = vec!["nsenter".to_owned(), format!("--net={}", network.display())];
    args.extend(NSPAWN.map(str::to_owned));
    args.push(format!("--network-namespace-path={}", network.display()));
    args.push(format!("--machine={}", record.id));
    args.push(format!("--hostname={}", short_name(&record.hostname)));
    args.push(format!("--directory={}", directory.join("root").display()));
    args
}

/// The last of what the machine said on its console.
pub(super) async fn last_words(directory: &Path) -> String {
    let bytes = tokio::fs::read(directory.join(CONSOLE)).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let skipped = text.chars().count().saturating_sub(QUOTED);
    text.chars().skip(skipped).collect::<String>().trim().to_owned()
}
