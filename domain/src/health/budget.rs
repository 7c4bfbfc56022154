//! What is probed next: so many at once, fair to tenants, each cluster in its own part of the interval.

use crate::id::ClusterId;

/// A cluster with probes that wait or run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    /// Whose it is.
    pub tenant: &'a str,
    /// Probes that wait.
    pub waiting: usize,
    /// Probes that run.
    pub running: usize,
    /// Since when it has been its turn, in ms.
    pub since: i64,
}

/// Which cluster may probe next, of those that want to: of the tenant with the fewest probes running, the cluster with the
/// fewest, and of several the one whose turn it has been longest. None while `most` run.
#[must_use]
pub fn next(claims: &[Claim<'_>], most: usize) -> Option<usize> {
    if claims.iter().map(|claim| claim.running).sum::<usize>() >= most {
        return None;
    }
    let of_tenant =
        |tenant| claims.iter().filter(|it| it.tenant == tenant).map(|it| it.running).sum::<usize>();
    let waits = claims.iter().enumerate().filter(|(_, claim)| claim.waiting > 0);
    waits
        .min_by_key(|(_, claim)| (of_tenant(claim.tenant), claim.running, claim.since))
        .map(|(place, _)| place)
}

/// When it is a cluster's turn next after `now`, in ms: once in each interval, at a point of it that its id gives, so that
/// clusters that came to be together are not probed together.
#[must_use]
pub fn next_turn(cluster: ClusterId, interval: i64, now: i64) -> i64 {
    let interval = interval.max(1);
    // The multiplier spreads ids that follow each other over the whole range (Fibonacci hashing).
    let spread = cluster.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let point = i64::try_from(spread).unwrap_or(0) % interval;
    let since = (now - point).rem_euclid(interval);
    now + interval - since
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_tenant_and_then_the_cluster_with_the_fewest_goes_first() {
        let claim = |tenant, waiting, running, since| Claim { tenant, waiting, running, since };
        for (claims, most, first) in [
            (vec![], 4, None),
            (vec![claim("a", 3, 0, 1)], 0, None),
            (vec![claim("a", 0, 1, 1)], 4, None),
            (vec![claim("a", 9, 2, 1), claim("b", 1, 0, 5)], 4, Some(1)),
            (vec![claim("a", 9, 2, 1), claim("a", 1, 0, 5), claim("b", 1, 1, 9)], 4, Some(2)),
            (vec![claim("a", 9, 1, 1), claim("a", 1, 0, 5)], 4, Some(1)),
            (vec![claim("a", 9, 0, 7), claim("a", 1, 0, 5)], 4, Some(1)),
            (vec![claim("a", 9, 2, 7), claim("b", 1, 2, 5)], 4, None),
        ] {
            assert_eq!(next(&claims, most), first, "{claims:?}");
        }
    }

    #[test]
    fn a_thousand_clusters_are_spread_over_the_interval() {
        let mut tenths = BTreeMap::new();
        for id in 1..=1_000 {
            *tenths.entry(next_turn(ClusterId(id), 30_000, 0) / 3_001).or_insert(0) += 1;
        }
        assert_eq!(tenths.len(), 10);
        assert!(tenths.values().all(|count| (50..200).contains(count)), "{tenths:?}");
    }

    proptest! {
        #[test]
        fn a_turn_comes_once_in_each_interval(id: u64, interval in 1..100_000_i64, now in 0..1_i64 << 50) {
            let turn = next_turn(ClusterId(id), interval, now);
            prop_assert!(now < turn && turn <= now + interval);
            prop_assert_eq!(next_turn(ClusterId(id), interval, turn), turn + interval);
            prop_assert_eq!(next_turn(ClusterId(id), interval, turn - 1), turn);
        }

        /// Whatever is asked for, all of it is probed, never more at once than allowed, and a tenant never has more than
        /// its share while another one waits.
        #[test]
        fn all_get_their_turn_and_their_share(
            wants in prop::collection::vec((0..4_usize, 0..20_usize), 1..12), most in 1..8_usize,
        ) {
            let names = ["a", "b", "c", "d"];
            let mut claims: Vec<Claim<'_>> = wants.iter().enumerate().map(|(at, (tenant, waiting))| Claim {
                tenant: names[*tenant], waiting: *waiting, running: 0, since: i64::try_from(at).unwrap(),
            }).collect();
            let mut left: usize = claims.iter().map(|claim| claim.waiting).sum();
            while left > 0 {
                while let Some(place) = next(&claims, most) {
                    claims[place].waiting -= 1;
                    claims[place].running += 1;
                    let running = |name: &str| claims.iter().filter(|it| it.tenant == name).map(|it| it.running).sum::<usize>();
                    let waits = |name: &&&str| claims.iter().any(|it| it.tenant == **name && it.waiting > 0);
                    let mine = running(claims[place].tenant);
                    prop_assert!(names.iter().filter(waits).all(|name| mine <= running(name) + 1));
                }
                let running: usize = claims.iter().map(|claim| claim.running).sum();
                prop_assert!((1..=most).contains(&running));
                left -= running;
                claims.iter_mut().for_each(|claim| claim.running = 0);
            }
        }
    }
}
