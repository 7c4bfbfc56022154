//! What the host's network already uses, so that ours never gets in its way.

use std::net::IpAddr;
use std::path::Path;

use serde_json::Value;

use super::address::{Network, Prefix};
use super::fault::LocalError;
use super::host_command::run;

/// Routes shorter than this stand for "everything else", like the default route, and clash with nothing.
const SHORTEST_REAL_ROUTE: u8 = 8;
/// Where the host's resolvers are listed: the second where the first only names a resolver on the host's own loopback,
/// which machines cannot reach.
const RESOLVERS: [&str; 2] = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/// A range in use, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InUse {
    /// The range.
    pub(super) prefix: Prefix,
    /// What uses it, for people.
    pub(super) by: String,
}

/// All ranges the host uses, except on the interface `ours`: addresses, routes, and resolvers beyond the default route.
pub(super) async fn ranges_in_use(ours: &str) -> Result<Vec<InUse>, LocalError> {
    let addresses = run("ip", ["-j", "-4", "addr", "show"]).await?;
    let routes = run("ip", ["-j", "-4", "route", "show", "table", "all"]).await?;
    let mut ranges = addresses_in_use(&list(&addresses), ours);
    ranges.extend(routes_in_use(&list(&routes), ours));
    ranges.extend(resolvers_in_use(&resolv_conf()));
    Ok(ranges)
}

/// The first of `ranges` that has an address in common with the network.
pub(super) fn clash(network: Network, ranges: &[InUse]) -> Option<&InUse> {
    ranges.iter().find(|range| range.prefix.overlaps(network.prefix()))
}

/// Resolver settings that work inside a machine.
pub(super) fn resolv_conf() -> String {
    let texts = RESOLVERS.map(|path| std::fs::read_to_string(Path::new(path)).unwrap_or_default());
    usable_resolvers(&texts)
}

/// The first of some resolver settings that name a resolver reachable from a machine, without those that are not.
fn usable_resolvers(texts: &[String]) -> String {
    let reachable = |line: &str| {
        let mut words = line.split_whitespace();
        let resolver = words.next() == Some("nameserver");
        let address = words.next().and_then(|address| address.parse::<IpAddr>().ok());
        (resolver, address.is_some_and(|address| !address.is_loopback()))
    };
    let usable = texts.iter().find(|text| text.lines().any(|line| reachable(line) == (true, true)));
    let kept =
        usable.into_iter().flat_map(|text| text.lines()).filter(|line| reachable(line) != (true, false));
    kept.map(|line| format!("{line}\n")).collect()
}

/// Whether the host has other bridges, and so somebody else who may need packets forwarded.
pub(super) async fn has_bridges() -> Result<bool, LocalError> {
    Ok(!list(&run("ip", ["-j", "link", "show", "type", "bridge"]).await?).is_empty())
}

/// Whether the host has an interface of this name.
pub(super) fn has_interface(name: &str) -> bool {
    Path::new("/sys/class/net").join(name).exists()
}

/// `ip` prints nothing at all where its answer is an empty list.
fn list(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap_or_default()
}

fn addresses_in_use(interfaces: &[Value], ours: &str) -> Vec<InUse> {
    let others = interfaces.iter().filter(|interface| interface["ifname"] != ours);
    let addresses = others.flat_map(|interface| {
        let infos = interface["addr_info"].as_array().into_iter().flatten();
        infos.map(move |info| (info, &interface["ifname"]))
    });
    let in_use = addresses.filter_map(|(info, name)| {
        let length = u8::try_from(info["prefixlen"].as_u64()?).ok()?;
        let prefix = Prefix::around(info["local"].as_str()?.parse().ok()?, length)?;
        Some(InUse { prefix, by: format!("interface {}", name.as_str().unwrap_or("?")) })
    });
    in_use.collect()
}

fn routes_in_use(routes: &[Value], ours: &str) -> Vec<InUse> {
    let others = routes.iter().filter(|route| route["dev"] != ours);
    let in_use = others.filter_map(|route| {
        let prefix = Prefix::read(route["dst"].as_str()?)?;
        (prefix.length() >= SHORTEST_REAL_ROUTE)
            .then(|| InUse { prefix, by: format!("the route to {prefix}") })
    });
    in_use.collect()
}

fn resolvers_in_use(resolv_conf: &str) -> Vec<InUse> {
    let resolvers = resolv_conf.lines().filter_map(|line| line.trim().strip_prefix("nameserver"));
    let in_use = resolvers.filter_map(|address| {
        let prefix = Prefix::read(address.trim())?;
        Some(InUse { prefix, by: format!("the resolver {}", address.trim()) })
    });
    in_use.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prefixes(ranges: &[InUse]) -> Vec<String> {
        ranges.iter().map(|range| range.prefix.to_string()).collect()
    }

    #[test]
    fn addresses_count_except_our_own() {
        let interfaces = [
            json!({"ifname": "eth0", "addr_info": [{"local": "192.0.2.2", "prefixlen": 24}]}),
            json!({"ifname": "coopbr0", "addr_info": [{"local": "10.77.0.1", "prefixlen": 24}]}),
            json!({"ifname": "down0", "addr_info": []}),
        ];
        let ranges = addresses_in_use(&interfaces, "coopbr0");
        assert_eq!(prefixes(&ranges), ["192.0.2.0/24"]);
        assert_eq!(ranges[0].by, "interface eth0");
    }

    #[test]
    fn routes_count_except_our_own_and_those_for_everything() {
        let routes = [
            json!({"dst": "default", "dev": "eth0"}),
            json!({"dst": "128.0.0.0/1", "dev": "tun0"}),
            json!({"dst": "10.0.0.0/8", "dev": "tun0"}),
            json!({"type": "blackhole", "dst": "172.30.1.0/24"}),
            json!({"type": "local", "dst": "192.0.2.2", "dev": "eth0"}),
            json!({"dst": "10.77.0.0/24", "dev": "coopbr0"}),
        ];
        let ranges = routes_in_use(&routes, "coopbr0");
        assert_eq!(prefixes(&ranges), ["10.0.0.0/8", "172.30.1.0/24", "192.0.2.2/32"]);
        assert_eq!(clash("10.77.0.0/24".parse().unwrap(), &ranges).unwrap().by, "the route to 10.0.0.0/8");
        assert_eq!(clash("172.30.4.0/22".parse().unwrap(), &ranges), None);
    }

    #[test]
    fn only_resolvers_that_machines_reach_are_passed_on() {
        let stub = "nameserver 127.0.0.53\noptions edns0\n".to_owned();
        let real = "search lab.example\nnameserver 10.255.255.53\nnameserver ::1\n".to_owned();
        assert_eq!(
            usable_resolvers(&[stub.clone(), real.clone()]),
            "search lab.example\nnameserver 10.255.255.53\n"
        );
        assert_eq!(usable_resolvers(&[real, stub.clone()]), "search lab.example\nnameserver 10.255.255.53\n");
        assert_eq!(usable_resolvers(&[stub]), "");
        assert_eq!(prefixes(&resolvers_in_use("nameserver 10.77.0.53\n")), ["10.77.0.53/32"]);
    }
}
