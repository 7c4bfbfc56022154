//! Units: a machine, or a service on it, with what is wanted of it and what is known of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::NodeId;
use crate::task::TaskName;

/// A machine (no service) or one service on it. Printed, and stored, as `NODE` or `NODE/SERVICE`.
///
/// Sorted by node; the machine comes before its services.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId {
    /// The node.
    pub node: NodeId,
    /// The service; `None` for the machine itself.
    pub service: Option<String>,
}

/// All units of a cluster.
pub type Units = BTreeMap<UnitId, Unit>;

/// What is wanted of a unit, what is known of it, and what is to be done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Where it should be.
    pub wanted: Wanted,
    /// Where it is.
    pub observed: Observed,
    /// Steps to be done once more although `observed` does not ask for them: CONFIGURE when the configuration changed,
    /// STOP and START to restart, BOOTSTRAP when an automator was added, DELETE to replace a machine that is of no use.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub renew: BTreeSet<TaskName>,
    /// Hash of the values it was last brought up with; `None` when nobody noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// What a probe found wrong with it, the last time it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
}

/// What is wanted of a unit. A machine is wanted or not: for it everything but `Absent` means `Present`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Not there.
    Absent,
    /// A machine, ready for its services.
    Present,
    /// A service whose files are there; at rest.
    Installed,
    /// A service that is installed and configured; at rest.
    Configured,
    /// A service that is ready to run; at rest.
    Stopped,
    /// A service that runs.
    Running,
}

/// How far a unit was brought. The first four are phases of a machine, all but the three machine phases are phases of a
/// service; each phase includes those before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Observed {
    /// Not there.
    #[default]
    Absent,
    /// The provider was asked for the machine.
    Created,
    /// The machine is reachable.
    Confirmed,
    /// The machine is ready for its services.
    Bootstrapped,
    /// The service's files are there.
    Installed,
    /// The service's configuration is written.
    Configured,
    /// The service's data is prepared.
    Initialized,
    /// The service was started once, and rests.
    Stopped,
    /// The service runs.
    Started,
}

impl UnitId {
    /// The machine of a node.
    #[must_use]
    pub const fn machine(node: NodeId) -> Self {
        Self { node, service: None }
    }

    /// A service on a node.
    #[must_use]
    pub fn service(node: NodeId, service: impl Into<String>) -> Self {
        Self { node, service: Some(service.into()) }
    }

    /// Whether it is a machine.
    #[must_use]
    pub const fn is_machine(&self) -> bool {
        self.service.is_none()
    }
}

impl Unit {
    /// A unit that is wanted and not there yet.
    #[must_use]
    pub const fn new(wanted: Wanted) -> Self {
        Self { wanted, observed: Observed::Absent, renew: BTreeSet::new(), inputs: None, drift: None }
    }

    /// The same unit after `task` succeeded on it. What was done is not to be done again; a service that was just started
    /// need not be stopped for a restart either, and of one that is gone nothing is left to be done again.
    #[must_use]
    pub fn after(mut self, task: TaskName) -> Self {
        self.observed = self.observed.after(task);
        self.renew.remove(&task);
        match task {
            TaskName::Start => {
                self.renew.remove(&TaskName::Stop);
                self.drift = None;
            }
            TaskName::Remove | TaskName::Delete => {
                self.renew.clear();
                self.drift = None;
            }
            _ => {}
        }
        self
    }
}

impl Observed {
    /// What is known after `task` succeeded. A service that is further along keeps its phase when a step before it is
    /// repeated: configuring a running service leaves it running.
    #[must_use]
    pub fn after(self, task: TaskName) -> Self {
        match task {
            TaskName::Create => Self::Created,
            TaskName::Confirm => Self::Confirmed,
            TaskName::Bootstrap => Self::Bootstrapped,
            TaskName::Install => self.max(Self::Installed),
            TaskName::Configure => self.max(Self::Configured),
            TaskName::Initialize => self.max(Self::Initialized),
            TaskName::Start => Self::Started,
            TaskName::Stop => Self::Stopped,
            TaskName::Remove | TaskName::Delete => Self::Absent,
            TaskName::Probe | TaskName::Errand => self,
        }
    }
}

/// Notes in `units` that `task` succeeded on `id`. A machine that was deleted takes its services with it, and one that was
/// created carries none: they are absent, and nothing of theirs is left to be done again.
///
/// A unit that is not among them is ignored.
pub fn record(units: &mut Units, id: &UnitId, task: TaskName) {
    if let Some(unit) = units.get_mut(id) {
        *unit = unit.clone().after(task);
    }
    if !matches!(task, TaskName::Create | TaskName::Delete) {
        return;
    }
    for (_, service) in units.range_mut(id.clone()..).take_while(|(other, _)| other.node == id.node).skip(1) {
        service.observed = Observed::Absent;
        service.renew.clear();
        service.inputs = None;
        service.drift = None;
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.service {
            None => write!(f, "{}", self.node),
            Some(service) => write!(f, "{}/{service}", self.node),
        }
    }
}

/// A text that does not name a unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a unit: expected NODE for a machine or NODE/SERVICE for a service on it")]
pub struct UnitIdError(String);

impl FromStr for UnitId {
    type Err = UnitIdError;

    fn from_str(text: &str) -> Result<Self, UnitIdError> {
        // Names of services hold no slash, so the last one divides.
        let (node, service) = match text.rsplit_once('/') {
            None => (text, None),
            Some((node, service)) => (node, Some(service)),
        };
        if node.is_empty() || service.is_some_and(str::is_empty) {
            return Err(UnitIdError(text.to_owned()));
        }
        Ok(Self { node: NodeId(node.to_owned()), service: service.map(str::to_owned) })
    }
}

impl Serialize for UnitId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UnitId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeId {
        NodeId(name.to_owned())
    }

    #[test]
    fn units_can_be_stored_as_json_and_read_back() {
        let mut unit = Unit::new(Wanted::Running);
        unit.renew.insert(TaskName::Configure);
        let units = Units::from([
            (UnitId::machine(node("n1")), Unit::new(Wanted::Present)),
            (UnitId::service(node("n1"), "web"), unit),
        ]);
        let text = serde_json::to_string(&units).unwrap();
        assert_eq!(
            text,
            r#"{"n1":{"wanted":"present","observed":"absent"},"#.to_owned()
                + r#""n1/web":{"wanted":"running","observed":"absent","renew":["CONFIGURE"]}}"#
        );
        assert_eq!(serde_json::from_str::<Units>(&text).unwrap(), units);
        assert!("n1/".parse::<UnitId>().is_err_and(|fault| fault.to_string().contains("NODE/SERVICE")));
    }

    #[test]
    fn a_repeated_step_does_not_lower_a_service() {
        assert_eq!(Observed::Started.after(TaskName::Configure), Observed::Started);
        assert_eq!(Observed::Stopped.after(TaskName::Install), Observed::Stopped);
        assert_eq!(Observed::Absent.after(TaskName::Install), Observed::Installed);
        assert_eq!(Observed::Initialized.after(TaskName::Start), Observed::Started);
        assert_eq!(Observed::Started.after(TaskName::Stop), Observed::Stopped);
    }

    #[test]
    fn a_deleted_machine_takes_its_services_with_it_and_no_others() {
        let started = Unit { observed: Observed::Started, ..Unit::new(Wanted::Running) };
        let machine = Unit {
            observed: Observed::Bootstrapped,
            renew: BTreeSet::from([TaskName::Delete]),
            ..Unit::new(Wanted::Present)
        };
        let mut units = Units::from([
            (UnitId::machine(node("n1")), machine),
            (UnitId::service(node("n1"), "web"), started.clone()),
            (UnitId::service(node("n2"), "web"), started),
        ]);
        record(&mut units, &UnitId::machine(node("n1")), TaskName::Delete);
        let observed: Vec<Observed> = units.values().map(|unit| unit.observed).collect();
        assert_eq!(observed, [Observed::Absent, Observed::Absent, Observed::Started]);
        assert!(units[&UnitId::machine(node("n1"))].renew.is_empty());
    }
}
