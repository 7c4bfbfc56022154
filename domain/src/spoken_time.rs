//! Points in time and lengths of time in sentences for people, beside the milliseconds that programs want.

use jiff::Timestamp;

/// `2026-11-20T18:43:59Z`, of milliseconds since 1970; 0 is `never`, as ends of leases have it.
#[must_use]
pub fn moment(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        _ if ms == 0 => "never".to_owned(),
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => format!("{ms} ms since 1970"),
    }
}

/// `1d 2h 30s`, of milliseconds.
#[must_use]
pub fn length(ms: i64) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut left = ms.unsigned_abs();
    let mut parts = Vec::new();
    for (unit, size) in units {
        if left >= size {
            parts.push(format!("{}{unit}", left / size));
            left %= size;
        }
    }
    if parts.is_empty() { "0s".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spoken() {
        assert_eq!(moment(1_795_199_039_000), "2026-11-20T18:23:59Z");
        assert_eq!(moment(0), "never");
        assert_eq!(moment(i64::MAX), format!("{} ms since 1970", i64::MAX));
        let lengths =
            [(0, "0s"), (1, "1ms"), (90_500, "1m 30s 500ms"), (172_800_000, "2d"), (93_600_000, "1d 2h")];
        for (ms, text) in lengths {
            assert_eq!(length(ms), text);
        }
    }
}
