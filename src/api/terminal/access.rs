//! Where a node's terminal is, or why there is none.

use actix_web::http::StatusCode;
use cooperage_actors::worker_pool::LOCAL_WORKER;
use cooperage_domain::cluster::{Cluster, made_by, probe_order};
use cooperage_domain::id::NodeId;
use cooperage_domain::plan::UnitId;
use cooperage_plugins::ssh::Target;

use crate::api::problem::Problem;

/// Where to log in to a node, as whom and with which key.
///
/// # Errors
/// 409 when it cannot be logged in to, yet or at all, or not from here.
pub(super) fn target(cluster: &Cluster, node: &NodeId) -> Result<Target, Problem> {
    let conflict = |detail: String, remedy: &str| {
        Problem::new(StatusCode::CONFLICT, detail).at("node", node.as_str()).with_remedy(remedy)
    };
    let order = probe_order(cluster, &UnitId::machine(node.clone())).map_err(|fault| {
        conflict(
            format!("node {node} cannot be logged in to: {fault}"),
            "wait until its machine is confirmed",
        )
    })?;
    let target = Target::from_order(&order).map_err(|fault| {
        conflict(
            fault.message,
            "wait until its machine is confirmed, or use a provider that gives machines SSH",
        )
    })?;
    let elsewhere = made_by(cluster, node).filter(|worker| *worker != LOCAL_WORKER);
    match elsewhere {
        Some(worker) if !target.identity_file.exists() => Err(conflict(
            format!(
                "node {node} was made by the provisioner {worker:?}, and the key to log in to it ({}) lies there, not on this server",
                target.identity_file.display()
            ),
            "log in from the provisioner's host: cooperage cluster ssh --print shows how",
        )),
        _ => Ok(target),
    }
}
