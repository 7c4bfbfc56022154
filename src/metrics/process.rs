//! What Linux knows of this process.

use super::{Metrics, table};

/// Asks for all of it; what cannot be read is left out.
pub fn look(metrics: &Metrics) {
    let Some(known) = Known::read() else { return };
    metrics.counted(&table::CPU_SECONDS, known.cpu_seconds);
    metrics.set(&table::MEMORY, &[], known.resident_bytes);
    metrics.set(&table::STARTED, &[], known.started);
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        metrics.set(&table::OPEN_FILES, &[], open.count() as f64);
    }
    if let Some(most) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        metrics.set(&table::MOST_OPEN_FILES, &[], most as f64);
    }
}

/// What `/proc/self/stat` says.
#[derive(Debug, PartialEq)]
struct Known {
    cpu_seconds: f64,
    resident_bytes: f64,
    /// In seconds since 1970.
    started: f64,
}

impl Known {
    fn read() -> Option<Self> {
        let (stat, system) =
            (std::fs::read_to_string("/proc/self/stat").ok()?, std::fs::read_to_string("/proc/stat").ok()?);
        let booted = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        Self::parse(&stat, booted, rustix::param::clock_ticks_per_second(), rustix::param::page_size())
    }

    /// The name of the program, in parentheses, may hold anything; the fields behind it are numbered from 3 (proc(5)).
    fn parse(stat: &str, booted: f64, ticks_per_second: u64, page: usize) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        let ticks = ticks_per_second as f64;
        Some(Self {
            cpu_seconds: (field(14)? + field(15)?) / ticks,
            started: booted + field(22)? / ticks,
            resident_bytes: field(24)? * page as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let stat =
            "7 (a) b) S 1 7 7 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 9 0 1000 99 12 18446744073709551615";
        let known = Known::parse(stat, 500.0, 100, 4096);
        assert_eq!(known, Some(Known { cpu_seconds: 3.0, resident_bytes: 49152.0, started: 510.0 }));
        assert_eq!(Known::parse("7 (a) S 1", 0.0, 100, 4096), None);
    }
}
