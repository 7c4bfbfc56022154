//! From a list that makes a run fail to the shortest part of it that does.

use crate::outcome::Outcome;
use crate::plan::Plan;

/// The items of `list` that are needed for `fails` to hold, in order. Drops halves first, then smaller parts, then single
/// items.
pub fn shortest<T: Clone>(list: &[T], fails: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut kept = list.to_vec();
    let mut size = kept.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < kept.len() {
            let end = kept.len().min(at + size);
            let mut without = kept[..at].to_vec();
            without.extend_from_slice(&kept[end..]);
            if fails(&without) {
                kept = without;
            } else {
                at = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    kept
}

/// The shortest part of a plan that breaks the same invariant.
pub fn plan(failing: &Plan, invariant: &str, run: &mut dyn FnMut(&Plan) -> Outcome) -> Plan {
    let mut fails = |plan: &Plan| run(plan).violation.is_some_and(|it| it.invariant == invariant);
    let mut short = failing.clone();
    // What was asked may be needed only because of a fault, and the other way round.
    for _ in 0..2 {
        let base = short.clone();
        short.faults =
            shortest(&base.faults, &mut |faults| fails(&Plan { faults: faults.to_vec(), ..base.clone() }));
        let base = short.clone();
        short.steps =
            shortest(&base.steps, &mut |steps| fails(&Plan { steps: steps.to_vec(), ..base.clone() }));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_is_kept() {
        let list: Vec<u32> = (0..100).collect();
        let mut tries = 0;
        let needed = shortest(&list, &mut |part| {
            tries += 1;
            [3, 50, 51].iter().all(|it| part.contains(it))
        });
        assert_eq!(needed, [3, 50, 51]);
        assert!(tries < 60, "{tries} tries");
        assert!(shortest(&list, &mut |_| true).is_empty());
        assert_eq!(shortest(&list, &mut |part| part.len() == 100), list);
    }
}
