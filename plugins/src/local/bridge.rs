//! The bridge machines hang on: made with the first machine, gone with the last, never in the way of anything else.
//!
//! What is added to the host, and taken away again: the bridge with its address, one nftables table that lets machines out
//! and nobody in, and packet forwarding. Forwarding is switched off again only where we switched it on, no other bridge of
//! ours is left, and the host has no other bridge at all whose owner might count on it by now. The limit on inotify
//! instances, once raised, stays: it takes nothing until it is used.

use std::path::Path;

use cooperage_domain::invalid::Invalid;

use super::address::{Network, hardware_address};
use super::fault::{At, LocalError, Refusal};
use super::host_command::{HostCommand, run};
use super::host_network::{InUse, clash, has_bridges, has_interface, ranges_in_use};
use super::reservation::{Reservation, note_forwarding_was_off, take_forwarding_was_off};

const FORWARDING: &str = "/proc/sys/net/ipv4/ip_forward";
/// Each machine's system uses some; with the usual 128 only two dozen machines come up.
const INOTIFY: &str = "/proc/sys/fs/inotify/max_user_instances";
const INOTIFY_NEEDED: u32 = 8192;

/// The bridges of one server. All methods want the host's lock held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bridges<'a> {
    /// State directory of the server, which tells its bridges from those of others.
    pub(super) owner: &'a Path,
}

impl Bridges<'_> {
    /// The network of a bridge, which is reserved if no machine hangs on it yet.
    ///
    /// `known` is the network of the machines that do, `wish` what the administrator set.
    pub(super) async fn choose(
        &self,
        bridge: &str,
        wish: Option<Network>,
        known: Option<Network>,
    ) -> Result<Network, LocalError> {
        if let Some(known) = known {
            return match wish.filter(|wish| *wish != known) {
                None => Ok(known),
                Some(wish) => Err(differs(bridge, wish, known).into()),
            };
        }
        // Without machines it can only have been left by a crash between reserving it and noting the first machine.
        self.retire(bridge).await?;
        let ranges = self.ranges_not_ours(bridge).await?;
        let network = match wish {
            Some(wish) => check_free(wish, &ranges)?,
            None => first_free(&ranges)?,
        };
        Reservation { bridge: bridge.to_owned(), owner: self.owner.to_owned(), network }.write()?;
        Ok(network)
    }

    /// Makes sure that bridge, address translation and forwarding are there.
    pub(super) async fn ensure(&self, bridge: &str, network: Network) -> Result<(), LocalError> {
        if self.reservation(bridge)?.is_none() {
            check_free(network, &self.ranges_not_ours(bridge).await?)?;
            Reservation { bridge: bridge.to_owned(), owner: self.owner.to_owned(), network }.write()?;
        }
        if !has_interface(bridge) {
            // Its own hardware address, or it would take that of a machine and change with machines coming and going.
            let address = hardware_address(network.gateway());
            run("ip", ["link", "add", bridge, "address", &address, "type", "bridge"]).await?;
        }
        let gateway = network.with_length(network.gateway());
        let batch = format!("addr replace {gateway} dev {bridge}\nlink set {bridge} up\n");
        HostCommand::new("ip").args(["-batch", "-"]).input(batch).run().await?;
        HostCommand::new("nft").args(["-f", "-"]).input(translation(bridge, network)).run().await?;
        switch_forwarding_on()?;
        raise_inotify_limit()
    }

    /// Takes away what [`Self::ensure`] made. Nothing happens to a bridge that is not this server's.
    pub(super) async fn retire(&self, bridge: &str) -> Result<(), LocalError> {
        let Some(reservation) = self.reservation(bridge)? else { return Ok(()) };
        if has_interface(bridge) {
            run("ip", ["link", "del", bridge]).await?;
        }
        HostCommand::new("nft").args(["-f", "-"]).input(no_translation(bridge)).run().await?;
        reservation.remove()?;
        if Reservation::all()?.is_empty() && take_forwarding_was_off()? && !has_bridges().await? {
            std::fs::write(FORWARDING, "0").at("write", FORWARDING)?;
        }
        Ok(())
    }

    /// Takes away all of this server's bridges that are not in use.
    pub(super) async fn retire_all_but(&self, in_use: impl Fn(&str) -> bool) -> Result<(), LocalError> {
        for reservation in Reservation::all()? {
            if reservation.owner == self.owner && !in_use(&reservation.bridge) {
                self.retire(&reservation.bridge).await?;
            }
        }
        Ok(())
    }

    fn reservation(&self, bridge: &str) -> Result<Option<Reservation>, LocalError> {
        let all = Reservation::all()?;
        Ok(all
            .into_iter()
            .find(|reservation| reservation.bridge == bridge && reservation.owner == self.owner))
    }

    /// What is in use on the host, for a bridge that is not there yet.
    async fn ranges_not_ours(&self, bridge: &str) -> Result<Vec<InUse>, LocalError> {
        let others = Reservation::all()?;
        let taken = others.iter().find(|reservation| reservation.bridge == bridge);
        if taken.is_some() || has_interface(bridge) {
            let by =
                taken.map_or("nobody this server knows".to_owned(), |r| format!("{}", r.owner.display()));
            let fault = format!("is already there, made by {by}");
            let remedy = "set another name for this provider's bridge, or leave it empty; remove the interface if it is a \
                          leftover (ip link del)";
            return Err(Refusal::new(format!("bridge {bridge}"), fault, remedy).into());
        }
        let mut ranges = ranges_in_use(bridge).await?;
        ranges.extend(others.into_iter().map(|reservation| InUse {
            prefix: reservation.network.prefix(),
            by: format!("bridge {} of {}", reservation.bridge, reservation.owner.display()),
        }));
        Ok(ranges)
    }
}

fn differs(bridge: &str, wish: Network, known: Network) -> Invalid {
    let fault = format!("is not the network of bridge {bridge}, whose machines are in {known}");
    Invalid::new("network", wish, fault, "set another bridge with it, or delete those machines first")
}

fn check_free(network: Network, ranges: &[InUse]) -> Result<Network, LocalError> {
    let Some(range) = clash(network, ranges) else { return Ok(network) };
    let fault = format!("shares addresses with {} ({})", range.prefix, range.by);
    Err(Invalid::new("network", network, fault, "set a range the host does not use, or leave it empty")
        .into())
}

fn first_free(ranges: &[InUse]) -> Result<Network, LocalError> {
    Network::candidates().find(|network| clash(*network, ranges).is_none()).ok_or_else(|| {
        let remedy = "set the provider's network to a private range this host does not need";
        Refusal::new("network", "every range tried is in use on this host", remedy).into()
    })
}

fn table(bridge: &str) -> String {
    format!("cooperage_{}", bridge.replace('-', "_"))
}

/// Lets machines reach what the host reaches, in the host's name, and lets nobody but the host itself reach them. Replaces
/// the whole table at once, so it may be loaded again at any time.
fn translation(bridge: &str, network: Network) -> String {
    let table = table(bridge);
    format!(
        "add table ip {table}\n\
         delete table ip {table}\n\
         table ip {table} {{\n\
           chain out {{\n\
             type nat hook postrouting priority 100;\n\
             ip saddr {network} oifname != \"{bridge}\" masquerade\n\
           }}\n\
           chain through {{\n\
             type filter hook forward priority 0;\n\
             iifname != \"{bridge}\" oifname \"{bridge}\" ct state new drop\n\
           }}\n\
         }}\n"
    )
}

/// Deleting a table that is not there is an error, hence the first line.
fn no_translation(bridge: &str) -> String {
    let table = table(bridge);
    format!("add table ip {table}\ndelete table ip {table}\n")
}

fn switch_forwarding_on() -> Result<(), LocalError> {
    let before = std::fs::read_to_string(FORWARDING).at("read", FORWARDING)?;
    if before.trim() == "0" {
        note_forwarding_was_off()?;
        std::fs::write(FORWARDING, "1").at("write", FORWARDING)?;
    }
    Ok(())
}

fn raise_inotify_limit() -> Result<(), LocalError> {
    let before = std::fs::read_to_string(INOTIFY).at("read", INOTIFY)?;
    if before.trim().parse::<u32>().is_ok_and(|limit| limit < INOTIFY_NEEDED) {
        std::fs::write(INOTIFY, INOTIFY_NEEDED.to_string()).at("write", INOTIFY)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::address::Prefix;

    #[test]
    fn a_network_in_use_is_passed_over_or_refused_with_its_user() {
        let taken = InUse { prefix: Prefix::read("10.77.1.0/24").unwrap(), by: "interface lab0".to_owned() };
        let ranges = [taken];
        assert_eq!(first_free(&ranges).unwrap().to_string(), "10.77.4.0/22");
        let fault = check_free("10.77.0.0/16".parse().unwrap(), &ranges).unwrap_err().to_string();
        assert!(fault.contains("10.77.0.0/16") && fault.contains("interface lab0"), "{fault}");
        let all = [InUse { prefix: Prefix::read("0.0.0.0/0").unwrap(), by: String::new() }];
        assert!(first_free(&all).unwrap_err().to_string().contains("set the provider's network"));
    }
}
