//! What the simulated server tells clusters of each other, when they are built upon each other.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{Cluster, ClusterStatus, Command, Event, Inheritance, Origins};
use cooperage_domain::id::ClusterId;

use super::happening::{Happening, Timer};
use super::server::Told;
use super::world::World;
use crate::desk::parent_of;

/// Until a message is on its way.
const SOON: i64 = 20;
/// Pause before it is tried again to tell somebody something.
const AGAIN: i64 = 10_000;
/// How long a cluster is waited for that was to come into being.
const PATIENCE: i64 = 600_000;

impl World<'_> {
    /// What a new cluster is built upon; `None` when that is not there, or gone.
    pub(super) fn origins_of(&self, number: u32) -> Option<Origins> {
        let Some(parent) = parent_of(number) else { return Some(Origins::default()) };
        let parent = self.state(ClusterId(u64::from(parent)))?;
        (parent.status != ClusterStatus::Terminated).then(|| Origins::of(Some(parent), None))
    }

    /// Makes a new cluster known to those it is built upon.
    pub(super) fn adopt(&mut self, new: &Cluster) -> Told {
        for origin in origins(new) {
            let (child, name, needs) = (new.id, new.name.clone(), new.needs_of(origin));
            let told = self.tell(origin, Command::Adopt { child, name, needs });
            if told != Told::Done {
                return told;
            }
        }
        Told::Done
    }

    /// After events: whoever is to be told something is told soon, unless the server dies before.
    pub(super) fn relate(&mut self, id: ClusterId, events: &[Event]) {
        let Some(state) = self.state(id) else { return };
        let rests = |event: &Event| {
            matches!(event, Event::JobEnded { .. } | Event::Inherited { .. } | Event::ChildAdopted { .. })
        };
        let mut timers = Vec::new();
        if !state.kin.children.is_empty() && events.iter().any(rests) {
            timers.push(Timer::HandDown(id));
        }
        let ends = |event: &Event| matches!(event, Event::JobEnded { .. } | Event::LayoutRefused { .. });
        let may_need_else = |event: &Event| {
            let of_kin = matches!(event, Event::ChildAdopted { .. } | Event::ChildReleased { .. });
            let of_services = matches!(event, Event::WantedChanged { .. } | Event::ServicesAdded { .. });
            of_kin || of_services || matches!(event, Event::ClusterRequested { .. })
        };
        if !state.kin.origins.is_empty() {
            match state.status {
                ClusterStatus::Terminated if events.iter().any(ends) => timers.push(Timer::Leave(id)),
                ClusterStatus::Terminated => {}
                _ if events.iter().any(|event| ends(event) || may_need_else(event)) => {
                    timers.push(Timer::Rely(id));
                }
                _ => {}
            }
        }
        for timer in timers {
            self.agenda.add(self.now + SOON, Happening::Timer(self.incarnation, timer));
        }
    }

    /// After a start: what somebody has missed is told.
    pub(super) fn relate_all(&mut self) {
        let states: Vec<&Cluster> = self.kept.values().filter_map(|kept| kept.state.as_ref()).collect();
        let live = states.iter().filter(|state| state.status != ClusterStatus::Terminated);
        let parents: BTreeSet<ClusterId> = live.flat_map(|state| origins(state)).collect();
        for parent in parents {
            let timer = Timer::HandDown(parent);
            self.agenda.add(self.now + SOON, Happening::Timer(self.incarnation, timer));
        }
    }

    /// Carries such a timer out.
    pub(super) fn tell_kin(&mut self, timer: &Timer) {
        let told = match timer {
            Timer::HandDown(id) => self.hand_down(*id),
            Timer::Rely(id) => self.rely(*id),
            Timer::Leave(id) => {
                let origins = self.state(*id).map(origins).unwrap_or_default();
                origins
                    .into_iter()
                    .all(|origin| self.tell(origin, Command::Release { child: *id }) != Told::Later)
            }
            _ => true,
        };
        if !told && self.up {
            self.agenda.add(self.now + AGAIN, Happening::Timer(self.incarnation, timer.clone()));
        }
    }

    fn hand_down(&mut self, from: ClusterId) -> bool {
        let Some(inheritance) = self.state(from).filter(|state| state.may_hand_down()).map(Inheritance::of)
        else {
            return true;
        };
        let built =
            |state: &&Cluster| state.status != ClusterStatus::Terminated && origins(state).contains(&from);
        let states = self.kept.values().filter_map(|kept| kept.state.as_ref());
        let children: Vec<ClusterId> = states.filter(built).map(|state| state.id).collect();
        children.into_iter().all(|child| {
            let lineage = inheritance.lineage.clone();
            self.tell(child, Command::Inherit { from, lineage }) != Told::Later
        })
    }

    fn rely(&mut self, child: ClusterId) -> bool {
        let Some(state) = self.state(child).filter(|state| state.status != ClusterStatus::Terminated) else {
            return true;
        };
        let name = state.name.clone();
        let needs: Vec<_> =
            origins(state).into_iter().map(|origin| (origin, state.needs_of(origin))).collect();
        needs.into_iter().all(|(origin, needs)| {
            let command = Command::Adopt { child, name: name.clone(), needs };
            self.tell(origin, command) != Told::Later && self.hand_down(origin)
        })
    }

    /// Lets go of children that are gone without a word; whether there were any.
    pub(super) fn let_go(&mut self, id: ClusterId) -> bool {
        let now = self.clock();
        let Some(state) = self.state(id) else { return false };
        let is_gone = |child: &ClusterId, since: i64| match self.state(*child) {
            Some(child) => child.status == ClusterStatus::Terminated,
            None => since + PATIENCE < now,
        };
        let known = state.kin.children.iter();
        let gone: Vec<ClusterId> =
            known.filter(|(child, it)| is_gone(child, it.since)).map(|(child, _)| *child).collect();
        let any = !gone.is_empty();
        for child in gone {
            self.tell(id, Command::Release { child });
        }
        any
    }
}

/// Whom a cluster is built upon.
fn origins(cluster: &Cluster) -> Vec<ClusterId> {
    cluster.kin.origins.iter().map(|origin| origin.from).collect()
}
