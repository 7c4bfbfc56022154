//! What is asked of clusters: a row for each operation.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{Cluster, Command, OnFailure, Resize, Rollout, ServiceChange};
use cooperage_domain::entity::Service;
use cooperage_domain::id::NodeId;
use cooperage_domain::layout::{Growth, Shrinkage};
use serde_json::json;

use crate::catalog::{ERRAND, MORE, mark, of_tenant, services};
use crate::random::Random;

/// Who asks, in all simulated clusters.
pub const USER: &str = "ann";

/// An operation: how often it is drawn, and the command for a cluster as it is.
#[derive(Debug)]
pub struct Operation {
    /// As it is written.
    pub name: &'static str,
    /// Its share among all operations.
    pub weight: u64,
    /// The command; `None` when there is nothing to say it about.
    pub command: fn(&mut Asked<'_>) -> Option<Command>,
}

/// What a command is made from.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The cluster as it is.
    pub cluster: &'a Cluster,
    /// What the clock of the server shows, in ms.
    pub now: i64,
    /// For what the operation leaves open.
    pub random: Random,
}

impl Asked<'_> {
    fn by(&self) -> String {
        USER.to_owned()
    }

    /// One of the cluster's services, or all.
    fn service(&mut self) -> Option<String> {
        let names: Vec<&String> = self.cluster.services.iter().collect();
        if names.is_empty() || self.random.one_in(4) {
            return None;
        }
        Some((*self.random.pick(&names)).clone())
    }

    fn change(&mut self, change: ServiceChange) -> Option<Command> {
        let service = self.service();
        Some(Command::ChangeServices { change, service, by: self.by() })
    }

    fn configure(&mut self, restart: bool) -> Option<Command> {
        let config = json!({"mark": mark(&self.cluster.account.tenant_id), "port": self.random.below(9)});
        Some(Command::Configure { config: config.as_object().cloned()?, restart, by: self.by() })
    }

    fn add(&mut self) -> Option<Command> {
        let names: BTreeSet<String> = self.random.pick(&MORE).iter().map(|&name| name.to_owned()).collect();
        let known: Vec<Service> = services().into_values().collect();
        Some(Command::AddServices { services: names, known, by: self.by() })
    }

    fn prolong(&mut self) -> Option<Command> {
        Some(Command::Prolong { expires: self.now + self.random.between(1_000, 3_000_000), by: self.by() })
    }

    fn rollout(&mut self) -> Option<Rollout> {
        let on_failure = *self.random.pick(&[OnFailure::Stop, OnFailure::Pause, OnFailure::RollBack]);
        let (canary, max_in_flight) = (u32::from(self.random.one_in(2)), u32::from(self.random.one_in(2)));
        let (pause, hold) = (self.random.between(0, 9_000), self.random.between(0, 9_000));
        let rollout = Rollout { canary, max_in_flight, pause, hold, on_failure };
        self.random.one_in(2).then_some(rollout)
    }

    fn node(&mut self) -> Option<NodeId> {
        let nodes: Vec<&NodeId> = self.cluster.nodes.keys().collect();
        (!nodes.is_empty()).then(|| (*self.random.pick(&nodes)).clone())
    }

    fn size(&self) -> u32 {
        u32::try_from(self.cluster.nodes.len()).unwrap_or_default()
    }

    fn grow(&mut self) -> Option<Command> {
        let mut growth =
            Growth { machines: self.size() + 1 + u32::from(self.random.one_in(3)), ..Growth::default() };
        if self.random.one_in(3) {
            growth.machines = 0;
            growth.services = BTreeMap::from([(self.service()?, 1)]);
        }
        let catalog = of_tenant(&self.cluster.account.tenant_id);
        let resize = Resize::Grow { growth, hardware: catalog.hardware, images: catalog.images };
        Some(Command::Resize { resize: Box::new(resize), by: self.by() })
    }

    fn shrink(&mut self) -> Option<Command> {
        let shrinkage = match self.random.below(3) {
            0 => Shrinkage::To(self.size().saturating_sub(1)),
            1 => Shrinkage::Services(BTreeMap::from([(self.service()?, 1)])),
            _ => Shrinkage::Nodes(BTreeSet::from([self.node()?])),
        };
        Some(Command::Resize { resize: Box::new(Resize::Shrink(shrinkage)), by: self.by() })
    }

    fn remove(&mut self) -> Option<Command> {
        Some(Command::RemoveServices { services: BTreeSet::from([self.service()?]), by: self.by() })
    }

    fn replace(&mut self, lost: bool) -> Option<Command> {
        let nodes = BTreeSet::from([self.node()?]);
        Some(Command::Replace { nodes, lost, rollout: self.rollout(), by: self.by() })
    }

    fn reconfigure(&mut self) -> Option<Command> {
        let config = json!({"mark": mark(&self.cluster.account.tenant_id), "port": self.random.below(9)});
        let config = config.as_object().cloned()?;
        Some(Command::Reconfigure { config, nodes: BTreeMap::new(), rollout: self.rollout(), by: self.by() })
    }

    fn upgrade(&mut self) -> Option<Command> {
        let mut definitions = services();
        let version = self.random.below(4);
        definitions.retain(|_, _| self.random.one_in(2));
        for service in definitions.values_mut() {
            for action in service.provisioner.actions.values_mut() {
                action.fields.insert("version".to_owned(), version.to_string());
            }
        }
        Some(Command::Upgrade { template: None, definitions, rollout: self.rollout(), by: self.by() })
    }

    fn roll_back(&mut self) -> Option<Command> {
        let to = self.cluster.previous.clone()?;
        Some(Command::RollBack { to, rollout: self.rollout(), by: self.by() })
    }

    fn errand(&mut self) -> Option<Command> {
        let (service, errand) = (self.service()?, ERRAND.to_owned());
        Some(Command::RunErrand { service, errand, nodes: BTreeSet::new(), by: self.by() })
    }

    fn sync(&self) -> Option<Command> {
        Some(Command::SyncTemplate { template: Box::new(self.cluster.template.clone()), by: self.by() })
    }
}

/// Brings a cluster into being, so that it is a command to none.
pub const CREATE: &str = "create";

/// All operations on clusters that are there.
pub static OPERATIONS: &[Operation] = &[
    Operation { name: "delete", weight: 2, command: |it| Some(Command::Delete { now: false, by: it.by() }) },
    Operation {
        name: "delete-now",
        weight: 1,
        command: |it| Some(Command::Delete { now: true, by: it.by() }),
    },
    Operation { name: "retry", weight: 4, command: |it| Some(Command::Retry { by: it.by() }) },
    Operation { name: "abort", weight: 2, command: |it| Some(Command::Abort { by: it.by() }) },
    Operation { name: "cancel", weight: 2, command: |it| Some(Command::Cancel { undo: false, by: it.by() }) },
    Operation { name: "undo", weight: 3, command: |it| Some(Command::Cancel { undo: true, by: it.by() }) },
    Operation { name: "grow", weight: 5, command: |it| it.grow() },
    Operation { name: "shrink", weight: 5, command: |it| it.shrink() },
    Operation { name: "remove-services", weight: 3, command: |it| it.remove() },
    Operation { name: "replace", weight: 3, command: |it| it.replace(false) },
    Operation { name: "heal", weight: 3, command: |it| it.replace(true) },
    Operation { name: "reconfigure", weight: 3, command: |it| it.reconfigure() },
    Operation { name: "upgrade", weight: 4, command: |it| it.upgrade() },
    Operation { name: "roll-back", weight: 4, command: |it| it.roll_back() },
    Operation {
        name: "converge",
        weight: 2,
        command: |it| Some(Command::Converge { mend: true, by: it.by() }),
    },
    Operation {
        name: "probe",
        weight: 1,
        command: |it| Some(Command::Converge { mend: false, by: it.by() }),
    },
    Operation { name: "errand", weight: 2, command: |it| it.errand() },
    Operation { name: "pause", weight: 2, command: |it| Some(Command::Pause { by: it.by() }) },
    Operation { name: "resume", weight: 3, command: |it| Some(Command::Resume { by: it.by() }) },
    Operation { name: "start", weight: 2, command: |it| it.change(ServiceChange::Start) },
    Operation { name: "stop", weight: 3, command: |it| it.change(ServiceChange::Stop) },
    Operation { name: "restart", weight: 2, command: |it| it.change(ServiceChange::Restart) },
    Operation { name: "configure", weight: 2, command: |it| it.configure(false) },
    Operation { name: "configure-with-restart", weight: 2, command: |it| it.configure(true) },
    Operation { name: "add-services", weight: 4, command: |it| it.add() },
    Operation { name: "prolong", weight: 3, command: |it| it.prolong() },
    Operation { name: "sync-template", weight: 1, command: |it| it.sync() },
];

/// The operation of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}
