//! Who follows messages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::cause::Cause;
use super::{Look, Shared, is_within};

/// Messages that wait for who follows; what comes then is missed, and counted.
const MOST_WAITING: usize = 4096;

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was handled; nobody waits for an answer.
    Handled,
    /// It was answered.
    Answered,
    /// It was answered with a refusal or a fault.
    Refused,
    /// It was handled, and whoever waits was told that there is no answer.
    Unanswered,
    /// Whoever sent it waited no longer when it was its turn.
    Abandoned,
    /// The actor broke over it.
    Broke,
    /// It was lost, as was asked for.
    Dropped,
    /// The actor was made to break over it, as was asked for.
    Crashed,
}

/// A message that was followed.
#[derive(Debug, Clone)]
pub struct Followed {
    /// Path of the actor that it was for.
    pub to: Arc<str>,
    /// Path of the actor that sent it; `None` when it came from elsewhere.
    pub from: Option<Arc<str>>,
    /// The kind of the message that was being handled when it was sent.
    pub during: Option<&'static str>,
    /// Its kind.
    pub kind: &'static str,
    /// How large it is itself, in bytes, without what it refers to.
    pub bytes: usize,
    /// What it is about: a task, an attempt; `None`: what its actor is about.
    pub subject: Option<String>,
    /// The id of the request that led to it.
    pub cause: Option<Cause>,
    /// From when it was sent until it was its turn, in ns; `None`: it was sent before anybody looked.
    pub waited_ns: Option<u64>,
    /// How long the handler took, in ns.
    pub taken_ns: u64,
    /// From its turn until its answer, in ns, where one was waited for.
    pub answered_ns: Option<u64>,
    /// Whether it was delayed, as was asked for.
    pub delayed: bool,
    /// What came of it.
    pub outcome: Outcome,
}

/// Which messages are followed: those for which all hold that are given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only to or from actors at this path or below it.
    pub under: Option<String>,
    /// Only those that came of the request of this id.
    pub cause: Option<String>,
}

impl Filter {
    /// Whether a message is followed.
    #[must_use]
    pub fn matches(&self, to: &str, from: Option<&str>, cause: Option<&str>) -> bool {
        let near = |under: &String| is_within(to, under) || from.is_some_and(|from| is_within(from, under));
        self.under.as_ref().is_none_or(near)
            && self.cause.as_deref().is_none_or(|wanted| cause == Some(wanted))
    }
}

#[derive(Debug)]
pub(super) struct Tap {
    number: u64,
    filter: Filter,
    sender: Sender<Followed>,
    missed: Arc<AtomicU64>,
}

/// Messages as they are handled.
#[derive(Debug)]
pub struct Tail {
    number: u64,
    receiver: Receiver<Followed>,
    missed: Arc<AtomicU64>,
    shared: Arc<Shared>,
    _look: Look,
}

impl Tail {
    /// The next one.
    pub async fn next(&mut self) -> Option<Followed> {
        self.receiver.recv().await
    }

    /// How many there were since this was asked last that did not find a place.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let mut taps = self.shared.taps.write().unwrap_or_else(PoisonError::into_inner);
        taps.retain(|tap| tap.number != self.number);
    }
}

/// Follows messages, until the answer is dropped.
pub(super) fn follow(shared: &Arc<Shared>, filter: Filter) -> Tail {
    let number = shared.numbers.fetch_add(1, Ordering::Relaxed);
    let (sender, receiver) = channel(MOST_WAITING);
    let missed = Arc::new(AtomicU64::new(0));
    let tap = Tap { number, filter, sender, missed: Arc::clone(&missed) };
    shared.taps.write().unwrap_or_else(PoisonError::into_inner).push(tap);
    Tail { number, receiver, missed, shared: Arc::clone(shared), _look: Look::new() }
}

impl Shared {
    /// Whether anybody follows such a message.
    pub(super) fn is_followed(&self, to: &str, from: Option<&str>, cause: Option<&str>) -> bool {
        let taps = self.taps.read().unwrap_or_else(PoisonError::into_inner);
        taps.iter().any(|tap| tap.filter.matches(to, from, cause))
    }

    /// Tells all who follow it. Nobody is waited for.
    pub(super) fn tell(&self, message: &Followed) {
        let taps = self.taps.read().unwrap_or_else(PoisonError::into_inner);
        let (from, cause) = (message.from.as_deref(), message.cause.as_ref().map(Cause::id));
        for tap in taps.iter().filter(|tap| tap.filter.matches(&message.to, from, cause)) {
            if tap.sender.try_send(message.clone()).is_err() {
                tap.missed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_followed_by_those_who_asked_for_it() {
        let filter = |under: Option<&str>, cause: Option<&str>| Filter {
            under: under.map(str::to_owned),
            cause: cause.map(str::to_owned),
        };
        let (to, from, cause) = ("/pools/t1", Some("/clusters/7/nodes/a"), Some("r1"));
        for (filter, expected) in [
            (filter(None, None), true),
            (filter(Some("/pools"), None), true),
            (filter(Some("/clusters/7"), None), true),
            (filter(Some("/clusters/77"), None), false),
            (filter(None, Some("r1")), true),
            (filter(None, Some("r2")), false),
            (filter(Some("/clusters/7"), Some("r2")), false),
        ] {
            assert_eq!(filter.matches(to, from, cause), expected, "{filter:?}");
        }
        assert!(!filter(None, Some("r1")).matches(to, from, None));
    }
}
