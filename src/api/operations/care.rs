//! The rows of health, maintenance and terminals.

use cooperage_domain::access::Area::Clusters;
use cooperage_domain::access::Role::{Reader, User};
use cooperage_domain::access::Rule;

use super::Operation;
use super::table::{delete, get, put};

/// In the order of the book.
pub(super) fn care() -> Vec<Operation> {
    let (see, change) = (Rule::read(Reader, Clusters), Rule::write(User, Clusters));
    let of_cluster = "/v2/clusters/{id}/maintenance";
    let of_node = "/v2/clusters/{id}/nodes/{node}/maintenance";
    vec![
        get("/v2/clusters/{id}/health", see, "How machines and services are, and how they are looked after")
            .gives("HealthReport"),
        put("/v2/clusters/{id}/health", change, "Say what happens when machines of a cluster are down")
            .takes("HealSwitch")
            .refuses(&[409]),
        put(of_cluster, change, "Leave a cluster alone: nothing starts there, no probes, no healing")
            .takes("MaintenanceReason")
            .refuses(&[409]),
        delete(of_cluster, change, "End a cluster's maintenance; what waited goes on").refuses(&[409]),
        put(of_node, change, "Leave a node alone").takes("MaintenanceReason").refuses(&[409]),
        delete(of_node, change, "End a node's maintenance").refuses(&[409]),
        get(
            "/v2/clusters/{id}/nodes/{node}/terminal",
            change,
            "A shell on a node, over a WebSocket; recorded in the audit log",
        )
        .query(&[
            ("columns", "characters in a line of the screen; 80 unless said"),
            ("rows", "lines; 24 unless said"),
        ])
        .refuses(&[426]),
    ]
}
