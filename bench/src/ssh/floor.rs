//! What cannot be left out, whoever does the tasks: how fast programs can be started at all, and channels be opened for them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cooperage_plugins::ssh::{Backend, transport};
use futures::future::try_join_all;
use serde::Serialize;

use super::Fault;
use super::house::SCRIPT_TEXT;
use super::sshd::Doors;
use super::wire::{open, targets};

/// What stands above the row.
pub const HEADINGS: [&str; 2] = ["THE SCRIPT ALONE, STARTED HERE", "A CHANNEL AND A SHELL FOR EACH COMMAND"];

/// Both rates.
#[derive(Debug, Default, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Floor {
    /// The tasks' script, started and waited for on this host by every processor: no SSH, no record, nothing.
    pub scripts_per_second: f64,
    /// The least that an SSH server does for a command that has a channel of its own, on warm connections to all machines.
    pub channels_per_second: f64,
}

impl Floor {
    /// For people.
    pub fn row(self) -> [String; 2] {
        [self.scripts_per_second, self.channels_per_second].map(|rate| format!("{rate:.0} /s"))
    }
}

/// Measures both, with so many commands on each machine.
///
/// # Errors
/// When a program cannot be started, or a connection fails.
pub fn measure(folder: &Path, doors: &Doors, rounds: u32) -> Result<Floor, Fault> {
    let commands = rounds as usize * doors.ports.len();
    let script = folder.join("floor.sh");
    fs::write(&script, SCRIPT_TEXT)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700))?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let share = commands.div_ceil(processors);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(|| start(&script, share))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread broke off")?)
    })?;
    let scripts_per_second = (share * processors) as f64 / begun.elapsed().as_secs_f64();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let took = runtime.block_on(channels(doors, rounds))?;
    Ok(Floor { scripts_per_second, channels_per_second: commands as f64 / took.as_secs_f64() })
}

fn start(script: &Path, count: usize) -> Result<(), Fault> {
    for _ in 0..count {
        let status = Command::new(script).stdin(Stdio::null()).status()?;
        if !status.success() {
            return Err(format!("the script ended with {status}").into());
        }
    }
    Ok(())
}

async fn channels(doors: &Doors, rounds: u32) -> Result<Duration, Fault> {
    let (transport, targets) = (transport(Backend::default())?, targets(doors)?);
    let connections = try_join_all(targets.iter().map(|target| open(&*transport, target))).await?;
    let begun = Instant::now();
    let all = connections.iter().map(async |connection| {
        for _ in 0..rounds {
            connection.beside(":").await?;
        }
        Ok::<(), Fault>(())
    });
    try_join_all(all).await?;
    Ok(begun.elapsed())
}
