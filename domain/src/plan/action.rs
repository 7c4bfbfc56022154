//! Coopr's cluster actions: what a job does to a whole cluster.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::task::TaskName;

/// One of Coopr's cluster actions. Its JSON is lower case (`cluster_create`); plans and node actions show
/// [`ClusterAction::as_upper`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterAction {
    /// Find a layout; no tasks.
    SolveLayout,
    /// Make the machines and bring up all services.
    ClusterCreate,
    /// Give the machines back.
    ClusterDelete,
    /// Write a new configuration; services take it up when they next start.
    ClusterConfigure,
    /// Write a new configuration and restart the services.
    ClusterConfigureWithRestart,
    /// Start services and what they depend on.
    StartServices,
    /// Stop services and what depends on them.
    StopServices,
    /// Restart services and what depends on them.
    RestartServices,
    /// Bring up services that were placed on existing machines.
    AddServices,
    /// Take services off their nodes.
    RemoveServices,
    /// Make more machines.
    ClusterGrow,
    /// Give some machines back.
    ClusterShrink,
    /// Write changed values where they are taken.
    ClusterReconfigure,
    /// Make machines anew that are there.
    ReplaceNodes,
    /// Make machines anew that are lost.
    ClusterHeal,
    /// Bring services to newer versions.
    ClusterUpgrade,
    /// Go back to what was wanted before.
    ClusterRollBack,
    /// Look at every service.
    ClusterProbe,
    /// Look at every service, and bring those up that are not as wanted.
    ClusterConverge,
    /// Bring those services up again that take what an ancestor publishes.
    ClusterInherit,
    /// Run an errand of a service.
    RunErrand,
}

impl ClusterAction {
    /// All actions.
    pub const ALL: [Self; 21] = [
        Self::SolveLayout,
        Self::ClusterCreate,
        Self::ClusterDelete,
        Self::ClusterConfigure,
        Self::ClusterConfigureWithRestart,
        Self::StartServices,
        Self::StopServices,
        Self::RestartServices,
        Self::AddServices,
        Self::RemoveServices,
        Self::ClusterGrow,
        Self::ClusterShrink,
        Self::ClusterReconfigure,
        Self::ReplaceNodes,
        Self::ClusterHeal,
        Self::ClusterUpgrade,
        Self::ClusterRollBack,
        Self::ClusterProbe,
        Self::ClusterConverge,
        Self::ClusterInherit,
        Self::RunErrand,
    ];

    /// Coopr's own, with which [`ClusterAction::ALL`] begins: their steps are known without looking at a cluster.
    pub const COOPR: &'static [Self] = Self::ALL.split_at(9).0;

    /// The tasks it may need on a node, in their order: machine tasks once, service tasks for each planned service. Of
    /// actions that Coopr does not have the tasks follow from the difference between wanted and known: none are told
    /// here.
    #[must_use]
    pub const fn steps(self) -> &'static [TaskName] {
        use TaskName::{Bootstrap, Configure, Confirm, Create, Delete, Initialize, Install, Start, Stop};
        match self {
            Self::ClusterCreate => &[Create, Confirm, Bootstrap, Install, Configure, Initialize, Start],
            Self::ClusterDelete => &[Delete],
            Self::ClusterConfigure => &[Bootstrap, Configure],
            Self::ClusterConfigureWithRestart => &[Bootstrap, Stop, Configure, Start],
            Self::StartServices => &[Start],
            Self::StopServices => &[Stop],
            Self::RestartServices => &[Stop, Start],
            Self::AddServices => &[Bootstrap, Install, Configure, Initialize, Start],
            Self::SolveLayout
            | Self::RemoveServices
            | Self::ClusterGrow
            | Self::ClusterShrink
            | Self::ClusterReconfigure
            | Self::ReplaceNodes
            | Self::ClusterHeal
            | Self::ClusterUpgrade
            | Self::ClusterRollBack
            | Self::ClusterProbe
            | Self::ClusterConverge
            | Self::ClusterInherit
            | Self::RunErrand => &[],
        }
    }

    /// As in Coopr's JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SolveLayout => "solve_layout",
            Self::ClusterCreate => "cluster_create",
            Self::ClusterDelete => "cluster_delete",
            Self::ClusterConfigure => "cluster_configure",
            Self::ClusterConfigureWithRestart => "cluster_configure_with_restart",
            Self::StartServices => "start_services",
            Self::StopServices => "stop_services",
            Self::RestartServices => "restart_services",
            Self::AddServices => "add_services",
            Self::RemoveServices => "remove_services",
            Self::ClusterGrow => "cluster_grow",
            Self::ClusterShrink => "cluster_shrink",
            Self::ClusterReconfigure => "cluster_reconfigure",
            Self::ReplaceNodes => "replace_nodes",
            Self::ClusterHeal => "cluster_heal",
            Self::ClusterUpgrade => "cluster_upgrade",
            Self::ClusterRollBack => "cluster_roll_back",
            Self::ClusterProbe => "cluster_probe",
            Self::ClusterConverge => "cluster_converge",
            Self::ClusterInherit => "cluster_inherit",
            Self::RunErrand => "run_errand",
        }
    }

    /// As Coopr shows it in plans.
    #[must_use]
    pub fn as_upper(self) -> String {
        self.as_str().to_uppercase()
    }
}

impl fmt::Display for ClusterAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_is_the_lower_case_name() {
        for action in ClusterAction::ALL {
            assert_eq!(serde_json::to_value(action).unwrap(), action.as_str());
        }
        assert_eq!(ClusterAction::ClusterConfigureWithRestart.as_upper(), "CLUSTER_CONFIGURE_WITH_RESTART");
    }

    #[test]
    fn machine_tasks_come_before_service_tasks() {
        for action in ClusterAction::ALL {
            assert!(action.steps().is_sorted_by_key(|step| !step.is_machine_task()), "{action}");
        }
    }
}
