//! Whether this host can carry machines, and if not, everything that is missing at once.

use std::path::Path;

use super::cgroup::Hierarchies;
use super::fault::{At, LocalError, Refusal};
use super::host_command::{SEARCH_PATH, run};
use super::overlay::Disk;
use super::settings::LocalSettings;

/// Programs needed, and the Debian package each comes in.
const PROGRAMS: [(&str, &str); 9] = [
    ("systemd-nspawn", "systemd-container"),
    ("ip", "iproute2"),
    ("nft", "nftables"),
    ("mount", "mount"),
    ("umount", "mount"),
    ("setsid", "util-linux"),
    ("nsenter", "util-linux"),
    ("kill", "procps"),
    ("df", "coreutils"),
];
/// Needed for building images only.
const BUILDER: (&str, &str) = ("mmdebstrap", "mmdebstrap");
/// Free space below which machines are refused, in MiB: an image takes 450, and each machine what it installs.
const LEAST_SPACE: u64 = 1024;

/// All that keeps machines from running here; empty when nothing does.
///
/// Tries a mount in the state directory, since neither being root nor having the file system says that it works.
pub async fn preflight(settings: &LocalSettings) -> Vec<Refusal> {
    let mut missing: Vec<_> = PROGRAMS.into_iter().filter_map(missing_program).collect();
    if !settings.images_dir.is_dir() {
        missing.extend(missing_program(BUILDER));
    }
    missing.extend(not_root());
    if !missing.is_empty() {
        return missing;
    }
    if let Err(error) = Hierarchies::find() {
        missing.push(as_refusal("control groups", &error, "mount them below /sys/fs/cgroup"));
    }
    missing.extend(other_mounts());
    if let Err(error) = try_overlay(&settings.state_dir).await {
        let thing = format!("overlay file system in {}", settings.state_dir.display());
        missing.push(as_refusal(
            &thing,
            &error,
            "use a kernel with overlayfs (modprobe overlay), CAP_SYS_ADMIN, and a state directory on ext4, xfs or btrfs",
        ));
    } else {
        missing.extend(little_space(&settings.state_dir).await);
    }
    missing
}

/// One error with everything that is missing.
pub(super) async fn refuse_unless_usable(settings: &LocalSettings) -> Result<(), LocalError> {
    let missing = preflight(settings).await;
    if missing.is_empty() {
        return Ok(());
    }
    let all = missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    Err(Refusal::new(
        "provider local",
        format!("cannot run on this host ({all})"),
        "put that right, or use another provider",
    )
    .into())
}

/// Whether a program is on the search path; `None` when it is.
pub(super) fn missing_program((program, package): (&str, &str)) -> Option<Refusal> {
    let there = SEARCH_PATH.split(':').any(|directory| Path::new(directory).join(program).is_file());
    let remedy = format!("install it: apt-get install --no-install-recommends {package}");
    (!there).then(|| Refusal::new(format!("program {program}"), "is not installed", remedy))
}

fn as_refusal(thing: &str, error: &LocalError, remedy: &str) -> Refusal {
    Refusal::new(thing, format!("does not work here ({error})"), remedy)
}

/// Everything here needs root; the owner of our own process entry is who we are.
fn not_root() -> Option<Refusal> {
    use std::os::unix::fs::MetadataExt;
    let root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    (!root).then(|| {
        let remedy = "run the server as root, or use another provider";
        Refusal::new(
            "root",
            "is needed for mounts, networks and control groups, and the server is not root",
            remedy,
        )
    })
}

/// In a mount namespace of its own (as systemd gives with PrivateTmp and others) the server would lose the disks of its
/// machines with each restart.
fn other_mounts() -> Option<Refusal> {
    let ours = std::fs::read_link("/proc/self/ns/mnt").ok()?;
    let hosts = std::fs::read_link("/proc/1/ns/mnt").ok()?;
    (ours != hosts).then(|| {
        let remedy = "take PrivateTmp, ProtectSystem, ProtectHome and the like out of the server's unit";
        Refusal::new(
            "mount namespace",
            "is the server's own, so machines would lose their disks when it restarts",
            remedy,
        )
    })
}

async fn try_overlay(state_dir: &Path) -> Result<(), LocalError> {
    let directory = state_dir.join(format!("preflight-{}", uuid::Uuid::new_v4().simple()));
    let base = directory.join("base");
    tokio::fs::create_dir_all(&base).await.at("make", &base)?;
    let disk = Disk::new(&directory);
    let mounted = disk.mount(&base).await;
    let unmounted = disk.unmount().await;
    tokio::fs::remove_dir_all(&directory).await.at("remove", &directory)?;
    mounted.and(unmounted)
}

async fn little_space(state_dir: &Path) -> Option<Refusal> {
    let printed = run("df", ["--output=avail".as_ref(), "-m".as_ref(), state_dir.as_os_str()]).await.ok()?;
    let free: u64 = printed.lines().nth(1)?.trim().parse().ok()?;
    (free < LEAST_SPACE).then(|| {
        let fault = format!("has only {free} MiB left; {LEAST_SPACE} are needed");
        Refusal::new(state_dir.display().to_string(), fault, "make room, or move the data directory")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        assert_eq!(missing_program(("mount", "mount")), None);
        let refusal = missing_program(("no-such-program", "some-package")).unwrap().to_string();
        assert!(
            refusal.contains("no-such-program")
                && refusal.contains("apt-get install --no-install-recommends some-package")
        );
    }
}
