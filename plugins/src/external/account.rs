//! Whom programs run as.

use std::os::unix::fs::chown;
use std::path::Path;

use cooperage_domain::invalid::Invalid;
use nix::unistd::User;

/// A user of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Its number.
    pub uid: u32,
    /// The number of its group; it is in no other one.
    pub gid: u32,
}

impl Account {
    /// Whom programs run as: the user of this name when we are root; nobody but ourselves (`None`) when we are not, since only
    /// root may become another one.
    ///
    /// # Errors
    /// When there is no such user, or it is root itself.
    pub fn for_plugins(name: &str) -> Result<Option<Self>, Invalid> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let refuse = |fault: &str| {
            let remedy =
                "name a user without rights of its own, such as nobody, or make one: useradd --system NAME";
            Err(Invalid::new("plugins.user", name, fault, remedy))
        };
        match User::from_name(name) {
            Ok(Some(user)) if user.uid.is_root() => refuse("is root, whom no limit holds"),
            Ok(Some(user)) => {
                Ok(Some(Self { name: user.name, uid: user.uid.as_raw(), gid: user.gid.as_raw() }))
            }
            Ok(None) => refuse("is no user of this host"),
            Err(fault) => refuse(&format!("cannot be looked up: {fault}")),
        }
    }

    /// Gives it a file or folder.
    pub(super) fn own(&self, path: &Path) -> std::io::Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_runs_plugins_as_somebody_else() {
        if !rustix::process::geteuid().is_root() {
            assert_eq!(Account::for_plugins("no-such-user"), Ok(None));
            return;
        }
        let nobody = Account::for_plugins("nobody").unwrap().unwrap();
        assert!(nobody.uid != 0 && nobody.gid != 0);
        for name in ["root", "no-such-user", ""] {
            assert_eq!(Account::for_plugins(name).unwrap_err().field, "plugins.user", "{name}");
        }
    }
}
