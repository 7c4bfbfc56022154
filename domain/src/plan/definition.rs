//! What is known of the services on the nodes.

use std::collections::BTreeMap;

use crate::entity::Service;
use crate::id::NodeId;
use crate::plan::error::PlanError;
use crate::task::TaskName;

/// The definition of a service that `node` carries.
///
/// # Errors
/// [`PlanError::UndefinedService`] if there is none.
pub(super) fn definition<'s>(
    services: &'s BTreeMap<String, Service>,
    name: &str,
    node: &NodeId,
) -> Result<&'s Service, PlanError> {
    services
        .get(name)
        .ok_or_else(|| PlanError::UndefinedService { service: name.to_owned(), node: node.clone() })
}

/// Whether a service has such a step. Steps of machines it never has.
pub(crate) fn defines(service: &Service, step: TaskName) -> bool {
    step.service_action().is_some_and(|action| service.provisioner.actions.contains_key(&action))
}
