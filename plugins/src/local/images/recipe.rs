//! What goes into an image.

use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::super::fault::{At, LocalError};

/// A Debian release and the packages a machine starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    suite: String,
    packages: Vec<String>,
}

/// A system that can be logged in to, install packages, and run what administrators and automators expect. Full Python, not
/// the minimal one, since Ansible's modules need it.
const PACKAGES: [&str; 19] = [
    "init",
    "systemd-sysv",
    "dbus",
    "libpam-systemd",
    "openssh-server",
    "sudo",
    "ca-certificates",
    "curl",
    "python3",
    "jq",
    "iproute2",
    "iputils-ping",
    "netbase",
    "procps",
    "less",
    "gnupg",
    "rsync",
    "tar",
    "gzip",
];
/// What a machine that lives for hours or weeks on somebody's host does not need.
const MASKED: [&str; 10] = [
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "e2scrub_all.timer",
    "e2scrub_reap.service",
    "dpkg-db-backup.timer",
    "fstrim.timer",
    "console-getty.service",
    "getty@.service",
    "systemd-logind.service",
    "systemd-networkd-wait-online.service",
];
/// Dates: a mirror may be a frozen one. Languages: saves a third of each update.
const APT_OPTIONS: [&str; 3] = [
    r#"Acquire::Check-Valid-Until "false""#,
    r#"Acquire::Check-Date "false""#,
    r#"Acquire::Languages "none""#,
];
const JOURNAL: &str = "[Journal]\nStorage=volatile\nRuntimeMaxUse=4M\n";
/// The host's certificates, own authorities included, so that machines trust whom the host trusts.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

impl Recipe {
    /// The images that can be made by name.
    pub const NAMES: [&'static str; 1] = ["debian-12"];

    /// The recipe of a well-known image.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        (name == Self::NAMES[0]).then(|| Self::debian("bookworm"))
    }

    /// A machine's basic system from a release of Debian, by its code name.
    pub fn debian(suite: impl Into<String>) -> Self {
        Self { suite: suite.into(), packages: PACKAGES.map(str::to_owned).into() }
    }

    /// With more packages, which machines of this image then need not download.
    #[must_use]
    pub fn with_packages<P: Into<String>>(mut self, packages: impl IntoIterator<Item = P>) -> Self {
        self.packages.extend(packages.into_iter().map(Into::into));
        self
    }

    /// Code name of the release.
    pub(super) fn suite(&self) -> &str {
        &self.suite
    }

    /// Arguments for making it in `directory` from these apt sources. Package lists are kept, or each machine would have to
    /// download them before it can install anything.
    pub(super) fn mmdebstrap_arguments(&self, directory: &Path, sources: &[String]) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["--variant=minbase".into(), "--mode=root".into()];
        arguments.push(format!("--include={}", self.packages.join(",")).into());
        arguments.extend(APT_OPTIONS.map(|option| format!("--aptopt={option}").into()));
        // A machine's disk is no place to wait for: packages are unpacked without forcing each file to it.
        arguments.push("--dpkgopt=force-unsafe-io".into());
        arguments.push("--skip=cleanup/apt/lists".into());
        arguments.push(self.suite.as_str().into());
        arguments.push(directory.into());
        arguments.extend(sources.iter().map(Into::into));
        arguments
    }
}

/// Makes a fresh system into an image: nothing of its own that machines must not share, nothing running for nobody.
pub(super) fn settle(root: &Path) -> Result<(), LocalError> {
    let units = root.join("etc/systemd/system");
    for unit in MASKED {
        let path = units.join(unit);
        remove(&path)?;
        symlink("/dev/null", &path).at("mask", &path)?;
    }
    write(&root.join("etc/systemd/journald.conf.d/cooperage.conf"), JOURNAL.as_bytes())?;
    // Java's packages cannot be installed without it.
    make_directory(&root.join("usr/share/man/man1"))?;
    remove_host_keys(&root.join("etc/ssh"))?;
    write(&root.join("etc/machine-id"), b"")?;
    if let Ok(certificates) = std::fs::read(Path::new("/").join(CERTIFICATES)) {
        write(&root.join(CERTIFICATES), &certificates)?;
    }
    std::fs::set_permissions(root, std::fs::Permissions::from_mode(0o755)).at("set the mode of", root)
}

fn remove_host_keys(directory: &Path) -> Result<(), LocalError> {
    for entry in std::fs::read_dir(directory).at("list", directory)? {
        let path = entry.at("list", directory)?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ssh_host_")) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> Result<(), LocalError> {
    path.parent().map_or(Ok(()), make_directory)?;
    remove(path)?;
    std::fs::write(path, content).at("write", path)
}

fn make_directory(path: &Path) -> Result<(), LocalError> {
    std::fs::create_dir_all(path).at("make", path)
}

/// The link itself, where it is one: it may lead out of the image.
fn remove(path: &Path) -> Result<(), LocalError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.at("remove", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_packages_directory_and_sources() {
        let recipe = Recipe::named("debian-12").unwrap().with_packages(["nginx"]);
        let sources = ["deb http://m/debian bookworm main".to_owned()];
        let arguments = recipe.mmdebstrap_arguments(Path::new("/images/.new"), &sources);
        assert_eq!(
            arguments[arguments.len() - 3..],
            ["bookworm", "/images/.new", "deb http://m/debian bookworm main"]
        );
        let include = arguments.iter().find_map(|a| a.to_str()?.strip_prefix("--include=")).unwrap();
        assert!(include.ends_with(",nginx") && include.contains("openssh-server"), "{include}");
    }

    #[test]
    fn an_image_keeps_nothing_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["etc/ssh", "etc/systemd/system"] {
            std::fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for file in ["etc/machine-id", "etc/ssh/ssh_host_rsa_key", "etc/ssh/sshd_config"] {
            std::fs::write(root.path().join(file), "own").unwrap();
        }
        settle(root.path()).unwrap();
        settle(root.path()).unwrap();
        assert_eq!(std::fs::read(root.path().join("etc/machine-id")).unwrap(), b"");
        assert!(!root.path().join("etc/ssh/ssh_host_rsa_key").exists());
        assert!(root.path().join("etc/ssh/sshd_config").exists());
        let masked = std::fs::read_link(root.path().join("etc/systemd/system/apt-daily.timer")).unwrap();
        assert_eq!(masked, Path::new("/dev/null"));
    }
}
