//! Names of a cluster's nodes, for `/etc/hosts` on each of them.

use std::fmt::Write;

use cooperage_domain::task::TaskConfig;

/// One line per node whose address is known: address, host name, and the name without its domain.
#[must_use]
pub fn render(config: &TaskConfig) -> String {
    let mut nodes: Vec<_> = config.nodes.values().collect();
    nodes.sort_by_key(|node| node.nodenum);
    let mut text = String::new();
    for node in nodes {
        let address = node.ipaddresses.get("bind_v4").or_else(|| node.ipaddresses.get("access_v4"));
        let (Some(address), Some(hostname)) = (address, &node.hostname) else { continue };
        let short = hostname.split('.').next().unwrap_or(hostname);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{address} {hostname} {short}");
    }
    text
}
