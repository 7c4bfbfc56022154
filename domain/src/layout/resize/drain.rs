//! Which nodes go: a search over sets of services, not over nodes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::super::budget::{Budget, Exhausted};
use super::ShrinkNode;

/// From how many of its nodes each service may go, and must.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    /// At least so many.
    pub low: u32,
    /// At most so many.
    pub high: u32,
}

/// Nodes of which any may go as well as any other, as far as quantities are concerned.
#[derive(Debug, Clone)]
struct Herd {
    /// What they carry, as indices into the bounds.
    carries: Vec<usize>,
    healthy: bool,
    /// Indices into the given nodes, the oldest first, so that the youngest is taken off the end.
    nodes: Vec<usize>,
}

/// The nodes that may go.
pub(super) struct Drain<'a> {
    nodes: &'a [ShrinkNode],
    herds: Vec<Herd>,
    /// Per service; the last one is for healthy nodes, as if they carried something of that name.
    bounds: Vec<Bounds>,
    /// Per service: from how many nodes it can go before it is at its minimum.
    spare: Vec<u32>,
}

/// One node that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    /// Index into the given nodes.
    pub node: usize,
    /// The service that is at its minimum without it, as an index, if there is one.
    pub scarce: Option<usize>,
}

impl<'a> Drain<'a> {
    /// `candidates` are indices into `nodes`; `services` names what `bounds` and `spare` are about.
    pub(super) fn new(
        nodes: &'a [ShrinkNode],
        candidates: impl IntoIterator<Item = usize>,
        services: &BTreeSet<String>,
        bounds: &[Bounds],
        spare: Vec<u32>,
    ) -> Self {
        let mut candidates: Vec<usize> = candidates.into_iter().collect();
        candidates.sort_unstable_by_key(|&index| nodes[index].number);
        let mut herds: Vec<Herd> = Vec::new();
        for index in candidates {
            let ShrinkNode { node, healthy, .. } = &nodes[index];
            let carried = services.iter().enumerate().filter(|(_, name)| node.services.contains(*name));
            let mut carries: Vec<usize> = carried.map(|(service, _)| service).collect();
            carries.extend(healthy.then_some(services.len()));
            match herds.iter_mut().find(|herd| herd.carries == carries) {
                Some(herd) => herd.nodes.push(index),
                None => herds.push(Herd { carries, healthy: *healthy, nodes: vec![index] }),
            }
        }
        let mut bounds = bounds.to_vec();
        bounds.push(Bounds { low: 0, high: u32::MAX });
        Self { nodes, herds, bounds, spare }
    }

    /// Whether exactly so many nodes can go.
    pub(super) fn can_lose(&self, machines: u32, budget: &mut Budget) -> Result<bool, Exhausted> {
        Ok(self.numbers(machines, budget)?.is_some())
    }

    /// Which `machines` nodes go, in the order in which they are chosen; `None` if so many cannot.
    ///
    /// As many as possible are nodes that do not work. One after the other is chosen: those first that do not work, then
    /// those without which all services they carry are still above their minimum, then the youngest; always such that
    /// the others can be found.
    pub(super) fn choose(
        mut self,
        machines: u32,
        budget: &mut Budget,
    ) -> Result<Option<Vec<Pick>>, Exhausted> {
        let Some(mut numbers) = self.fewest_healthy(machines, budget)? else { return Ok(None) };
        let mut picks = Vec::new();
        for left in (0..machines).rev() {
            for herd in self.in_order() {
                let before = self.bounds.clone();
                let Some(node) = self.take(herd) else { continue };
                if numbers[herd] > 0 {
                    numbers[herd] -= 1;
                } else if let Some(found) = self.numbers(left, budget)? {
                    numbers = found;
                } else {
                    self.herds[herd].nodes.push(node);
                    self.bounds = before;
                    continue;
                }
                picks.push(Pick { node, scarce: self.spend(herd) });
                break;
            }
        }
        Ok(Some(picks))
    }

    /// How many nodes of each herd go, with as few healthy ones as possible, which is kept as a bound.
    fn fewest_healthy(&mut self, machines: u32, budget: &mut Budget) -> Result<Option<Vec<u32>>, Exhausted> {
        let unhealthy: usize =
            self.herds.iter().filter(|herd| !herd.healthy).map(|herd| herd.nodes.len()).sum();
        let least = machines.saturating_sub(u32::try_from(unhealthy).unwrap_or(u32::MAX));
        let healthy = self.bounds.len() - 1;
        for high in least..=machines {
            self.bounds[healthy].high = high;
            let numbers = self.numbers(machines, budget)?;
            if numbers.is_some() {
                return Ok(numbers);
            }
        }
        Ok(None)
    }

    /// The herds that have nodes left, in the order in which they are asked for one.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.herds.len()).filter(|&herd| !self.herds[herd].nodes.is_empty()).collect();
        order.sort_by_key(|&herd| {
            let Herd { healthy, nodes, .. } = &self.herds[herd];
            let youngest = nodes.last().map(|&node| self.nodes[node].number);
            (*healthy, self.scarcest(herd).is_some(), Reverse(youngest))
        });
        order
    }

    /// A service that is at its minimum when one more node of the herd goes.
    fn scarcest(&self, herd: usize) -> Option<usize> {
        self.herds[herd].carries.iter().copied().find(|&service| self.spare.get(service) == Some(&1))
    }

    /// Takes the youngest node out of a herd, if the bounds allow one.
    fn take(&mut self, herd: usize) -> Option<usize> {
        if self.herds[herd].carries.iter().any(|&service| self.bounds[service].high == 0) {
            return None;
        }
        let node = self.herds[herd].nodes.pop()?;
        for &service in &self.herds[herd].carries {
            let Bounds { low, high } = &mut self.bounds[service];
            (*low, *high) = (low.saturating_sub(1), *high - 1);
        }
        Some(node)
    }

    fn spend(&mut self, herd: usize) -> Option<usize> {
        let scarce = self.scarcest(herd);
        for &service in &self.herds[herd].carries {
            if let Some(spare) = self.spare.get_mut(service) {
                *spare = spare.saturating_sub(1);
            }
        }
        scarce
    }

    /// How many nodes of each herd go so that all bounds are kept, if that is possible.
    fn numbers(&self, machines: u32, budget: &mut Budget) -> Result<Option<Vec<u32>>, Exhausted> {
        let sizes: Vec<u32> =
            self.herds.iter().map(|herd| u32::try_from(herd.nodes.len()).unwrap_or(u32::MAX)).collect();
        let mut filling = Filling {
            herds: &self.herds,
            sizes: &sizes,
            bounds: self.bounds.clone(),
            numbers: vec![0; sizes.len()],
        };
        Ok(filling.fill(0, machines, budget)?.then_some(filling.numbers))
    }
}

/// Herd after herd, the largest number first; a branch ends as soon as a bound is out of reach.
struct Filling<'a> {
    herds: &'a [Herd],
    sizes: &'a [u32],
    bounds: Vec<Bounds>,
    numbers: Vec<u32>,
}

impl Filling<'_> {
    fn fill(&mut self, herd: usize, left: u32, budget: &mut Budget) -> Result<bool, Exhausted> {
        budget.step()?;
        if herd == self.herds.len() {
            return Ok(left == 0 && self.bounds.iter().all(|bounds| bounds.low == 0));
        }
        if !self.can_reach(herd, left) {
            return Ok(false);
        }
        for number in (0..=self.most(herd).min(left)).rev() {
            let before = self.bounds.clone();
            for &service in &self.herds[herd].carries {
                let Bounds { low, high } = &mut self.bounds[service];
                (*low, *high) = (low.saturating_sub(number), *high - number);
            }
            self.numbers[herd] = number;
            if self.fill(herd + 1, left - number, budget)? {
                return Ok(true);
            }
            self.bounds = before;
        }
        self.numbers[herd] = 0;
        Ok(false)
    }

    fn most(&self, herd: usize) -> u32 {
        let highs = self.herds[herd].carries.iter().map(|&service| self.bounds[service].high);
        highs.fold(self.sizes[herd], u32::min)
    }

    /// Whether the herds from `herd` on have nodes enough for the total and for every lower bound.
    fn can_reach(&self, herd: usize, left: u32) -> bool {
        let mut total = 0_u32;
        let mut reach = vec![0_u32; self.bounds.len()];
        for later in herd..self.herds.len() {
            let most = self.most(later);
            total = total.saturating_add(most);
            for &service in &self.herds[later].carries {
                reach[service] = reach[service].saturating_add(most);
            }
        }
        total >= left && self.bounds.iter().zip(reach).all(|(bounds, reach)| bounds.low <= reach.min(left))
    }
}
