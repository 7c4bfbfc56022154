//! What a process uses, as the kernel counts it.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::BenchError;

/// How much processor time our own process has used so far, all threads.
pub fn own_processor_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}

/// How much processor time another process has used so far, in steps of 10 ms.
///
/// # Errors
/// When there is no such process.
pub fn processor_time(process: u32) -> Result<Duration, BenchError> {
    let stat = fs::read_to_string(file(Some(process), "stat"))?;
    // The name in the second field may hold blanks; user and system time are fields 14 and 15, in hundredths of a second.
    let behind = stat.rsplit_once(')').map_or(stat.as_str(), |(_, behind)| behind);
    let field = |number: usize| -> u64 {
        behind.split_whitespace().nth(number - 3).and_then(|field| field.parse().ok()).unwrap_or_default()
    };
    Ok(Duration::from_millis((field(14) + field(15)) * 10))
}

/// What a process holds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Held {
    /// What is in memory of it, in bytes.
    pub resident: u64,
    /// What of that is neither the program nor any other file, in bytes.
    pub own: u64,
    /// How many threads it has.
    pub threads: u64,
}

/// What a process holds; nothing stands for our own.
///
/// # Errors
/// When there is no such process.
pub fn held(process: Option<u32>) -> Result<Held, BenchError> {
    let status = fs::read_to_string(file(process, "status"))?;
    let number = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.unwrap_or_default()
    };
    let (resident, own) = (number("VmRSS:") * 1024, number("RssAnon:") * 1024);
    Ok(Held { resident, own, threads: number("Threads:") })
}

fn file(process: Option<u32>, name: &str) -> String {
    let process = process.map_or_else(|| "self".to_owned(), |process| process.to_string());
    format!("/proc/{process}/{name}")
}
