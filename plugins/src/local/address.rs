//! Addresses of machines: the network they share with the bridge, and who gets which.

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use cooperage_domain::invalid::Invalid;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A range of IPv4 addresses, as in a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefix {
    base: u32,
    length: u8,
}

impl Prefix {
    /// The range of `length` leading bits around an address; `None` when longer than 32.
    pub(super) fn around(address: Ipv4Addr, length: u8) -> Option<Self> {
        (length <= 32).then(|| Self { base: address.to_bits() & mask(length), length })
    }

    /// Reads `10.0.0.0/8`, or one address.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/').unwrap_or((text, "32"));
        Self::around(address.parse().ok()?, length.parse().ok()?)
    }

    /// Whether they have an address in common.
    pub(super) const fn overlaps(self, other: Self) -> bool {
        let shorter = if self.length < other.length { self.length } else { other.length };
        (self.base ^ other.base) & mask(shorter) == 0
    }

    /// How many leading bits are fixed.
    pub(super) const fn length(self) -> u8 {
        self.length
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from_bits(self.base), self.length)
    }
}

const fn mask(length: u8) -> u32 {
    if length == 0 { 0 } else { u32::MAX << (32 - length) }
}

/// The network of one bridge: its first address is the bridge's own, the others are for machines.
///
/// Always a private range, so that it can never hide something on the internet from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(Prefix);

/// Largest network, by its prefix length.
const LARGEST: u8 = 16;
/// Smallest network, by its prefix length.
const SMALLEST: u8 = 29;

impl Network {
    /// The networks tried in turn where none is set. Each holds as many machines as a bridge has ports (1023), save two.
    pub(super) fn candidates() -> impl Iterator<Item = Self> {
        let blocks =
            [Ipv4Addr::new(10, 77, 0, 0), Ipv4Addr::new(172, 30, 0, 0), Ipv4Addr::new(192, 168, 192, 0)];
        blocks.into_iter().flat_map(|block| {
            (0..16).map(move |i| Self(Prefix { base: block.to_bits() + i * 1024, length: 22 }))
        })
    }

    /// The range itself.
    pub(super) const fn prefix(self) -> Prefix {
        self.0
    }

    /// The bridge's own address, through which machines reach everything else.
    #[must_use]
    pub const fn gateway(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.0.base + 1)
    }

    /// Whether the address lies in it.
    #[must_use]
    pub const fn contains(self, address: Ipv4Addr) -> bool {
        (address.to_bits() ^ self.0.base) & mask(self.0.length) == 0
    }

    /// The lowest address for a machine that nobody has; `None` when all are taken.
    pub(super) fn first_free(self, taken: &BTreeSet<Ipv4Addr>) -> Option<Ipv4Addr> {
        let broadcast = self.0.base | !mask(self.0.length);
        (self.0.base + 2..broadcast).map(Ipv4Addr::from_bits).find(|address| !taken.contains(address))
    }

    /// An address with the prefix length, as `ip` wants it.
    pub(super) fn with_length(self, address: Ipv4Addr) -> String {
        format!("{address}/{}", self.0.length)
    }
}

/// The hardware address that goes with an IP address.
///
/// Fixed, because an address is given again after its machine is gone, and neighbours that still remember the old pair
/// would otherwise send to nobody until they forget.
pub(super) fn hardware_address(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("02:c0:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
}

impl FromStr for Network {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let refuse = |fault: &str| {
            Invalid::new(
                "network",
                text,
                fault,
                "use a private range such as 10.77.0.0/24, or leave it empty",
            )
        };
        let prefix =
            Prefix::read(text).filter(|_| text.contains('/')).ok_or_else(|| refuse("is not a range"))?;
        if prefix.to_string() != text {
            return Err(refuse("does not begin at the first address of the range"));
        }
        if !(LARGEST..=SMALLEST).contains(&prefix.length) {
            return Err(refuse("is not between /16 and /29"));
        }
        if !Ipv4Addr::from_bits(prefix.base).is_private() {
            return Err(refuse("is not private"));
        }
        Ok(Self(prefix))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_read_and_printed() {
        let network: Network = "10.77.0.0/24".parse().unwrap();
        assert_eq!(network.to_string(), "10.77.0.0/24");
        assert_eq!(network.gateway(), Ipv4Addr::new(10, 77, 0, 1));
        assert!(network.contains(Ipv4Addr::new(10, 77, 0, 9)));
        assert!(!network.contains(Ipv4Addr::new(10, 77, 1, 9)));
    }

    #[test]
    fn other_texts_are_refused_with_value_and_remedy() {
        for text in [
            "",
            "10.77.0.0",
            "10.77.0.1/24",
            "10.0.0.0/8",
            "10.0.0.0/30",
            "8.8.8.0/24",
            "x/24",
            "10.0.0.0/99",
        ] {
            let fault = text.parse::<Network>().unwrap_err();
            assert_eq!((fault.field.as_str(), fault.value.as_str()), ("network", text));
            assert!(fault.remedy.contains("10.77.0.0/24"));
        }
    }

    #[test]
    fn ranges_overlap_when_one_holds_the_other() {
        let overlap = |a, b| Prefix::read(a).unwrap().overlaps(Prefix::read(b).unwrap());
        assert!(overlap("10.0.0.0/8", "10.77.0.0/24") && overlap("10.77.0.0/24", "10.0.0.0/8"));
        assert!(overlap("0.0.0.0/0", "10.77.0.0/24") && overlap("10.77.0.5", "10.77.0.0/24"));
        assert!(!overlap("10.77.1.0/24", "10.77.0.0/24") && !overlap("10.77.4.0/22", "10.77.0.0/22"));
    }

    #[test]
    fn the_lowest_free_address_is_given_until_none_is_left() {
        let network: Network = "10.77.0.8/29".parse().unwrap();
        let mut taken = BTreeSet::new();
        while let Some(address) = network.first_free(&taken) {
            taken.insert(address);
        }
        let expected: BTreeSet<_> = (10..15).map(|d| Ipv4Addr::new(10, 77, 0, d)).collect();
        assert_eq!(taken, expected, "neither the network's, nor the bridge's, nor the broadcast address");
        taken.remove(&Ipv4Addr::new(10, 77, 0, 12));
        assert_eq!(network.first_free(&taken), Some(Ipv4Addr::new(10, 77, 0, 12)));
    }

    #[test]
    fn candidates_do_not_overlap() {
        let all: Vec<_> = Network::candidates().collect();
        for (i, a) in all.iter().enumerate() {
            assert!(a.to_string().parse::<Network>().is_ok(), "{a} could be set by hand");
            assert!(all[i + 1..].iter().all(|b| !a.prefix().overlaps(b.prefix())), "{a}");
        }
    }
}
