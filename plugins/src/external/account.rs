//! Whom programs run as.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

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

    /// The program itself, or the first folder on the way to it, that this user may not use; `None` when it may run it.
    ///
    /// Looks at modes only: who is let in by other means is not seen.
    #[must_use]
    pub fn kept_out_by(&self, program: &Path) -> Option<PathBuf> {
        let mut way: Vec<&Path> = program.ancestors().collect();
        way.reverse();
        let closed = |path: &&Path| {
            let Ok(found) = path.metadata() else { return true };
            let bits = match () {
                () if found.uid() == self.uid => found.mode() >> 6,
                () if found.gid() == self.gid => found.mode() >> 3,
                () => found.mode(),
            };
            // Whoever runs a script must be able to read it, too.
            let wanted = if found.is_dir() { 0o1 } else { 0o5 };
            bits & wanted != wanted
        };
        way.into_iter().find(closed).map(Path::to_owned)
    }

    /// Gives it a file or folder.
    pub(super) fn own(&self, path: &Path) -> std::io::Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_keeps_it_out_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, program) = (folder.path().join("inner"), folder.path().join("inner/run"));
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(&program, "").unwrap();
        mode(folder.path(), 0o755);
        mode(&inner, 0o711);
        mode(&program, 0o755);
        let other = Account { name: "other".into(), uid: 64_000, gid: 64_000 };
        assert_eq!(other.kept_out_by(&program), None);
        mode(&program, 0o711);
        assert_eq!(other.kept_out_by(&program), Some(program.clone()));
        mode(&inner, 0o700);
        assert_eq!(other.kept_out_by(&program), Some(inner.clone()));
        let owner = folder.path().metadata().unwrap();
        let owner = Account { name: "owner".into(), uid: owner.uid(), gid: owner.gid() };
        assert_eq!(owner.kept_out_by(&program), None);
    }

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
