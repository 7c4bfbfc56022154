//! Machine time: for how long machines were there, in intervals of a calendar.
//!
//! Times are whole seconds since 1970 here, as they are asked for and answered; lives are known to the millisecond.

use std::collections::BTreeMap;

/// How long one machine was there, in ms since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// When it had been made.
    pub from: i64,
    /// When it had been given back; `None` while it is there.
    pub until: Option<i64>,
}

/// Machine time in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Its beginning, in seconds since 1970.
    pub time: i64,
    /// The sum over all machines, in ms.
    pub value_ms: i64,
}

/// Most intervals an answer may have.
pub const MAX_INTERVALS: i64 = 100_000;

/// Lengths by which machine time can be grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// 60 minutes.
    Hour,
    /// 24 hours.
    Day,
    /// 7 days.
    Week,
    /// 30 days.
    Month,
    /// 360 days.
    Year,
}

impl Period {
    /// The period of this name, in small letters.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "hour" => Self::Hour,
            "day" => Self::Day,
            "week" => Self::Week,
            "month" => Self::Month,
            "year" => Self::Year,
            _ => return None,
        })
    }

    /// In seconds.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        const DAY: i64 = 24 * 3_600;
        match self {
            Self::Hour => 3_600,
            Self::Day => DAY,
            Self::Week => 7 * DAY,
            Self::Month => 30 * DAY,
            Self::Year => 360 * DAY,
        }
    }
}

/// The lives of machines from what happened, in order: the node, whether its machine was made (or given back), and when
/// in ms. A node may have had several machines, one after the other.
#[must_use]
pub fn lives<'a>(happened: impl IntoIterator<Item = (&'a str, bool, i64)>) -> Vec<Life> {
    let mut there: BTreeMap<&str, i64> = BTreeMap::new();
    let mut lives = Vec::new();
    for (node, made, at) in happened {
        if made {
            there.entry(node).or_insert(at);
        } else if let Some(from) = there.remove(node) {
            lives.push(Life { from, until: Some(at) });
        }
    }
    lives.extend(there.into_values().map(|from| Life { from, until: None }));
    lives
}

/// The interval machine time is asked for when nothing is said, in seconds: from the first machine to the last one given
/// back, or to `now` while there is one.
#[must_use]
pub fn extent(lives: &[Life], now: i64) -> (i64, i64) {
    let first = lives.iter().map(|life| life.from.div_euclid(1_000)).min();
    let last = lives.iter().map(|life| life.until.map_or(now, |until| until.div_euclid(1_000))).max();
    (first.unwrap_or(now), last.unwrap_or(now))
}

/// Machine time between `start` and `end`, in seconds: in one interval, or in one for each period. The first begins at
/// `start` and the others at multiples of the period since 1970; those without machines are there too. `None` when there
/// would be more than [`MAX_INTERVALS`].
#[must_use]
pub fn machine_time(lives: &[Life], start: i64, end: i64, period: Option<Period>) -> Option<Vec<Interval>> {
    let mut bounds = vec![start];
    if let Some(length) = period.map(Period::seconds) {
        if end.saturating_sub(start) / length >= MAX_INTERVALS {
            return None;
        }
        let next = start.div_euclid(length).saturating_add(1).saturating_mul(length);
        let count = usize::try_from(MAX_INTERVALS).unwrap_or(usize::MAX);
        bounds
            .extend((0..).map(|n: i64| next.saturating_add(n * length)).take_while(|b| *b < end).take(count));
    }
    let ends = bounds.iter().skip(1).copied().chain([end]);
    let interval = |(time, end): (&i64, i64)| {
        // Who asks for the end of time gets the largest number there is.
        let value_ms = lives.iter().map(|life| life.within(*time, end)).fold(0, i64::saturating_add);
        Interval { time: *time, value_ms }
    };
    Some(bounds.iter().zip(ends).map(interval).collect())
}

impl Life {
    /// How much of it lies between two times in seconds, in ms.
    fn within(&self, start: i64, end: i64) -> i64 {
        let from = self.from.max(start.saturating_mul(1_000));
        let until = self.until.unwrap_or(i64::MAX).min(end.saturating_mul(1_000));
        until.saturating_sub(from).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(from: i64, until: Option<i64>) -> Life {
        Life { from: from * 1_000, until: until.map(|s| s * 1_000) }
    }

    #[test]
    fn times_beyond_all_calendars_are_answered() {
        let lives = [life(2, None), life(3, None), life(4, Some(5))];
        let found = machine_time(&lives, i64::MIN, i64::MAX, None).unwrap();
        assert_eq!(found, [Interval { time: i64::MIN, value_ms: i64::MAX }]);
        for start in [i64::MIN, 0, i64::MAX] {
            assert!(
                machine_time(&lives, start, i64::MAX, Some(Period::Year)).is_none_or(|all| !all.is_empty())
            );
        }
    }

    #[test]
    fn machines_count_from_made_to_given_back_within_what_is_asked() {
        let lives = [life(2, None), life(17, None), life(9, Some(20)), life(25, None)];
        let found = machine_time(&lives, 5, 22, None).unwrap();
        assert_eq!(found, [Interval { time: 5, value_ms: 33_000 }], "(22-5) + (22-17) + (20-9)");
    }

    #[test]
    fn a_node_may_have_had_several_machines_and_a_task_may_come_twice() {
        let happened = [
            ("a", true, 1),
            ("b", true, 2),
            ("a", true, 3),
            ("a", false, 5),
            ("a", true, 8),
            ("c", false, 9),
        ];
        let found = lives(happened);
        let expected =
            [Life { from: 1, until: Some(5) }, Life { from: 8, until: None }, Life { from: 2, until: None }];
        assert_eq!(found, expected);
    }

    #[test]
    fn intervals_begin_at_multiples_of_the_period_and_empty_ones_are_there() {
        let lives = [life(7_000, Some(7_300)), life(15_000, None)];
        let found = machine_time(&lives, 6_900, 18_000, Some(Period::Hour)).unwrap();
        let shown: Vec<_> = found.iter().map(|i| (i.time, i.value_ms)).collect();
        assert_eq!(shown, [(6_900, 200_000), (7_200, 100_000), (10_800, 0), (14_400, 3_000_000)]);
    }

    #[test]
    fn what_is_asked_for_by_default_ends_now_while_a_machine_is_there() {
        assert_eq!(extent(&[], 9), (9, 9));
        assert_eq!(extent(&[life(2, Some(4)), life(3, Some(6))], 9), (2, 6));
        assert_eq!(extent(&[life(2, Some(4)), life(3, None)], 9), (2, 9));
        assert_eq!(machine_time(&[], 9, 9, None).unwrap(), [Interval { time: 9, value_ms: 0 }]);
    }

    #[test]
    fn answers_without_end_are_not_given() {
        assert_eq!(machine_time(&[], 0, i64::MAX, Some(Period::Hour)), None);
        assert_eq!(machine_time(&[], i64::MIN, i64::MAX, Some(Period::Year)), None);
        assert!(machine_time(&[life(2, None)], 0, i64::MAX, None).is_some());
        assert_eq!(machine_time(&[], 10, 5, Some(Period::Day)).unwrap().len(), 1);
    }
}
