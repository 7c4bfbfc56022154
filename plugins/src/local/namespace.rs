//! A machine's network: a namespace of its own, and a cable from its `eth0` to the bridge.

use std::path::{Path, PathBuf};

use super::address::hardware_address;
use super::fault::{At, LocalError};
use super::host_command::{HostCommand, run};
use super::host_network::has_interface;
use super::overlay::is_mounted;
use super::record::{Record, cable};

/// Where `ip` keeps namespaces by name.
const NAMESPACES: &str = "/run/netns";

/// The path of a machine's namespace.
pub(super) fn path(id: &str) -> PathBuf {
    Path::new(NAMESPACES).join(id)
}

/// Makes sure that the machine's namespace is there.
pub(super) async fn ensure(id: &str) -> Result<(), LocalError> {
    let path = path(id);
    if is_mounted(&path).await? {
        return Ok(());
    }
    // `ip` makes a file and then mounts the namespace on it; interrupted between the two it leaves a file that is none.
    remove_file(&path).await?;
    run("ip", ["netns", "add", id]).await?;
    Ok(())
}

/// Makes sure that the machine's cable is plugged in at both ends, and its address set.
pub(super) async fn connect(record: &Record) -> Result<(), LocalError> {
    let (id, cable, bridge) = (&record.id, record.cable(), &record.bridge);
    if !has_interface(&cable) {
        let address = hardware_address(record.address);
        let add =
            ["link", "add", &cable, "type", "veth", "peer", "name", "eth0", "address", &address, "netns", id];
        run("ip", add).await?;
    }
    run("ip", ["link", "set", &cable, "master", bridge, "up"]).await?;
    let inside = format!(
        "link set lo up\naddr replace {} dev eth0\nlink set eth0 up\nroute replace default via {}\n",
        record.network.with_length(record.address),
        record.network.gateway()
    );
    HostCommand::new("ip").args(["-n", id, "-batch", "-"]).input(inside).run().await?;
    Ok(())
}

/// Removes cable and namespace, wherever they are there.
pub(super) async fn remove(id: &str) -> Result<(), LocalError> {
    let cable = cable(id);
    if has_interface(&cable) {
        run("ip", ["link", "del", &cable]).await?;
    }
    let path = path(id);
    if is_mounted(&path).await? {
        run("ip", ["netns", "del", id]).await?;
    }
    remove_file(&path).await
}

async fn remove_file(path: &Path) -> Result<(), LocalError> {
    match tokio::fs::remove_file(path).await {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.at("remove", path),
    }
}
