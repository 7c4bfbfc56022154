//! Putting things that wait for each other in an order, or naming a circle they are in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All indices of `after`, each behind everything it waits for (`after[i]`); of those that may come next the lowest one
/// comes first. In O((V + E) log V).
///
/// # Errors
/// A circle: each waits for the one behind it, and the first is repeated at the end. It starts at its lowest index.
pub(super) fn topological(after: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut before = vec![Vec::new(); after.len()];
    let mut missing: Vec<usize> = after.iter().map(Vec::len).collect();
    for (index, awaited) in after.iter().enumerate() {
        for &one in awaited {
            before[one].push(index);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..after.len()).filter(|&i| missing[i] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(after.len());
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for &waiting in &before[index] {
            missing[waiting] -= 1;
            if missing[waiting] == 0 {
                ready.push(Reverse(waiting));
            }
        }
    }
    if order.len() == after.len() { Ok(order) } else { Err(circle(after, &missing)) }
}

/// A circle among the indices that still miss something: each of them waits for another one of them, so walking on
/// must come back to where one has been.
fn circle(after: &[Vec<usize>], missing: &[usize]) -> Vec<usize> {
    let mut walked = Vec::new();
    let mut seen_at = vec![None; after.len()];
    let mut next = missing.iter().position(|&count| count > 0);
    while let Some(index) = next {
        if let Some(start) = seen_at[index] {
            walked.drain(..start);
            break;
        }
        seen_at[index] = Some(walked.len());
        walked.push(index);
        next = after[index].iter().copied().find(|&awaited| missing[awaited] > 0);
    }
    let lowest = (0..walked.len()).min_by_key(|&at| walked[at]).unwrap_or_default();
    walked.rotate_left(lowest);
    walked.extend(walked.first().copied());
    walked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_that_may_come_next_comes_next() {
        let after = vec![vec![3], vec![], vec![1], vec![]];
        assert_eq!(topological(&after), Ok(vec![1, 2, 3, 0]));
        assert_eq!(topological(&[]), Ok(vec![]));
    }

    #[test]
    fn a_circle_is_named_without_what_only_leads_to_it() {
        // 0 waits for the circle, the circle waits for 4.
        let after = vec![vec![3], vec![4, 2], vec![3], vec![1], vec![]];
        assert_eq!(topological(&after), Err(vec![1, 2, 3, 1]));
        assert_eq!(topological(&[vec![0]]), Err(vec![0, 0]));
    }
}
