//! Dropping edges that follow from others.

/// Graphs of more tasks keep such edges: they do no harm, and finding them takes a bit for every pair of tasks. This
/// many take 32 MiB.
const MOST_TASKS: usize = 16_384;

const BITS: usize = u64::BITS as usize;

/// `after` without the edges that follow from others, each list sorted. `after[i]` must hold indices below `i` only.
pub(super) fn reduce(mut after: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    for awaited in &mut after {
        awaited.sort_unstable();
        awaited.dedup();
    }
    if after.len() > MOST_TASKS {
        return after;
    }
    let width = after.len().div_ceil(BITS);
    // One row of bits per task: everything it waits for, directly or through others.
    let mut rows = vec![0_u64; width * after.len()];
    for (index, awaited) in after.iter_mut().enumerate() {
        let (done, rest) = rows.split_at_mut(index * width);
        let row = &mut rest[..width];
        // The latest first: what is awaited through others has a lower index than they have.
        awaited.reverse();
        awaited.retain(|&one| {
            let follows = row[one / BITS] >> (one % BITS) & 1 == 1;
            if !follows {
                row[one / BITS] |= 1 << (one % BITS);
                // A task waits only for lower indices, so the words behind its own hold no bits.
                for (word, more) in row.iter_mut().zip(&done[one * width..=one * width + one / BITS]) {
                    *word |= more;
                }
            }
            !follows
        });
        awaited.reverse();
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ways_round_count_across_words() {
        // A chain of 200 in which every task also names all earlier ones.
        let all: Vec<Vec<usize>> = (0..200).map(|index| (0..index).collect()).collect();
        let chain: Vec<Vec<usize>> =
            (0..200_usize).map(|index| index.checked_sub(1).into_iter().collect()).collect();
        assert_eq!(reduce(all), chain);
    }

    #[test]
    fn a_graph_too_large_to_reduce_still_names_each_edge_once() {
        let mut after = vec![Vec::new(); MOST_TASKS + 1];
        after[2] = vec![1, 0, 1];
        after[1] = vec![0];
        assert_eq!(reduce(after)[2], [0, 1]);
    }
}
