//! What a process uses, as the kernel counts it.

use std::fs;
use std::time::Duration;

use crate::BenchError;

/// How much processor time a process has used so far; nothing stands for our own.
///
/// # Errors
/// When there is no such process.
pub fn processor_time(process: Option<u32>) -> Result<Duration, BenchError> {
    let stat = fs::read_to_string(file(process, "stat"))?;
    // The name in the second field may hold blanks; user and system time are fields 14 and 15, in hundredths of a second.
    let behind = stat.rsplit_once(')').map_or(stat.as_str(), |(_, behind)| behind);
    let field = |number: usize| -> u64 {
        behind.split_whitespace().nth(number - 3).and_then(|field| field.parse().ok()).unwrap_or_default()
    };
    Ok(Duration::from_millis((field(14) + field(15)) * 10))
}

/// Memory a process holds, in bytes: what is in memory of it, and what of that is neither the program nor any other file.
///
/// # Errors
/// When there is no such process.
pub fn resident(process: u32) -> Result<(u64, u64), BenchError> {
    let status = fs::read_to_string(file(Some(process), "status"))?;
    let kibibytes = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.unwrap_or_default()
    };
    Ok((kibibytes("VmRSS:") * 1024, kibibytes("RssAnon:") * 1024))
}

fn file(process: Option<u32>, name: &str) -> String {
    let process = process.map_or_else(|| "self".to_owned(), |process| process.to_string());
    format!("/proc/{process}/{name}")
}
