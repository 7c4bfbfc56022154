//! Who is next for a worker: pure bookkeeping, each step in time by the logarithm of what waits.
//!
//! The cluster that holds the fewest workers goes first; among those the task with the longest path behind it; among
//! equals the request that has waited longest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use cooperage_domain::id::{ClusterId, NodeId};

/// Where a request stands among those of its cluster: the longest path first, then the oldest.
type Place = (Reverse<i64>, u64);

/// What a node wants a worker for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    /// Length of the path behind its task.
    pub(super) rank: i64,
    /// Whether it may use what is kept back for tasks that make room.
    pub(super) urgent: bool,
}

/// Requests that wait, and the workers that clusters hold.
#[derive(Debug)]
pub(super) struct FairQueue<R> {
    shares: HashMap<ClusterId, Share<R>>,
    /// One entry per cluster with requests: what it holds, and its first request.
    turns: BTreeSet<(usize, Place, ClusterId)>,
    held: usize,
    waiting: usize,
    asked: u64,
}

/// What one cluster holds and wants.
#[derive(Debug)]
struct Share<R> {
    held: usize,
    requests: BTreeMap<Place, (NodeId, R)>,
    places: HashMap<NodeId, Place>,
    /// Which of the requests are urgent.
    urgent: BTreeSet<Place>,
}

impl<R> Share<R> {
    fn remove(&mut self, place: &Place) -> Option<(NodeId, R)> {
        self.urgent.remove(place);
        let found = self.requests.remove(place);
        if let Some((node, _)) = &found {
            self.places.remove(node);
        }
        found
    }
}

impl<R> Default for Share<R> {
    fn default() -> Self {
        Self { held: 0, requests: BTreeMap::new(), places: HashMap::new(), urgent: BTreeSet::new() }
    }
}

impl<R> Default for FairQueue<R> {
    fn default() -> Self {
        Self { shares: HashMap::new(), turns: BTreeSet::new(), held: 0, waiting: 0, asked: 0 }
    }
}

impl<R> FairQueue<R> {
    /// Workers held by all clusters.
    pub(super) const fn held(&self) -> usize {
        self.held
    }

    /// Requests that wait.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// A node wants a worker. A second request of it replaces the first and keeps its age.
    pub(super) fn ask(&mut self, cluster: ClusterId, node: NodeId, wish: Wish, request: R) {
        self.asked += 1;
        let now = self.asked;
        self.change(cluster, |share| {
            let earlier = share.places.get(&node).copied();
            let replaced = earlier.is_some_and(|place| share.remove(&place).is_some());
            let place = (Reverse(wish.rank), earlier.map_or(now, |(_, age)| age));
            share.places.insert(node.clone(), place);
            share.requests.insert(place, (node, request));
            if wish.urgent {
                share.urgent.insert(place);
            }
            if replaced { 0 } else { 1 }
        });
    }

    /// A node wants none any more.
    pub(super) fn withdraw(&mut self, cluster: ClusterId, node: &NodeId) {
        self.change(cluster, |share| {
            let place = share.places.get(node).copied();
            if place.is_some_and(|place| share.remove(&place).is_some()) { -1 } else { 0 }
        });
    }

    /// Takes out the request that is next; its cluster holds one worker more.
    pub(super) fn next(&mut self) -> Option<(ClusterId, R)> {
        let (_, place, cluster) = self.turns.first().copied()?;
        self.take(cluster, place)
    }

    /// The same among urgent requests. Takes time by the number of clusters.
    pub(super) fn next_urgent(&mut self) -> Option<(ClusterId, R)> {
        let firsts =
            self.shares.iter().filter_map(|(id, share)| Some((share.held, *share.urgent.first()?, *id)));
        let (_, place, cluster) = firsts.min()?;
        self.take(cluster, place)
    }

    /// Whether there are urgent requests. Takes time by the number of clusters.
    pub(super) fn has_urgent(&self) -> bool {
        self.shares.values().any(|share| !share.urgent.is_empty())
    }

    /// For each node of a cluster that waits, how many requests come before its own, as far as `most` of them: later ones
    /// are not among the answers. As if no worker were given back meanwhile.
    pub(super) fn places(&self, cluster: ClusterId, most: usize) -> HashMap<NodeId, usize> {
        let mut turns = self.turns.clone();
        let mut places = HashMap::new();
        for ahead in 0..most {
            let Some((held, place, id)) = turns.pop_first() else { break };
            let Some(share) = self.shares.get(&id) else { break };
            if let Some((node, _)) = share.requests.get(&place).filter(|_| id == cluster) {
                places.insert(node.clone(), ahead);
            }
            let behind = (std::ops::Bound::Excluded(place), std::ops::Bound::Unbounded);
            if let Some((next, _)) = share.requests.range(behind).next() {
                turns.insert((held + 1, *next, id));
            }
        }
        places
    }

    fn take(&mut self, cluster: ClusterId, place: Place) -> Option<(ClusterId, R)> {
        let mut taken = None;
        self.change(cluster, |share| {
            taken = share.remove(&place);
            if taken.is_some() { -1 } else { 0 }
        });
        self.hold(cluster);
        taken.map(|(_, request)| (cluster, request))
    }

    /// A cluster holds one worker more.
    pub(super) fn hold(&mut self, cluster: ClusterId) {
        self.held += 1;
        self.change(cluster, |share| {
            share.held += 1;
            0
        });
    }

    /// A cluster holds one worker less.
    pub(super) fn release(&mut self, cluster: ClusterId) {
        let mut released = 0;
        self.change(cluster, |share| {
            released = share.held.min(1);
            share.held -= released;
            0
        });
        self.held -= released;
    }

    /// Changes what a cluster holds or wants, by so many requests, and puts it where it then belongs.
    fn change(&mut self, cluster: ClusterId, change: impl FnOnce(&mut Share<R>) -> isize) {
        let share = self.shares.entry(cluster).or_default();
        if let Some((place, _)) = share.requests.first_key_value() {
            self.turns.remove(&(share.held, *place, cluster));
        }
        self.waiting = self.waiting.saturating_add_signed(change(share));
        if let Some((place, _)) = share.requests.first_key_value() {
            self.turns.insert((share.held, *place, cluster));
        } else if share.held == 0 {
            self.shares.remove(&cluster);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeId {
        NodeId(name.to_string())
    }

    const fn wish(rank: i64) -> Wish {
        Wish { rank, urgent: false }
    }

    /// The rule as it is told, over a plain list: held workers by cluster, requests as (age, cluster, node, rank).
    #[derive(Default)]
    struct Plain {
        held: BTreeMap<ClusterId, usize>,
        waiting: Vec<(u64, ClusterId, NodeId, i64)>,
    }

    impl Plain {
        fn ask(&mut self, age: u64, cluster: ClusterId, node: NodeId, rank: i64) {
            let old = self.waiting.iter().position(|it| it.1 == cluster && it.2 == node);
            let age = old.map_or(age, |index| self.waiting.remove(index).0);
            self.waiting.push((age, cluster, node, rank));
        }

        fn next(&mut self) -> Option<(ClusterId, NodeId)> {
            let key = |it: &(u64, ClusterId, NodeId, i64)| {
                (self.held.get(&it.1).copied().unwrap_or(0), Reverse(it.3), it.0)
            };
            let index = (0..self.waiting.len()).min_by_key(|index| key(&self.waiting[*index]))?;
            let (_, cluster, node, _) = self.waiting.remove(index);
            *self.held.entry(cluster).or_default() += 1;
            Some((cluster, node))
        }
    }

    #[test]
    fn it_does_what_the_rule_says() {
        let (mut queue, mut plain) = (FairQueue::default(), Plain::default());
        let mut seed = 0x2545_F491_4F6C_DD1D_u64;
        let mut random = move |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        for step in 1..20_000 {
            let cluster = ClusterId(random(5));
            let name = node(&format!("{cluster}-{}", random(6)));
            match random(4) {
                0 | 1 => {
                    let rank = i64::try_from(random(4)).unwrap();
                    queue.ask(cluster, name.clone(), wish(rank), name.clone());
                    plain.ask(step, cluster, name, rank);
                }
                2 => assert_eq!(queue.next(), plain.next(), "step {step}"),
                _ if random(3) == 0 => {
                    queue.withdraw(cluster, &name);
                    plain.waiting.retain(|it| !(it.1 == cluster && it.2 == name));
                }
                _ => {
                    queue.release(cluster);
                    let held = plain.held.entry(cluster).or_default();
                    *held = held.saturating_sub(1);
                }
            }
            assert_eq!(queue.waiting(), plain.waiting.len(), "step {step}");
            assert_eq!(queue.held(), plain.held.values().sum::<usize>(), "step {step}");
        }
    }

    #[test]
    fn places_are_told_as_requests_are_then_served() {
        let mut queue = FairQueue::default();
        for (cluster, name, rank) in
            [(1, "a", 5), (1, "b", 9), (1, "c", 1), (2, "d", 3), (2, "e", 4), (3, "f", 2)]
        {
            queue.ask(ClusterId(cluster), node(name), wish(rank), node(name));
        }
        queue.hold(ClusterId(3));
        let mut told: Vec<(usize, NodeId)> = (1..=3)
            .flat_map(|cluster| queue.places(ClusterId(cluster), 100))
            .map(|(node, place)| (place, node))
            .collect();
        told.sort();
        let served: Vec<(usize, NodeId)> = (0..6).map(|place| (place, queue.next().unwrap().1)).collect();
        assert_eq!(told, served);
        assert!(queue.places(ClusterId(1), 100).is_empty());
    }

    #[test]
    fn urgent_requests_can_be_served_before_their_turn() {
        let mut queue = FairQueue::default();
        queue.ask(ClusterId(1), node("a"), wish(9), "a");
        queue.ask(ClusterId(1), node("b"), Wish { rank: 1, urgent: true }, "b");
        queue.ask(ClusterId(2), node("c"), Wish { rank: 1, urgent: true }, "c");
        queue.ask(ClusterId(2), node("c"), wish(1), "c");
        assert!(queue.has_urgent());
        assert_eq!(queue.next_urgent(), Some((ClusterId(1), "b")));
        assert_eq!((queue.next_urgent(), queue.has_urgent()), (None, false));
        assert_eq!((queue.waiting(), queue.held()), (2, 1));
    }

    #[test]
    fn a_cluster_that_holds_and_wants_nothing_is_forgotten() {
        let mut queue = FairQueue::default();
        queue.ask(ClusterId(1), node("a"), wish(1), ());
        queue.next();
        queue.release(ClusterId(1));
        queue.withdraw(ClusterId(2), &node("b"));
        assert!(queue.shares.is_empty() && queue.turns.is_empty());
    }
}
