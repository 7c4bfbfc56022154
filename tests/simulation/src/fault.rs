//! What goes wrong: each kind by itself, at an occasion that has a number, so that a list of faults is replayed exactly.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// What is counted to say when a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occasion {
    /// Decisions that are made durable, over all clusters, from 1.
    Append,
    /// Executions that are begun outside, over all clusters, from 1.
    Execution,
}

macro_rules! kinds {
    ($($(#[$attribute:meta])* $name:ident = $text:literal, $occasion:ident, one in $rate:literal, $low:literal..=$high:literal ms;)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $($(#[$attribute])* $name,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// As it is written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it happens at.
            #[must_use]
            pub const fn occasion(self) -> Occasion {
                match self { $(Self::$name => Occasion::$occasion,)* }
            }

            /// It happens once in so many occasions, in runs in which it happens at all.
            const fn one_in(self) -> u64 {
                match self { $(Self::$name => $rate,)* }
            }

            /// How long it lasts, or how far it goes: the least and the most, in ms.
            const fn range(self) -> (i64, i64) {
                match self { $(Self::$name => ($low, $high),)* }
            }
        }
    };
}

kinds! {
    /// The server dies before a decision is durable.
    CrashBeforeCommit = "crash-before-commit", Append, one in 60, 10..=90_000 ms;
    /// The server dies when a decision is durable and nobody knows it yet.
    CrashAfterCommit = "crash-after-commit", Append, one in 60, 10..=90_000 ms;
    /// The machine's clock is set forward.
    ClockForward = "clock-forward", Append, one in 80, 1_000..=7_200_000 ms;
    /// The machine's clock is set back; a server notices when it starts.
    ClockBack = "clock-back", Append, one in 80, 1_000..=7_200_000 ms;
    /// The disk is full for a while.
    DiskFull = "disk-full", Append, one in 70, 10..=200_000 ms;
    /// The database is gone for a while.
    DatabaseGone = "database-gone", Append, one in 70, 10..=200_000 ms;
    /// Another server takes the clusters over; this one goes on for a while and does not know.
    TakeOver = "take-over", Append, one in 90, 10..=60_000 ms;
    /// An attempt fails.
    Fails = "fails", Execution, one in 14, 0..=0 ms;
    /// A task fails whenever it is tried, from now on.
    KeepsFailing = "keeps-failing", Execution, one in 40, 0..=0 ms;
    /// A provider makes the machine and then says that it failed.
    MadeThenFailed = "made-then-failed", Execution, one in 20, 0..=0 ms;
    /// A provider says that nothing was made, and that is so.
    NothingMade = "nothing-made", Execution, one in 20, 0..=0 ms;
    /// A worker's answer is lost.
    AnswerLost = "answer-lost", Execution, one in 25, 0..=0 ms;
    /// A worker's answer comes when nobody waits for it any more.
    AnswerLate = "answer-late", Execution, one in 25, 60_000..=200_000 ms;
    /// A worker's answer comes once more.
    AnswerTwice = "answer-twice", Execution, one in 15, 0..=100_000 ms;
    /// A worker's answer is overtaken by others.
    AnswerOvertaken = "answer-overtaken", Execution, one in 15, 500..=20_000 ms;
    /// A task hangs, and does not hear that it is cancelled.
    Hangs = "hangs", Execution, one in 35, 61_000..=300_000 ms;
    /// The worker that executes a task dies with it, and starts again with nothing in hand.
    ProvisionerCrash = "provisioner-crash", Execution, one in 35, 10..=30_000 ms;
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A fault: of which kind, at which occasion, and how long or how far. Written `KIND@OCCASION:MS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Of which kind.
    pub kind: FaultKind,
    /// At which of the occasions of its kind, from 1.
    pub at: u32,
    /// How long it lasts, or how far it goes.
    pub ms: i64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.kind, self.at)?;
        if self.ms == 0 { Ok(()) } else { write!(f, ":{}", self.ms) }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("{text:?} is no fault: write KIND@NUMBER or KIND@NUMBER:MS");
        let (name, rest) = text.trim().split_once('@').ok_or_else(refuse)?;
        let kind = FaultKind::ALL.iter().copied().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let known: Vec<_> = FaultKind::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("there is no fault {name:?}; use one of {}", known.join(", "))
        })?;
        let (at, ms) = rest.split_once(':').unwrap_or((rest, "0"));
        Ok(Self { kind, at: at.parse().map_err(|_| refuse())?, ms: ms.parse().map_err(|_| refuse())? })
    }
}

/// As text, in JSON too.
macro_rules! serde_as_text {
    ($($name:ty),*) => {$(
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

serde_as_text!(Fault);
pub(crate) use serde_as_text;

/// Occasions of each sort at which faults may happen; the rest of a run is quiet.
const OCCASIONS: u32 = 400;

/// The faults of a seed. Each run has some of the kinds and not the others, so that rare kinds meet often, too.
#[must_use]
pub fn draw(seed: u64) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, kind) in FaultKind::ALL.iter().copied().enumerate() {
        let mut random = Random::about(seed, &[0xFA, number as u64]);
        if !random.one_in(3) {
            continue;
        }
        let (low, high) = kind.range();
        for at in 1..=OCCASIONS {
            if random.one_in(kind.one_in()) {
                faults.push(Fault { kind, at, ms: random.between(low, high) });
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_as_it_is_written() {
        for fault in draw(3).into_iter().chain(draw(4)) {
            assert_eq!(fault.to_string().parse(), Ok(fault));
        }
        for text in ["", "crash", "fails@x", "fails@1:x", "nothing@1"] {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_kind_is_drawn_and_no_run_has_all() {
        let seeds: Vec<_> = (0..40).map(draw).collect();
        for kind in FaultKind::ALL {
            let with = seeds.iter().filter(|faults| faults.iter().any(|fault| fault.kind == *kind)).count();
            assert!((2..38).contains(&with), "{kind} in {with} of 40 runs");
        }
    }
}
