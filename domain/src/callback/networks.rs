//! Where targets may be, so that nobody makes the server call what only the server can reach.

use core::net::IpAddr;

use ipnet::IpNet;

use crate::invalid::Invalid;

/// Networks that targets may and may not be in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Networks {
    /// Allowed, whatever is denied.
    pub allowed: Vec<IpNet>,
    /// Not allowed otherwise.
    pub denied: Vec<IpNet>,
}

impl Networks {
    /// Reads both lists: networks as `10.0.0.0/8`, or single addresses.
    ///
    /// # Errors
    /// Names the setting and the network that is none.
    pub fn new(allowed: &[String], denied: &[String]) -> Result<Self, Invalid> {
        let read = |setting: &str, texts: &[String]| {
            let network = |text: &String| {
                let text = text.trim();
                let single = || text.parse::<IpAddr>().map(IpNet::from);
                text.parse::<IpNet>().or_else(|_| single()).map_err(|_| {
                    let remedy = "write it like 10.0.0.0/8, fd00::/8 or 10.1.2.3";
                    Invalid::new(setting, text, "is no network", remedy)
                })
            };
            texts.iter().map(network).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            allowed: read("callbacks.allow_networks", allowed)?,
            denied: read("callbacks.deny_networks", denied)?,
        })
    }

    /// Whether a target may be at this address. One of IPv4 that is written in IPv6 counts as what it is.
    #[must_use]
    pub fn permit(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let within = |networks: &[IpNet]| networks.iter().any(|network| network.contains(&address));
        within(&self.allowed) || !within(&self.denied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn networks(allowed: &[&str], denied: &[&str]) -> Networks {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Networks::new(&owned(allowed), &owned(denied)).unwrap()
    }

    #[test]
    fn what_is_allowed_wins_over_what_is_denied() {
        let networks = networks(&["127.0.0.7"], &["127.0.0.0/8", "169.254.0.0/16", "::1"]);
        let permits = |text: &str| networks.permit(text.parse().unwrap());
        assert!(permits("10.0.0.1") && permits("127.0.0.7") && permits("2001:db8::1"));
        for denied in ["127.0.0.1", "169.254.169.254", "::1", "::ffff:169.254.169.254", "::ffff:127.0.0.1"] {
            assert!(!permits(denied), "{denied}");
        }
    }

    #[test]
    fn what_is_no_network_is_named_with_its_setting() {
        let fault = Networks::new(&[], &["10.0.0.0/33".to_owned()]).unwrap_err();
        assert_eq!((fault.field.as_str(), fault.value.as_str()), ("callbacks.deny_networks", "10.0.0.0/33"));
    }
}
