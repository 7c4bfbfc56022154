//! What a demo that was killed while it made a base image leaves behind: programs that go on for nobody, and what they
//! mounted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::sleep;

use super::place::{Place, mounts_below};
use crate::cli::failure::Failure;

/// How the directory of an image begins that is not finished.
const UNFINISHED: &str = ".unfinished-";
/// Rounds in which programs are ended: one that is ended may have begun another.
const ROUNDS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(50);

/// Ends such programs and unmounts what they mounted. Only while we hold the demo's lock: nobody makes an image then.
pub(super) async fn end(place: &Place) -> Result<(), Failure> {
    let unfinished = place.images().join(UNFINISHED);
    for _ in 0..ROUNDS {
        let strays = find(Path::new("/proc"), &unfinished);
        if strays.is_empty() {
            break;
        }
        for pid in strays {
            // It may be gone by now.
            let _ = kill_process(pid, Signal::KILL);
        }
        sleep(PAUSE).await;
    }
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut mounts = mounts_below(&table, &place.images());
    // The innermost first.
    mounts.sort_by_key(|point| std::cmp::Reverse(point.len()));
    for point in mounts {
        unmount(point, UnmountFlags::DETACH)
            .map_err(|fault| Failure::file("unmount", Path::new(point), fault.into()))?;
    }
    Ok(())
}

/// Processes that work on an unfinished image: it is their root directory, or they were told its path.
fn find(processes: &Path, unfinished: &Path) -> Vec<Pid> {
    let entries = std::fs::read_dir(processes).into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| works_on(&processes.join(pid.to_string()), unfinished))
        .filter_map(Pid::from_raw)
        .collect()
}

fn works_on(process: &Path, unfinished: &Path) -> bool {
    let wanted = unfinished.as_os_str().as_encoded_bytes();
    let begins = |path: &[u8]| path.starts_with(wanted);
    let root: PathBuf = std::fs::read_link(process.join("root")).unwrap_or_default();
    let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
    begins(root.as_os_str().as_encoded_bytes()) || line.split(|byte| *byte == 0).any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_on_an_unfinished_image_is_found() {
        let processes = tempfile::tempdir().unwrap();
        for (pid, root, words) in [
            ("11", "/", "mmdebstrap\0bookworm\0/d/images/.unfinished-debian-12\0"),
            ("12", "/d/images/.unfinished-debian-12", "dpkg\0--configure\0"),
            ("13", "/", "ls\0/d/images/debian-12\0"),
            ("14", "/", "mmdebstrap\0/e/images/.unfinished-debian-12\0"),
        ] {
            let process = processes.path().join(pid);
            std::fs::create_dir(&process).unwrap();
            std::os::unix::fs::symlink(root, process.join("root")).unwrap();
            std::fs::write(process.join("cmdline"), words).unwrap();
        }
        let mut found: Vec<i32> = find(processes.path(), Path::new("/d/images/.unfinished-"))
            .into_iter()
            .map(|pid| pid.as_raw_nonzero().get())
            .collect();
        found.sort_unstable();
        assert_eq!(found, [11, 12]);
    }
}
