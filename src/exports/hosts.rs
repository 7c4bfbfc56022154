//! The file of host names, `/etc/hosts`.

use std::fmt::Write;

use super::inventory::Inventory;

/// A line for each node: address, host name, and the name without the domain.
pub fn write(inventory: &Inventory) -> String {
    let mut text = format!("# Cluster {} ({})\n", inventory.name, inventory.id);
    for host in &inventory.hosts {
        let short = host.short_name();
        let alias = if short == host.name { String::new() } else { format!(" {short}") };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<15} {}{alias}", host.address, host.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::inventory::samples::shop;
    use super::*;

    #[test]
    fn each_node_has_a_line() {
        let mut shop = shop();
        shop.hosts[1].name = "alone".to_owned();
        assert_eq!(
            write(&shop),
            "# Cluster shop (00000042)\n10.1.0.2        shop1-1000.lab.example.com shop1-1000\n10.1.0.3        alone\n"
        );
    }
}
