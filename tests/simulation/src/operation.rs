//! What is asked of clusters: a row for each operation.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{Cluster, Command, ServiceChange};
use cooperage_domain::entity::Service;
use serde_json::json;

use crate::catalog::{MORE, mark, services};
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

    fn sync(&self) -> Option<Command> {
        Some(Command::SyncTemplate { template: Box::new(self.cluster.template.clone()), by: self.by() })
    }
}

/// Brings a cluster into being, so that it is a command to none.
pub const CREATE: &str = "create";

/// All operations on clusters that are there.
pub static OPERATIONS: &[Operation] = &[
    Operation { name: "delete", weight: 2, command: |it| Some(Command::Delete { by: it.by() }) },
    Operation { name: "retry", weight: 4, command: |it| Some(Command::Retry { by: it.by() }) },
    Operation { name: "abort", weight: 2, command: |it| Some(Command::Abort { by: it.by() }) },
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
