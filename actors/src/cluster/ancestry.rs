//! What a live cluster lets those know that it is built upon, and those that are built upon it.

use std::collections::BTreeMap;

use cooperage_domain::cluster::{ClusterStatus, Event};

use super::Cluster;
use crate::registry::{HandDown, Leave, Rely};

impl Cluster {
    /// After events, the last that were applied: the registry tells others, so that no cluster waits for another.
    pub(super) fn relate(&mut self, events: &[Event]) {
        let Some(state) = self.state.as_deref() else { return };
        let registry = &self.surroundings.registry;
        let rests = |event: &Event| {
            matches!(event, Event::JobEnded { .. } | Event::Inherited { .. } | Event::ChildAdopted { .. })
        };
        if !state.kin.children.is_empty() && events.iter().any(rests) {
            registry.do_send(HandDown { from: self.id });
        }
        if state.kin.origins.is_empty() {
            return;
        }
        let ends = |event: &Event| matches!(event, Event::JobEnded { .. } | Event::LayoutRefused { .. });
        if state.status == ClusterStatus::Terminated {
            if events.iter().any(ends) {
                let origins = state.kin.origins.iter().map(|origin| origin.from).collect();
                registry.do_send(Leave { child: self.id, origins });
            }
            return;
        }
        let may_need_else = |event: &Event| {
            let of_kin = matches!(event, Event::ChildAdopted { .. } | Event::ChildReleased { .. });
            let of_services = matches!(event, Event::WantedChanged { .. } | Event::ServicesAdded { .. });
            of_kin || of_services || ends(event) || matches!(event, Event::ClusterRequested { .. })
        };
        if events.iter().any(may_need_else) {
            self.rely();
        }
    }

    /// Lets those that the cluster is built upon know what it needs of them, if that is not what they know.
    pub(super) fn rely(&mut self) {
        let Some(state) = self.state.as_deref().filter(|state| state.status != ClusterStatus::Terminated)
        else {
            return;
        };
        let origins = state.kin.origins.iter().map(|origin| origin.from);
        let needs: BTreeMap<_, _> = origins.map(|origin| (origin, state.needs_of(origin))).collect();
        if self.relies_on != needs {
            let on = needs.clone();
            self.relies_on = needs;
            let name = state.name.clone();
            self.surroundings.registry.do_send(Rely { child: self.id, name, on });
        }
    }
}
