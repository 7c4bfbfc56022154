//! What findings come to, one after the other: one is not believed, several in a row are.

use super::{Finding, Health, Policy};

/// What is known of one machine or service from its probes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// How it is.
    pub health: Health,
    /// Since when, in ms since 1970.
    pub since: i64,
    /// Why it is so, for people; empty while it is healthy.
    pub reason: String,
    /// When it was probed last, in ms since 1970.
    pub probed: Option<i64>,
    /// Why the last probe found nothing out; empty when it did.
    pub unknown: String,
    failures: u32,
    successes: u32,
}

impl Watch {
    /// One that was found down, or healthy, before this process began to watch.
    #[must_use]
    pub fn known(health: Health, since: i64, reason: &str) -> Self {
        Self { health, since, reason: reason.to_owned(), ..Self::default() }
    }

    /// Takes a finding. Gives what changed, when it is to be remembered: it went down, or came back.
    pub fn observe(&mut self, finding: &Finding, policy: &Policy, now: i64) -> Option<Health> {
        self.probed = Some(now);
        self.unknown.clear();
        match finding {
            Finding::Unknown(why) => {
                self.unknown.clone_from(why);
                None
            }
            Finding::Up => self.found_up(policy, now),
            Finding::Down(reason) | Finding::Gone(reason) => self.found_down(reason, policy, now),
        }
    }

    /// Whether this process has itself found it down often enough: what an earlier one found may be long over.
    #[must_use]
    pub fn is_confirmed_down(&self, policy: &Policy) -> bool {
        self.health == Health::Down && self.failures >= policy.failures_before_down
    }

    /// Whether anything is wrong with it, believed or not.
    #[must_use]
    pub const fn ails(&self) -> bool {
        matches!(self.health, Health::Suspect | Health::Down)
    }

    fn found_up(&mut self, policy: &Policy, now: i64) -> Option<Health> {
        self.failures = 0;
        self.successes = self.successes.saturating_add(1);
        let was_down = self.health == Health::Down;
        if was_down && self.successes < policy.successes_before_up {
            return None;
        }
        self.becomes(Health::Healthy, now);
        self.reason.clear();
        was_down.then_some(Health::Healthy)
    }

    fn found_down(&mut self, reason: &str, policy: &Policy, now: i64) -> Option<Health> {
        self.successes = 0;
        self.failures = self.failures.saturating_add(1);
        reason.clone_into(&mut self.reason);
        if self.health == Health::Down {
            return None;
        }
        if self.failures < policy.failures_before_down {
            self.becomes(Health::Suspect, now);
            return None;
        }
        self.becomes(Health::Down, now);
        Some(Health::Down)
    }

    const fn becomes(&mut self, health: Health, now: i64) {
        if self.health as u8 != health as u8 {
            self.health = health;
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finding(letter: char) -> Finding {
        match letter {
            '+' => Finding::Up,
            '-' => Finding::Down("off".to_owned()),
            'x' => Finding::Gone("gone".to_owned()),
            _ => Finding::Unknown("no answer".to_owned()),
        }
    }

    /// How a watch stands after each of some findings: `?`, `+`, `s`, `D`; with `!` where it is to be remembered.
    fn course(findings: &str, policy: &Policy) -> String {
        let mut watch = Watch::default();
        let step = |(at, letter): (usize, char)| {
            let changed = watch.observe(&finding(letter), policy, i64::try_from(at).unwrap());
            let stands = match watch.health {
                Health::Unknown => "?",
                Health::Healthy => "+",
                Health::Suspect => "s",
                Health::Down => "D",
            };
            format!("{stands}{}", if changed.is_some() { "!" } else { "" })
        };
        findings.chars().enumerate().map(step).collect()
    }

    #[test]
    fn it_takes_several_in_a_row_to_go_down_and_to_come_back() {
        let policy = Policy::default();
        for (findings, stands) in [
            ("+++", "+++"),
            ("?+", "?+"),
            ("---", "ssD!"),
            ("+--+", "+ss+"),
            ("+--+---", "+ss+ssD!"),
            ("xxx", "ssD!"),
            ("-?-?-", "ssssD!"),
            ("---+-++", "ssD!DDD+!"),
            ("---+?+-", "ssD!DD+!s"),
            ("----", "ssD!D"),
        ] {
            assert_eq!(course(findings, &policy), stands, "{findings}");
        }
        let hasty = Policy { failures_before_down: 1, successes_before_up: 1, ..policy };
        assert_eq!(course("-+-", &hasty), "D!+!D!");
    }

    #[test]
    fn what_an_earlier_process_found_is_not_believed_before_it_is_found_again() {
        let policy = Policy::default();
        let mut watch = Watch::known(Health::Down, 5, "off");
        for confirmed in [false, false, true] {
            assert_eq!(watch.observe(&finding('-'), &policy, 9), None);
            assert_eq!(watch.is_confirmed_down(&policy), confirmed);
        }
        assert_eq!((watch.since, watch.reason.as_str()), (5, "off"));
    }

    proptest! {
        #[test]
        fn changes_that_are_remembered_alternate_and_end_as_it_stands(
            findings in "[-+x?]{0,60}", failures in 1..5_u32, successes in 1..5_u32,
        ) {
            let policy = Policy {
                failures_before_down: failures, successes_before_up: successes, ..Policy::default()
            };
            let mut watch = Watch::default();
            let mut last = Health::Healthy;
            for (at, letter) in findings.char_indices() {
                if let Some(change) = watch.observe(&finding(letter), &policy, i64::try_from(at).unwrap()) {
                    prop_assert!(change != last && matches!(change, Health::Healthy | Health::Down));
                    last = change;
                }
                prop_assert_eq!(watch.health == Health::Down, last == Health::Down);
                // So many ups in a row always mean healthy, so many downs always mean down.
                let known: Vec<char> = findings[..=at].chars().filter(|letter| *letter != '?').collect();
                let row = |up: bool| known.iter().rev().take_while(|letter| (**letter == '+') == up).count();
                prop_assert!(row(true) < successes as usize || watch.health == Health::Healthy);
                prop_assert!(row(false) < failures as usize || watch.health == Health::Down);
            }
        }
    }
}
