//! Rows of operations on clusters that live.

use cooperage_domain::access::Area::Clusters;
use cooperage_domain::access::Role::{Reader, User};
use cooperage_domain::access::Rule;

use super::Operation;
use super::table::{SHOW, get, post};

pub(super) fn living() -> Vec<Operation> {
    let change = Rule::write(User, Clusters);
    let on_one = |path, takes, summary| post(path, change, summary).takes(takes).query(SHOW).refuses(&[409]);
    vec![
        get(
            "/v2/clusters/{id}/units",
            Rule::read(Reader, Clusters),
            "What is wanted and known of each machine and service",
        )
        .gives("[UnitState]"),
        get(
            "/v2/clusters/{id}/values",
            Rule::read(Reader, Clusters),
            "The values that services see, and the layer each comes from",
        )
        .gives("ClusterValues")
        .query(&[("node", "what the services of this node see: its id, number or host name")]),
        on_one("/v2/clusters/{id}/resize", "SizeChange", "Make more machines, or give some back"),
        on_one("/v2/clusters/{id}/services/remove", "ServicesToAdd", "Take services off a cluster"),
        on_one(
            "/v2/clusters/{id}/services/{service}/errands/{errand}",
            "ErrandOrder",
            "Run an errand of a service",
        ),
        on_one("/v2/clusters/{id}/replace", "MachinesAnew", "Make machines anew, with all that is on them"),
        on_one("/v2/clusters/{id}/heal", "MachinesAnew", "Make machines anew that are lost"),
        on_one(
            "/v2/clusters/{id}/reconfigure",
            "Reconfiguration",
            "Give other values, and bring up again those services that take them",
        ),
        on_one("/v2/clusters/{id}/upgrade", "UpgradeOrder", "Bring template and services to newer versions"),
        on_one("/v2/clusters/{id}/rollback", "RollBackOrder", "Go back to what was wanted once"),
        on_one(
            "/v2/clusters/{id}/converge",
            "Convergence",
            "Look at every service, and mend what is not as wanted",
        ),
        on_one(
            "/v2/clusters/{id}/cancel",
            "Cancellation",
            "Stop whatever is under way, and undo it if so asked",
        ),
    ]
}
