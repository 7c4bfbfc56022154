//! What idle SSH sessions and workers cost in memory, in a process of its own.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::house::House;
use super::sshd::Doors;
use super::{Fault, weigh_here};
use crate::process;

/// What the program is called with, to weigh.
const PART: [&str; 2] = ["bench", "idle-sessions"];
/// How long what was just done may take to settle.
const SETTLE: Duration = Duration::from_secs(2);

/// What was weighed.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Weighed {
    /// SSH sessions that are open; there are as many workers.
    pub sessions: usize,
    /// Resident memory of the whole process.
    pub resident_mib: f64,
    /// Its threads.
    pub threads: u64,
}

/// What another process is asked.
#[derive(Serialize, Deserialize)]
struct Order {
    doors: Doors,
    count: u32,
}

/// Has it weighed by `program`, which is this one.
///
/// # Errors
/// When that process fails.
pub fn measure(program: &Path, doors: &Doors, count: u32) -> Result<Weighed, Fault> {
    let mut process =
        Command::new(program).args(PART).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let order = serde_json::to_vec(&Order { doors: doors.clone(), count })?;
    process.stdin.take().ok_or("it takes no order")?.write_all(&order)?;
    let ended = process.wait_with_output()?;
    if ended.status.success() {
        Ok(serde_json::from_slice(&ended.stdout)?)
    } else {
        Err("idle sessions were not weighed".into())
    }
}

/// Weighs as another process asks; gives the answer for it.
///
/// # Errors
/// When the order is none, or connections cannot be made.
pub fn weigh(order: &[u8]) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let Order { doors, count } = serde_json::from_slice(order)?;
    allow_files(u64::from(count) + 256)?;
    let folder = tempfile::Builder::new().prefix("cooperage-bench-").tempdir()?;
    Ok(serde_json::to_string(&weigh_here(folder.path(), doors, count)?)?)
}

/// A connection is a file. Many systems allow a process 1,024 unless it asks for more.
fn allow_files(count: u64) -> Result<(), Fault> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= count) {
        return Ok(());
    }
    limit.current = Some(count);
    Ok(setrlimit(Resource::Nofile, limit)
        .map_err(|_| format!("a process may not have {count} files open here"))?)
}

/// Looks at this process once it is at rest.
pub async fn look(house: &House) -> Result<Weighed, Fault> {
    tokio::time::sleep(SETTLE).await;
    let held = process::held(None)?;
    let resident_mib = held.resident as f64 / 1_048_576.0;
    Ok(Weighed { sessions: house.connections(), resident_mib, threads: held.threads })
}
