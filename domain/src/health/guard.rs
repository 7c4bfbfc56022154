//! Whether machines that are down are replaced, and why not.
//!
//! Replacing is for the few that fail by themselves. When many ail at once the cause is elsewhere (a switch, the provider,
//! this server's own network), and replacing would take away what is only out of reach: then an alarm is all there is.

use std::collections::BTreeSet;

use super::policy::{HealMode, Policy};
use crate::id::NodeId;

/// How far back heals count against their limit, in ms.
const HOUR: i64 = 3_600_000;
/// How many machines an alarm names.
const NAMED: usize = 5;

/// Machines, and how many of them ail: are down, or may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ailing {
    /// In all.
    pub machines: usize,
    /// Those that ail.
    pub ailing: usize,
}

/// A cluster some of whose machines are down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation<'a> {
    /// What it is called in commands.
    pub cluster: String,
    /// How it is looked after.
    pub policy: Policy,
    /// Nodes whose machines are down, without those in maintenance.
    pub down: BTreeSet<NodeId>,
    /// Those of them for which the only witness is this server, which cannot reach them.
    pub unproven: BTreeSet<NodeId>,
    /// Whether the cluster is usable and no job is under way.
    pub at_rest: bool,
    /// Machines of this cluster.
    pub own: Ailing,
    /// Machines of all clusters of its provider.
    pub provider: Ailing,
    /// When it was healed by itself before, in ms since 1970.
    pub healed: &'a [i64],
    /// In ms since 1970.
    pub now: i64,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: all is well, or nobody wants anything done.
    Nothing,
    /// Nothing yet; why not.
    Wait(String),
    /// Replace the machines of these nodes.
    Heal(BTreeSet<NodeId>),
    /// Tell people; what, and what they can do.
    Alarm(String),
}

/// The most machines of so many that may ail while any is still replaced.
#[must_use]
pub fn meltdown_above(policy: &Policy, machines: usize) -> usize {
    let part = machines.saturating_mul(policy.meltdown_percent as usize) / 100;
    part.max(policy.meltdown_minimum as usize)
}

/// What is to be done about a cluster.
#[must_use]
pub fn judge(situation: &Situation<'_>) -> Verdict {
    let Situation { policy, down, .. } = situation;
    if down.is_empty() || policy.heal == HealMode::Off {
        return Verdict::Nothing;
    }
    let (named, cluster) = (names(down), &situation.cluster);
    if let Some(meltdown) = meltdown(situation) {
        return Verdict::Alarm(format!("{named}; nothing is replaced: {meltdown}"));
    }
    let by_hand = format!("replace with: cooperage cluster heal {cluster}");
    if policy.heal == HealMode::Alarm {
        return Verdict::Alarm(format!("{named}; {by_hand} (health.heal is \"alarm\")"));
    }
    if !situation.at_rest {
        return Verdict::Wait(format!(
            "{named}; replaced when the cluster is active and no job is under way"
        ));
    }
    let sure: BTreeSet<NodeId> = down.difference(&situation.unproven).cloned().collect();
    if sure.is_empty() {
        let why = "this server cannot reach them, which others may";
        return Verdict::Alarm(format!("{named}; {why}; see, and {by_hand}"));
    }
    let recent = situation.healed.iter().filter(|at| **at > situation.now.saturating_sub(HOUR)).count();
    if recent >= policy.heals_per_hour as usize {
        let limit = policy.heals_per_hour;
        return Verdict::Alarm(format!(
            "{named}; not replaced: the cluster was healed {recent} times within the hour (health.heals_per_hour is \
             {limit}); find out why they fail, and {by_hand}"
        ));
    }
    Verdict::Heal(sure)
}

/// Why so many ail that nothing is replaced.
fn meltdown(situation: &Situation<'_>) -> Option<String> {
    let policy = &situation.policy;
    let too_many = |of: Ailing| (of.ailing > meltdown_above(policy, of.machines)).then_some(of);
    let (whose, Ailing { machines, ailing }) = too_many(situation.own)
        .map(|own| ("the cluster", own))
        .or_else(|| too_many(situation.provider).map(|all| ("its provider", all)))?;
    let limit = meltdown_above(policy, machines);
    Some(format!(
        "{ailing} of {machines} machines of {whose} ail, more than {limit} (health.meltdown_percent); see whether their \
         hosts, network or provider fail"
    ))
}

fn names(down: &BTreeSet<NodeId>) -> String {
    let first: Vec<&str> = down.iter().take(NAMED).map(NodeId::as_str).collect();
    let more = down.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (noun, verb) = if down.len() == 1 { ("machine of node", "is") } else { ("machines of nodes", "are") };
    format!("the {noun} {}{more} {verb} down", first.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(count: usize) -> BTreeSet<NodeId> {
        (0..count).map(|number| NodeId(format!("n{number}"))).collect()
    }

    fn situation(down: usize, machines: usize) -> Situation<'static> {
        Situation {
            cluster: "00000001".to_owned(),
            policy: Policy { heal: HealMode::Auto, ..Policy::default() },
            down: nodes(down),
            unproven: BTreeSet::new(),
            at_rest: true,
            own: Ailing { machines, ailing: down },
            provider: Ailing { machines: 100, ailing: down },
            healed: &[],
            now: 10 * HOUR,
        }
    }

    fn alarm(situation: &Situation<'_>) -> String {
        match judge(situation) {
            Verdict::Alarm(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_few_are_replaced_and_many_are_not() {
        for (down, machines, healed) in [
            (0, 4, false),
            (1, 1, true),
            (2, 2, true),
            (2, 4, true),
            (3, 4, false),
            (3, 12, true),
            (4, 12, false),
            (5, 20, true),
            (6, 20, false),
        ] {
            let verdict = judge(&situation(down, machines));
            assert_eq!(matches!(verdict, Verdict::Heal(_)), healed, "{down} of {machines}: {verdict:?}");
        }
        let text = alarm(&situation(3, 4));
        assert!(text.contains("3 of 4 machines of the cluster ail, more than 2"), "{text}");
    }

    #[test]
    fn a_provider_in_trouble_stops_the_healing_of_all_its_clusters() {
        let trouble = Situation { provider: Ailing { machines: 100, ailing: 26 }, ..situation(1, 10) };
        let text = alarm(&trouble);
        assert!(text.contains("26 of 100 machines of its provider ail"), "{text}");
        let bearable = Situation { provider: Ailing { machines: 100, ailing: 25 }, ..trouble };
        assert_eq!(judge(&bearable), Verdict::Heal(nodes(1)));
    }

    #[test]
    fn nothing_is_replaced_against_the_policy_or_the_limits() {
        let off = Policy { heal: HealMode::Off, ..Policy::default() };
        assert_eq!(judge(&Situation { policy: off, ..situation(1, 4) }), Verdict::Nothing);
        let text = alarm(&Situation { policy: Policy::default(), ..situation(1, 4) });
        assert!(text.contains("n0 is down") && text.contains("cooperage cluster heal 00000001"), "{text}");
        assert!(matches!(judge(&Situation { at_rest: false, ..situation(1, 4) }), Verdict::Wait(_)));
        let text = alarm(&Situation { unproven: nodes(1), ..situation(1, 4) });
        assert!(text.contains("cannot reach"), "{text}");
        let one = Situation { unproven: nodes(1), ..situation(2, 4) };
        assert_eq!(judge(&one), Verdict::Heal(BTreeSet::from([NodeId("n1".to_owned())])));
    }

    #[test]
    fn a_cluster_is_healed_only_so_often() {
        let now = 10 * HOUR;
        let often = [now - HOUR - 1, now - 5, now - 4, now - 3];
        let text = alarm(&Situation { healed: &often, ..situation(1, 4) });
        assert!(text.contains("3 times within the hour"), "{text}");
        assert_eq!(judge(&Situation { healed: &often[..3], ..situation(1, 4) }), Verdict::Heal(nodes(1)));
    }

    proptest! {
        #[test]
        fn what_is_healed_is_down_proven_and_within_all_limits(
            down in 0..12_usize, more in 0..30_usize, others in 0..100_usize, ailing in 0..100_usize,
            mode in 0..3_u8, at_rest: bool, unproven in 0..4_usize, heals in 0..5_usize, percent in 0..=100_u32,
        ) {
            let heal = [HealMode::Auto, HealMode::Alarm, HealMode::Off][usize::from(mode)];
            let policy = Policy { heal, meltdown_percent: percent, ..Policy::default() };
            let own = Ailing { machines: down + more, ailing: down };
            let provider = Ailing { machines: own.machines + others, ailing: down + ailing.min(others) };
            let healed = vec![10 * HOUR - 1; heals];
            let given = Situation {
                policy, own, provider, at_rest, unproven: nodes(unproven), healed: &healed, ..situation(down, 0)
            };
            if let Verdict::Heal(which) = judge(&given) {
                prop_assert!(!which.is_empty() && which.is_subset(&given.down) && which.is_disjoint(&given.unproven));
                prop_assert!(heal == HealMode::Auto && at_rest && heals < 3);
                for of in [own, provider] {
                    prop_assert!(of.ailing <= 2 || of.ailing * 100 <= of.machines * percent as usize);
                }
            }
        }
    }
}
