//! Two ports for the demo's server, and the settings that name them.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::cli::failure::Failure;

/// The port for people that servers have by default; the next one is for provisioners.
const FIRST: u16 = 55054;
/// Pairs that are tried.
const PAIRS: u16 = 50;

/// The part of the settings that the demo writes and reads again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DemoSettings {
    data_dir: String,
    pub(super) listen: Listen,
    database: Database,
    auth: Auth,
    pub(super) local: Local,
}

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listen {
    pub(super) user: SocketAddr,
    tasks: SocketAddr,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Database {
    url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Auth {
    mode: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Local {
    pub(super) bridge: String,
}

impl DemoSettings {
    fn new(place: &Place, port: u16) -> Self {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Self {
            data_dir: place.root().display().to_string(),
            listen: Listen { user: at(port), tasks: at(port.saturating_add(1)) },
            database: Database { url: String::new() },
            auth: Auth { mode: "token".to_owned() },
            // Of its own: another server on this host has one too.
            local: Local { bridge: format!("coopdemo{port}") },
        }
    }

    /// Address of the server.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.listen.user)
    }

    /// Those the demo was begun with, if it was.
    pub(super) fn read(place: &Place) -> Option<Self> {
        toml::from_str(&std::fs::read_to_string(place.settings()).ok()?).ok()
    }

    /// Those the demo was begun with, if their ports are (still) free, else with the next two that are; written down.
    pub(super) fn choose(place: &Place, offset: u16) -> Result<Self, Failure> {
        let free = |settings: &Self| {
            TcpListener::bind(settings.listen.user).is_ok()
                && TcpListener::bind(settings.listen.tasks).is_ok()
        };
        if let Some(former) = Self::read(place).filter(free) {
            return Ok(former);
        }
        let first = FIRST.saturating_add(offset);
        let ports = (0..PAIRS).filter_map(|pair| first.checked_add(2 * pair));
        let chosen = ports.map(|port| Self::new(place, port)).find(free).ok_or_else(|| {
            Failure::refused(
                format!("no two ports are free from {first} on"),
                "end what uses them (ss -ltnp), or give another --port-offset",
            )
        })?;
        // Plain data, so that it always becomes TOML.
        let text = toml::to_string(&chosen).unwrap_or_default();
        place.write(&place.settings(), &format!("# Settings of the server of `cooperage demo`.\n{text}"))?;
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Settings;

    #[test]
    fn ports_are_free_written_down_and_kept() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::at(root.path()).unwrap();
        let first = DemoSettings::choose(&place, 7000).unwrap();
        assert_eq!(DemoSettings::read(&place), Some(first.clone()));
        assert_eq!(DemoSettings::choose(&place, 0).unwrap(), first);
        let taken = TcpListener::bind(first.listen.user).unwrap();
        let second = DemoSettings::choose(&place, 7000).unwrap();
        assert_ne!(second.listen.user, taken.local_addr().unwrap());
        assert_eq!(DemoSettings::read(&place), Some(second));
    }

    #[test]
    fn the_server_understands_them() {
        let root = tempfile::tempdir().unwrap();
        let place = Place::at(root.path()).unwrap();
        let chosen = DemoSettings::choose(&place, 8000).unwrap();
        let settings = Settings::load(Some(&place.settings()), &[]).unwrap();
        assert_eq!(settings.listen.user, chosen.listen.user);
        assert_eq!(settings.data_dir, root.path());
        assert_eq!(settings.images_dir(), Path::new(root.path()).join("images"));
        assert!(chosen.local.bridge.len() <= 15, "the kernel takes no longer names");
    }
}
