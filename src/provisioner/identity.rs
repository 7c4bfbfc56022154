//! Who a provisioner is, and where its server reaches it.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;

use cooperage_domain::entity::is_valid_name;
use cooperage_domain::invalid::Invalid;
use uuid::Uuid;

/// Name of the file that holds an id that was made.
const FILE: &str = "provisioner.id";
/// Where Linux tells the host's name.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// The id that is set, or the one that was made at the first start: the same after each restart, so that the server knows
/// whose tasks are whose.
///
/// # Errors
/// When the one that is set is no name, or none can be kept.
pub fn id(set: &str, data_dir: &Path) -> Result<String, IdentityError> {
    if !set.is_empty() {
        if is_valid_name(set) {
            return Ok(set.to_owned());
        }
        let remedy = "use 1 to 255 letters, digits, '_', '.' or '-'";
        return Err(Invalid::new("provisioner.id", set, "is no name", remedy).into());
    }
    let path = data_dir.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(kept) if is_valid_name(kept.trim()) => return Ok(kept.trim().to_owned()),
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => {
            return Err(IdentityError::Disk(path.display().to_string(), fault));
        }
        _ => {}
    }
    let host = std::fs::read_to_string(HOST_NAME).unwrap_or_default();
    let host: String = host.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let host = if host.is_empty() { "provisioner".to_owned() } else { host.to_lowercase() };
    let made = format!("{host}-{:08x}", Uuid::new_v4().as_fields().0);
    let disk = |fault| IdentityError::Disk(path.display().to_string(), fault);
    let draft = path.with_extension("draft");
    std::fs::write(&draft, &made).and_then(|()| std::fs::rename(&draft, &path)).map_err(disk)?;
    Ok(made)
}

/// Why a provisioner cannot say who or where it is.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A setting has a fault.
    #[error(transparent)]
    Setting(#[from] Invalid),
    /// The id cannot be kept.
    #[error("{0}: {1}; make the folder writable for the user that runs the provisioner")]
    Disk(String, io::Error),
}

/// Where the server reaches it: as set, or the address it listens on, or, when it listens on all, the one it reaches the
/// server from.
///
/// # Errors
/// When the server's address is none, or nothing leads there.
pub fn host(set: &str, listens: SocketAddr, server: &str) -> Result<String, IdentityError> {
    if !set.is_empty() {
        return Ok(set.to_owned());
    }
    let ip = if listens.ip().is_unspecified() { way_to(server)? } else { listens.ip() };
    Ok(match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    })
}

fn way_to(server: &str) -> Result<IpAddr, Invalid> {
    let remedy = "set provisioner.advertise to a name or an address under which the server reaches this host";
    let fault = |text: String| Invalid::new("provisioner.server", server, text, remedy);
    let url: reqwest::Url = server.parse().map_err(|found| fault(format!("is no URL: {found}")))?;
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(fault("names no host".to_owned()));
    };
    let host = host.trim_matches(['[', ']']);
    // Connecting sends nothing: it only finds out which of this host's addresses would be used.
    let find = || {
        let any: SocketAddr =
            if host.contains(':') { ([0_u16; 8], 0).into() } else { ([0, 0, 0, 0], 0).into() };
        let socket = UdpSocket::bind(any)?;
        socket.connect((host, port))?;
        socket.local_addr()
    };
    find()
        .map(|found| found.ip())
        .map_err(|found: io::Error| fault(format!("cannot be found from here: {found}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_was_made_stays() {
        let folder = tempfile::tempdir().unwrap();
        let made = id("", folder.path()).unwrap();
        assert!(is_valid_name(&made));
        assert_eq!(id("", folder.path()).unwrap(), made);
        assert_eq!(id("mine", folder.path()).unwrap(), "mine");
        assert!(id("not/mine", folder.path()).unwrap_err().to_string().contains("provisioner.id"));
    }

    #[test]
    fn the_server_is_told_an_address_it_can_use() {
        let told = |set: &str, listens: &str, server: &str| host(set, listens.parse().unwrap(), server);
        assert_eq!(told("", "127.0.0.1:1", "http://nowhere.invalid").unwrap(), "127.0.0.1");
        assert_eq!(told("", "[::1]:1", "http://nowhere.invalid").unwrap(), "[::1]");
        assert_eq!(told("", "0.0.0.0:1", "http://127.0.0.1:9").unwrap(), "127.0.0.1");
        assert_eq!(told("me.example", "0.0.0.0:1", "nonsense").unwrap(), "me.example");
        assert!(told("", "0.0.0.0:1", "nonsense").unwrap_err().to_string().contains("provisioner.server"));
    }
}
