//! Lengths of time and points in time, as people write and read them.

use std::time::Duration;

use cooperage_domain::invalid::Invalid;
use jiff::tz::TimeZone;
use jiff::{SpanRelativeTo, Timestamp};

/// Reads `90s`, `45m`, `1h 30m`, `7d`, `2w`. A day is 24 hours.
///
/// # Errors
/// When the text is none, naming `option`.
pub fn parse(option: &str, text: &str) -> Result<Duration, Invalid> {
    let span: Option<jiff::Span> = text.trim().parse().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    duration
        .and_then(|duration| Duration::try_from(duration).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| {
            Invalid::new(option, text, "is not a length of time", "write it like 90s, 45m, 12h or 7d")
        })
}

/// `0.4 s`, `12.3 s`, `2 m 05 s`, `1 h 02 m`, `3 d 04 h`.
#[must_use]
pub fn short(ms: i64) -> String {
    let tenths = (ms.max(0) + 50) / 100;
    let seconds = (ms.max(0) + 500) / 1000;
    match seconds {
        _ if tenths < 600 => format!("{}.{} s", tenths / 10, tenths % 10),
        0..3600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {:02} m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// `2026-11-20 18:43:59`, here.
#[must_use]
pub fn local_time(ms: i64) -> String {
    let Ok(timestamp) = Timestamp::from_millisecond(ms) else { return ms.to_string() };
    timestamp.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Now, in ms since 1970.
#[must_use]
pub fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read() {
        for (text, seconds) in
            [("90s", 90), ("45m", 2700), ("1h 30m", 5400), ("7d", 604_800), ("2w", 1_209_600)]
        {
            assert_eq!(parse("--lease", text).unwrap(), Duration::from_secs(seconds), "{text}");
        }
        for text in ["", "0s", "-5m", "soon", "7", "1y"] {
            assert_eq!(parse("--lease", text).unwrap_err().value, text, "{text}");
        }
    }

    #[test]
    fn lengths_are_shown_short() {
        for (ms, text) in [
            (-5, "0.0 s"),
            (440, "0.4 s"),
            (12_349, "12.3 s"),
            (59_960, "1 m 00 s"),
            (125_000, "2 m 05 s"),
            (3_720_000, "1 h 02 m"),
            (273_600_000, "3 d 04 h"),
        ] {
            assert_eq!(short(ms), text);
        }
    }
}
