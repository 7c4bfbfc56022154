//! What the process ends with, so that scripts can tell one failure from another.

/// What was asked for is done.
pub const DONE: u8 = 0;
/// It failed, or was refused, for a reason without a code of its own.
pub const FAILED: u8 = 1;
/// What was typed or written down is wrong; nothing was tried.
pub const USAGE: u8 = 2;
/// There is no such thing, or none that the caller may see.
pub const UNKNOWN: u8 = 3;
/// The server does not know the caller, or does not let the caller do it.
pub const FORBIDDEN: u8 = 4;
/// No server answers, or it cannot serve now: the same may succeed later.
pub const UNAVAILABLE: u8 = 5;
/// The job that was waited for failed.
pub const JOB_FAILED: u8 = 6;
/// What was waited for has not happened in time; it may still.
pub const TIMED_OUT: u8 = 7;
/// There are differences (`diff --exit-code`).
pub const DIFFERS: u8 = 8;
/// Somebody pressed Ctrl-C.
pub const INTERRUPTED: u8 = 130;

/// Every code with its meaning, for people.
pub const MEANINGS: [(u8, &str); 10] = [
    (DONE, "done"),
    (FAILED, "failed or refused"),
    (USAGE, "wrong usage: an option, a value or a document is wrong"),
    (UNKNOWN, "there is no such thing"),
    (FORBIDDEN, "not allowed, or no valid token"),
    (UNAVAILABLE, "no server answers, or it is busy: try again"),
    (JOB_FAILED, "the job that was waited for failed"),
    (TIMED_OUT, "not over within --timeout"),
    (DIFFERS, "there are differences (diff --exit-code)"),
    (INTERRUPTED, "interrupted by Ctrl-C"),
];

/// The meanings, a line each.
#[must_use]
pub fn table() -> String {
    let lines = MEANINGS.iter().map(|(code, meaning)| format!("  {code:>3}  {meaning}\n"));
    lines.collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_once_each_and_in_the_book() {
        let book = include_str!("../../docs/src/command-line.md");
        for (index, (code, meaning)) in MEANINGS.iter().enumerate() {
            assert!(MEANINGS.iter().skip(index + 1).all(|(other, _)| other > code), "{code} is in its place");
            assert!(book.contains(&format!("| {code} | {meaning} |")), "{code} {meaning} is not in the book");
        }
    }
}
