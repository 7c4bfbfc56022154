//! Who uses which bridge and network on this host, across all servers on it.
//!
//! Kept under `/run`, which the host empties at a reboot, when its bridges are gone too.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::address::Network;
use super::fault::{At, LocalError};
use super::host_network::has_interface;
use super::lock::FileLock;
use super::record::write_durably;

/// A bridge and its network, taken by one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reservation {
    /// Name of the bridge.
    pub(super) bridge: String,
    /// State directory of the server that took it.
    pub(super) owner: PathBuf,
    /// Its network.
    pub(super) network: Network,
}

const DIRECTORY: &str = "/run/cooperage/local";
const EXTENSION: &str = "json";
/// There while the host forwards packets because we said so.
const FORWARDING: &str = "/run/cooperage/local/forwarding-was-off";

/// Waits until nobody else on this host changes bridges, networks or addresses.
pub(super) async fn lock_host() -> Result<FileLock, LocalError> {
    FileLock::acquire(Path::new(DIRECTORY).join("lock")).await
}

impl Reservation {
    /// All that still count: those of a state directory that was removed by hand count only while their bridge is there.
    pub(super) fn all() -> Result<Vec<Self>, LocalError> {
        let mut reservations = Vec::new();
        for entry in std::fs::read_dir(DIRECTORY).at("list", DIRECTORY)? {
            let path = entry.at("list", DIRECTORY)?.path();
            if path.extension().is_none_or(|extension| extension != EXTENSION) {
                continue;
            }
            let text = std::fs::read_to_string(&path).at("read", &path)?;
            let reservation: Self =
                serde_json::from_str(&text).map_err(std::io::Error::other).at("read", &path)?;
            if reservation.owner.exists() || has_interface(&reservation.bridge) {
                reservations.push(reservation);
            }
        }
        Ok(reservations)
    }

    /// Takes the bridge and its network.
    pub(super) fn write(&self) -> Result<(), LocalError> {
        let json = serde_json::to_vec(self).map_err(std::io::Error::other).at("write", DIRECTORY)?;
        write_durably(&path(&self.bridge), &json)
    }

    /// Gives them back.
    pub(super) fn remove(&self) -> Result<(), LocalError> {
        remove_if_there(&path(&self.bridge))
    }
}

fn path(bridge: &str) -> PathBuf {
    Path::new(DIRECTORY).join(bridge).with_extension(EXTENSION)
}

/// Notes that the host did not forward packets before we made it.
pub(super) fn note_forwarding_was_off() -> Result<(), LocalError> {
    std::fs::write(FORWARDING, "").at("write", FORWARDING)
}

/// Whether the host did not forward packets before we made it; forgotten once asked.
pub(super) fn take_forwarding_was_off() -> Result<bool, LocalError> {
    let noted = Path::new(FORWARDING).exists();
    remove_if_there(Path::new(FORWARDING))?;
    Ok(noted)
}

fn remove_if_there(path: &Path) -> Result<(), LocalError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.at("remove", path),
    }
}
