//! What this whole machine did for a while, as its kernel counts: on one that does nothing else, what was measured.

use std::fs;

use serde::Serialize;

use crate::milliseconds;
use crate::process::own_processor_time;

/// Processes begun, and what passed on loopback.
#[derive(Debug, Default, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Traffic {
    /// Processes and threads that were begun.
    pub processes: f64,
    /// Bytes on loopback, with the heads of packets.
    pub bytes: f64,
    /// Packets on loopback.
    pub packets: f64,
    /// Processor time of this process alone, in ms.
    pub own_ms: f64,
}

impl Traffic {
    /// Since the machine was started.
    pub fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let devices = fs::read_to_string("/proc/net/dev").unwrap_or_default();
        let field = |text: &str, line: &str, place: usize| {
            let found = text.lines().find_map(|each| each.trim().strip_prefix(line));
            found.and_then(|rest| rest.split_whitespace().nth(place)?.parse().ok()).unwrap_or_default()
        };
        Self {
            processes: field(&stat, "processes", 0),
            bytes: field(&devices, "lo:", 0),
            packets: field(&devices, "lo:", 1),
            own_ms: milliseconds(own_processor_time()),
        }
    }

    /// Since this was looked at.
    pub fn until_now(self) -> Self {
        let now = Self::now();
        Self {
            processes: now.processes - self.processes,
            bytes: now.bytes - self.bytes,
            packets: now.packets - self.packets,
            own_ms: now.own_ms - self.own_ms,
        }
    }

    /// Shared by so many.
    pub fn per(self, count: f64) -> Self {
        let Self { processes, bytes, packets, own_ms } = self;
        Self {
            processes: processes / count,
            bytes: bytes / count,
            packets: packets / count,
            own_ms: own_ms / count,
        }
    }
}
