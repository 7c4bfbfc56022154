//! The rows of clusters on clusters.

use cooperage_domain::access::Area::Clusters;
use cooperage_domain::access::Role::{Admin, Reader};
use cooperage_domain::access::Rule;

use super::Operation;
use super::table::{get, put};

/// In the order of the book.
pub(super) fn ancestry() -> Vec<Operation> {
    let see = Rule::read(Reader, Clusters);
    vec![
        get("/v2/clusters/{id}/children", see, "Clusters that are built upon a cluster, newest first")
            .gives("[ClusterSummary]"),
        get("/v2/foundation", see, "The cluster that all new clusters of the tenant are built upon")
            .gives("Foundation"),
        put(
            "/v2/foundation",
            Rule::write(Admin, Clusters),
            "Name the cluster that all new clusters of the tenant are built upon, or none",
        )
        .takes("FoundationChange")
        .gives("Foundation")
        .refuses(&[404, 409]),
    ]
}
