//! How long most take.

use std::time::Duration;

use crate::milliseconds;

/// The value that so many percent are not above; puts them in order.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let place = (values.len() as f64 * percent / 100.0).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().unwrap_or_default()
}

/// Of many durations: so many percent are not longer, in ms.
pub fn of_durations(durations: &[Duration], percent: f64) -> f64 {
    let mut values: Vec<f64> = durations.iter().copied().map(milliseconds).collect();
    percentile(&mut values, percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let mut values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile(&mut values, 50.0), 100.0);
        assert_eq!((percentile(&mut values, 99.0), percentile(&mut values, 100.0)), (198.0, 200.0));
        assert_eq!((percentile(&mut [], 99.0), percentile(&mut [3.0], 99.0)), (0.0, 3.0));
    }
}
