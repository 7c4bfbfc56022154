//! How probes find simulated machines and what is on them: as a file of the machine says.

use std::path::Path;

use cooperage_domain::health::Finding;
use cooperage_domain::id::NodeId;

use super::execution::machine;

/// How a machine is, or a service on it.
pub(super) fn health(directory: &Path, node: &NodeId, service: Option<&str>) -> Finding {
    let machine = machine(directory, node);
    if !machine.is_dir() {
        return Finding::Gone(format!("node {node} has no machine"));
    }
    let name = service.map_or_else(|| "health".to_owned(), |service| format!("health.{service}"));
    let said = std::fs::read_to_string(machine.join(name)).unwrap_or_default();
    match said.trim().split_once(' ').unwrap_or((said.trim(), "")) {
        ("down", why) => Finding::Down(why.to_owned()),
        ("unknown", why) => Finding::Unknown(why.to_owned()),
        _ => Finding::Up,
    }
}
