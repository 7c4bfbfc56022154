//! Where the provider keeps things, and what an administrator may choose.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cooperage_domain::invalid::Invalid;
use serde_json::{Map, Value};

use super::address::Network;
use super::flavor::{Limits, read_cpus, read_memory};

/// Settings of the provider on this host.
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// Directory for machines: their records and their disks. Must be on a disk file system that can carry an overlay
    /// (ext4, xfs, btrfs), and belong to one server only.
    pub state_dir: PathBuf,
    /// Directory of images, each a base directory by its name; may be shared by several servers.
    pub images_dir: PathBuf,
    /// Private key (OpenSSH format, without passphrase) the server logs in with; made when it is missing, with its public
    /// half beside it.
    pub identity: PathBuf,
    /// Name of the bridge machines hang on; `None`: a name of this server's own.
    pub bridge: Option<String>,
    /// Network of the bridge; `None`: the first of several private ranges that the host does not use.
    pub network: Option<Network>,
    /// Limits for flavors that name none.
    pub limits: Limits,
    /// How long a machine may take until it can be logged in to.
    pub boot_timeout: Duration,
}

/// Longest name of a network interface.
const LONGEST_INTERFACE: usize = 15;
/// A machine answers within a second; many at once, on a busy host, take longer.
const BOOT_TIMEOUT: Duration = Duration::from_secs(120);

impl LocalSettings {
    /// With everything else left to the provider.
    pub fn new(
        state_dir: impl Into<PathBuf>,
        images_dir: impl Into<PathBuf>,
        identity: impl Into<PathBuf>,
    ) -> Self {
        Self {
            state_dir: state_dir.into(),
            images_dir: images_dir.into(),
            identity: identity.into(),
            bridge: None,
            network: None,
            limits: Limits::default(),
            boot_timeout: BOOT_TIMEOUT,
        }
    }

    /// Whether the paths can be used in a mount and the bridge's name is one.
    ///
    /// # Errors
    /// When not, naming the setting.
    pub fn check(&self) -> Result<(), Invalid> {
        check_path("state_dir", &self.state_dir)?;
        check_path("images_dir", &self.images_dir)?;
        check_path("identity", &self.identity)?;
        self.bridge.as_deref().map_or(Ok(()), check_bridge)
    }
}

/// What one provider entity asks for: its fields, and the settings where it says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wishes {
    /// Name of the bridge; `None`: one of this server's own.
    pub(super) bridge: Option<String>,
    /// Its network; `None`: one the host does not use.
    pub(super) network: Option<Network>,
    /// Limits for flavors that name none.
    pub(super) limits: Limits,
}

impl Wishes {
    /// Reads a provider's fields. Empty ones count as absent.
    pub(super) fn read(settings: &LocalSettings, fields: &Map<String, Value>) -> Result<Self, Invalid> {
        let bridge = text(fields, "bridge");
        if let Some(name) = &bridge {
            check_bridge(name)?;
        }
        let network = text(fields, "network").map(|value| value.parse()).transpose()?;
        let cpus = limit(fields, "cpus", read_cpus, "use a number such as 2 or 0.5, or leave it empty")?;
        let memory =
            limit(fields, "memory", read_memory, "use an amount such as 512m or 4g, or leave it empty")?;
        Ok(Self {
            bridge: bridge.or_else(|| settings.bridge.clone()),
            network: network.or(settings.network),
            limits: Limits {
                millicpus: cpus.or(settings.limits.millicpus),
                memory: memory.or(settings.limits.memory),
            },
        })
    }
}

fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = match fields.get(name)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn limit(
    fields: &Map<String, Value>,
    name: &'static str,
    read: fn(&str) -> Option<u64>,
    remedy: &'static str,
) -> Result<Option<u64>, Invalid> {
    let Some(value) = text(fields, name) else { return Ok(None) };
    read(&value).map(Some).ok_or_else(|| Invalid::new(name, &value, "is not a limit", remedy))
}

/// Paths go into mount options, where a comma or a colon would end them, and are compared with the kernel's mount table,
/// which escapes white space.
fn check_path(setting: &str, path: &Path) -> Result<(), Invalid> {
    let usable = path.to_str().is_some_and(|text| {
        !text.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, ',' | ':' | '\\' | '"'))
    });
    if usable && path.is_absolute() {
        return Ok(());
    }
    Err(Invalid::new(
        setting,
        path.display(),
        "is not a path this provider can mount",
        "use an absolute path without white space, comma, colon, quote or backslash",
    ))
}

fn check_bridge(name: &str) -> Result<(), Invalid> {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if letters && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= LONGEST_INTERFACE {
        return Ok(());
    }
    Err(Invalid::new(
        "bridge",
        name,
        "is not a name for a bridge",
        "use a letter and then at most 14 letters, digits, '-' or '_', for example coopbr0",
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings() -> LocalSettings {
        LocalSettings::new("/var/lib/c/local", "/var/lib/c/images", "/var/lib/c/id")
    }

    fn read(fields: Value) -> Result<Wishes, Invalid> {
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        Wishes::read(&settings(), &fields)
    }

    #[test]
    fn a_providers_fields_come_before_the_settings() {
        let wishes =
            read(json!({"bridge": "lab0", "network": "10.1.0.0/24", "cpus": 2, "memory": "1g"})).unwrap();
        assert_eq!(wishes.bridge.as_deref(), Some("lab0"));
        assert_eq!(wishes.network, Some("10.1.0.0/24".parse().unwrap()));
        assert_eq!(wishes.limits, Limits { millicpus: Some(2000), memory: Some(1 << 30) });
        let none = Wishes { bridge: None, network: None, limits: Limits::default() };
        assert_eq!(read(json!({"bridge": "", "network": " ", "cpus": ""})).unwrap(), none);
    }

    #[test]
    fn wrong_fields_are_refused_by_name() {
        for (field, value) in [
            ("bridge", "a bridge"),
            ("bridge", "0br"),
            ("bridge", "sixteen-letters-"),
            ("network", "8.8.8.0/24"),
            ("cpus", "many"),
            ("memory", "1"),
        ] {
            let fault = read(json!({field: value})).unwrap_err();
            assert_eq!((fault.field.as_str(), fault.value.as_str()), (field, value));
        }
    }

    #[test]
    fn paths_that_cannot_be_mounted_are_refused() {
        assert_eq!(settings().check(), Ok(()));
        for path in ["relative", "/with space", "/with,comma", "/with:colon"] {
            let wrong = LocalSettings { state_dir: path.into(), ..settings() };
            assert_eq!(wrong.check().unwrap_err().field, "state_dir", "{path}");
        }
    }
}
