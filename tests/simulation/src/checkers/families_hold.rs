//! Beside the design's invariants: no cluster is deleted under those that are built upon it, and at rest each of them holds
//! what it publishes.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{Cluster, ClusterStatus, Event, Inheritance};
use cooperage_domain::id::ClusterId;
use cooperage_domain::plan::ClusterAction;

use super::{Checker, Verdict};
use crate::ledger::Ledger;
use crate::seen::Seen;

/// Knows who lives upon whom.
#[derive(Debug, Default)]
pub struct FamiliesHold {
    /// By child that lives: its parent.
    upon: BTreeMap<ClusterId, ClusterId>,
}

impl Checker for FamiliesHold {
    fn name(&self) -> &'static str {
        "families-hold"
    }

    fn event(&mut self, _: &Ledger, cluster: ClusterId, event: &Event) -> Verdict {
        match event {
            Event::ClusterRequested { order, .. } => {
                self.upon.extend(order.origins.iter().map(|origin| (cluster, origin.from)));
            }
            Event::LayoutRefused { .. } | Event::JobEnded { status: ClusterStatus::Terminated, .. } => {
                self.upon.remove(&cluster);
            }
            Event::JobPlanned { action: ClusterAction::ClusterDelete, .. } => {
                if let Some((child, _)) = self.upon.iter().find(|(_, parent)| **parent == cluster) {
                    return Err(format!("{cluster} is deleted under {child}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn see(&mut self, _: &Ledger, seen: &Seen<'_>) -> Verdict {
        let Seen::Calm { clusters } = seen else { return Ok(()) };
        for (child, parent) in &self.upon {
            let (Some(child), Some(parent)) = (clusters.get(child), clusters.get(parent)) else { continue };
            if parent.may_hand_down() {
                holds(child, parent)?;
            }
        }
        Ok(())
    }
}

fn holds(child: &Cluster, parent: &Cluster) -> Verdict {
    let held = child.kin.origins.iter().find(|held| held.from == parent.id);
    if held != Some(&Inheritance::of(parent)) {
        return Err(format!("{} does not know what {} publishes", child.id, parent.id));
    }
    let needs = parent.kin.children.get(&child.id).map(|known| &known.needs);
    if needs != Some(&child.needs_of(parent.id)) {
        return Err(format!("{} does not know what {} needs", parent.id, child.id));
    }
    Ok(())
}
