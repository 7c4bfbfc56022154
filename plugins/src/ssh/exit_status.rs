//! How a command on a machine ended.

use std::fmt;

/// The number a command ended with, as the shell tells it: 0 is success, 128 + N means that signal N ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExitStatus(pub u8);

/// Names of the signals that end programs, by their number on Linux.
const SIGNALS: [(u8, &str); 14] = [
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (4, "ILL"),
    (6, "ABRT"),
    (7, "BUS"),
    (8, "FPE"),
    (9, "KILL"),
    (10, "USR1"),
    (11, "SEGV"),
    (12, "USR2"),
    (13, "PIPE"),
    (14, "ALRM"),
    (15, "TERM"),
];

/// What the shell adds to the number of the signal that ended a command.
const SIGNAL_BASE: u8 = 128;

impl ExitStatus {
    /// Whether the command succeeded.
    #[must_use]
    pub const fn success(self) -> bool {
        self.0 == 0
    }

    /// Name of the signal that ended the command, such as `KILL`. A command that ends itself with 128 + N looks the same.
    #[must_use]
    pub fn signal(self) -> Option<&'static str> {
        let number = self.0.checked_sub(SIGNAL_BASE)?;
        SIGNALS.iter().find(|(signal, _)| *signal == number).map(|(_, name)| *name)
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.signal() {
            Some(name) => write!(f, "exit status {} (signal {name})", self.0),
            None => write!(f, "exit status {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_its_name() {
        assert_eq!(ExitStatus(137).signal(), Some("KILL"));
        assert_eq!(ExitStatus(143).to_string(), "exit status 143 (signal TERM)");
        assert_eq!(ExitStatus(9).signal(), None);
        assert_eq!(ExitStatus(128).signal(), None);
        assert!(ExitStatus(0).success());
    }
}
