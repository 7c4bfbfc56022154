//! What is remembered of one cluster between its rounds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use cooperage_domain::cluster::{AttemptId, CareChange, Cluster};
use cooperage_domain::health::budget::Claim;
use cooperage_domain::health::{Ailing, Finding, Health, Policy, Watch};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::UnitId;
use cooperage_schema::OpenSecrets;

/// What is remembered of one cluster.
pub(super) struct Watched {
    /// Internal id.
    pub tenant: String,
    /// Name of its provider.
    pub provider: String,
    /// When its next round begins, in ms since 1970.
    pub turn: i64,
    /// The round under way.
    pub round: Option<Round>,
    /// Machines and services that were probed.
    pub units: BTreeMap<UnitId, Watch>,
    /// What people were told, and is still so.
    pub alarm: Option<String>,
    /// Which machine each node had when it was probed last: the attempt that made it.
    machines: BTreeMap<NodeId, Option<AttemptId>>,
    /// Nodes whose machines took a connection from here.
    reached: BTreeSet<NodeId>,
}

/// One look at all nodes of a cluster.
pub(super) enum Round {
    /// The cluster is being read.
    Reading,
    /// Its nodes are being probed.
    Probing(Box<Probing>),
    /// What was found is being told.
    Telling,
}

/// Nodes that are being probed.
pub(super) struct Probing {
    /// The cluster as it was when the round began.
    pub cluster: Arc<Cluster>,
    /// Its secret values.
    pub secrets: Arc<OpenSecrets>,
    /// How it is looked after.
    pub policy: Policy,
    /// Since when, in ms since 1970.
    pub since: i64,
    /// Nodes that wait.
    pub waiting: VecDeque<NodeId>,
    /// Nodes that are being probed.
    pub running: usize,
}

impl Watched {
    /// One that nothing is known of.
    pub fn new(tenant: &str, provider: &str, turn: i64) -> Self {
        Self {
            tenant: tenant.to_owned(),
            provider: provider.to_owned(),
            turn,
            round: None,
            units: BTreeMap::new(),
            alarm: None,
            machines: BTreeMap::new(),
            reached: BTreeSet::new(),
        }
    }

    /// What it asks of the budget at a time; nothing when neither its turn has come nor a round is under way.
    pub fn claim(&self, now: i64) -> Option<Claim<'_>> {
        let (waiting, running, since) = match &self.round {
            None if self.turn <= now => (1, 0, self.turn),
            None | Some(Round::Telling) => return None,
            Some(Round::Reading) => (0, 1, self.turn),
            Some(Round::Probing(probing)) => (probing.waiting.len(), probing.running, probing.since),
        };
        Some(Claim { tenant: &self.tenant, waiting, running, since })
    }

    /// When it has to be looked at again by itself: not while a round is under way, nor when only the budget holds it up.
    pub fn next_turn(&self, now: i64) -> Option<i64> {
        (self.round.is_none() && self.turn > now).then_some(self.turn)
    }

    /// Takes over what the journal knows and this process does not, and forgets what was known of machines that are gone.
    pub fn meet(&mut self, cluster: &Cluster, probed: &[UnitId]) {
        let same = |node: &NodeId| {
            let now = cluster.nodes.get(node).map(|node| node.asked);
            now.is_some_and(|now| self.machines.get(node).is_none_or(|before| *before == now))
        };
        self.units.retain(|unit, _| same(&unit.node) && probed.contains(unit));
        self.reached.retain(|node| same(node));
        self.machines = cluster.nodes.iter().map(|(id, node)| (id.clone(), node.asked)).collect();
        for unit in probed {
            let known = cluster.care.health.get(unit);
            let watch =
                || known.map_or_else(Watch::default, |it| Watch::known(it.health, it.since, &it.reason));
            self.units.entry(unit.clone()).or_insert_with(watch);
        }
    }

    /// Takes what connecting to a machine came to. One that was never reached may only be out of this server's reach.
    pub fn weigh(&mut self, node: &NodeId, reached: Finding) -> Finding {
        match reached {
            Finding::Up => {
                self.reached.insert(node.clone());
                Finding::Up
            }
            Finding::Down(why) if !self.reached.contains(node) => {
                Finding::Unknown(format!("{why}, and this server has never reached it"))
            }
            other => other,
        }
    }

    /// What the journal does not know yet.
    pub fn news(&self, cluster: &Cluster) -> Vec<CareChange> {
        let is_news = |(unit, watch): &(&UnitId, &Watch)| {
            let known = cluster.care.health.get(*unit).map_or(Health::Healthy, |known| known.health);
            matches!(watch.health, Health::Healthy | Health::Down) && watch.health != known
        };
        let news = self.units.iter().filter(is_news).map(|(unit, watch)| CareChange::Health {
            node: unit.node.clone(),
            service: unit.service.clone(),
            health: watch.health,
            reason: watch.reason.clone(),
        });
        news.collect()
    }

    /// Nodes whose machines are down, as found again and again by this process.
    pub fn down(&self, policy: &Policy) -> BTreeSet<NodeId> {
        let machines = self.units.iter().filter(|(unit, _)| unit.is_machine());
        machines
            .filter(|(_, watch)| watch.is_confirmed_down(policy))
            .map(|(unit, _)| unit.node.clone())
            .collect()
    }

    /// Its machines, and how many of them ail.
    pub fn ailing(&self) -> Ailing {
        let machines = || self.units.iter().filter(|(unit, _)| unit.is_machine());
        Ailing { machines: machines().count(), ailing: machines().filter(|(_, watch)| watch.ails()).count() }
    }
}
