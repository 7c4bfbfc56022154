//! Processes of a run, wherever they went: each has the run's home in its environment.

use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// How long what was killed may take to be gone: it may wait for a disk.
const GONE_LIMIT: Duration = Duration::from_secs(2);

/// Ends what is left of the run with this home: asks, and after `grace` kills. Waits.
///
/// Gives whether all are gone.
pub(super) fn end(home: &Path, grace: Duration) -> bool {
    let asked = Instant::now();
    signal(home, Signal::TERM);
    while asked.elapsed() < grace && !of(home).is_empty() {
        std::thread::sleep(PAUSE);
    }
    let killed = Instant::now();
    loop {
        // Again each time: one that is killed may have begun another.
        if signal(home, Signal::KILL) == 0 {
            return true;
        }
        if killed.elapsed() > GONE_LIMIT {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Kills what is left of the run with this home, and does not wait.
pub(super) fn kill(home: &Path) {
    signal(home, Signal::KILL);
}

fn signal(home: &Path, signal: Signal) -> usize {
    let processes = of(home);
    for process in &processes {
        // It may be gone by now.
        let _ = pidfd_send_signal(process, signal);
    }
    processes.len()
}

/// The processes, held so that their numbers cannot come to mean others.
fn of(home: &Path) -> Vec<OwnedFd> {
    let mut wanted = OsString::from("HOME=");
    wanted.push(home);
    let wanted = wanted.as_encoded_bytes();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let is_ours = |pid: Pid| {
        // Dead ones that nobody has asked about yet have an empty environment.
        let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
    };
    let held = pids.filter(|pid| is_ours(*pid)).filter_map(|pid| {
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        is_ours(pid).then_some(process)
    });
    held.collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// Goes with the test, also with one that fails.
    struct Process(Child);

    impl Drop for Process {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn those_of_the_run_are_ended_and_no_others() {
        let home = tempfile::tempdir().unwrap();
        let run = |home: &Path, script: &str| {
            Process(Command::new("sh").args(["-c", script]).env("HOME", home).spawn().unwrap())
        };
        let stubborn = "trap '' TERM; while :; do sleep 1; done";
        let mut ours = [run(home.path(), "exec sleep 60"), run(home.path(), stubborn)];
        let mut other = run(&home.path().join("other"), "exec sleep 60");
        // For a moment after it has begun a process shows no environment.
        for process in &ours {
            while fs::read(format!("/proc/{}/environ", process.0.id())).unwrap().is_empty() {
                std::thread::yield_now();
            }
        }
        assert!(end(home.path(), Duration::from_millis(200)));
        for process in &mut ours {
            assert!(!process.0.wait().unwrap().success());
        }
        assert_eq!(other.0.try_wait().unwrap(), None);
    }
}
