//! Starting a program with its limits, and ending it with all it started.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::libc;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, setrlimit};
use tokio::process::{Child, Command};

use super::account::Account;
use super::strays;
use super::verdict::Ending;
use crate::local::host_command::SEARCH_PATH;

/// How long a program has to end by itself once it was asked to.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// What is to be started.
pub(super) struct Start<'a> {
    pub(super) program: &'a Path,
    /// Its working directory.
    pub(super) folder: &'a Path,
    pub(super) home: &'a Path,
    /// Variables that it sees besides those all see.
    pub(super) environment: &'a [(String, OsString)],
    /// Most memory, in bytes.
    pub(super) memory: Option<u64>,
    pub(super) open_files: u64,
    /// Whom it runs as; ourselves without.
    pub(super) account: Option<&'a Account>,
}

/// A program and everything it started, in a process group of their own. What is left of it is killed when this is dropped.
pub(super) struct Group {
    pub(super) child: Child,
    leader: Option<Pid>,
    home: PathBuf,
    ended: bool,
}

impl Group {
    /// Starts it. All its streams are pipes.
    pub(super) fn start(start: &Start<'_>) -> io::Result<Self> {
        let mut command = Command::new(start.program);
        command.current_dir(start.folder).env_clear();
        command
            .env("PATH", SEARCH_PATH)
            .env("LANG", "C.UTF-8")
            .env("HOME", start.home)
            .env("TMPDIR", start.home);
        command.envs(start.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        if let Some(account) = start.account {
            // As root this leaves all other groups as well.
            command.uid(account.uid).gid(account.gid);
        }
        limit(&mut command, start.memory, start.open_files, start.account.is_some());
        let child = command.spawn()?;
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Self { child, leader, home: start.home.to_owned(), ended: false })
    }

    /// Asks all of it to end. Holds what it needs, so that the program can be listened to meanwhile.
    pub(super) fn asker(&self) -> impl Fn() + use<> {
        let leader = self.leader;
        move || signal(leader, Signal::TERM)
    }

    /// Asks all of it to end, waits, and kills what is left.
    pub(super) async fn end(&mut self) {
        signal(self.leader, Signal::TERM);
        // Whether it ended by itself does not matter any more.
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        self.kill().await;
        let _ = self.child.wait().await;
    }

    /// Kills what is left of it, those included that left the group.
    pub(super) async fn kill(&mut self) {
        signal(self.leader, Signal::KILL);
        let home = self.home.clone();
        // It only fails when everything ends, and then `drop` does it.
        self.ended = tokio::task::spawn_blocking(move || strays::kill(&home)).await.is_ok();
    }
}

fn signal(leader: Option<Pid>, signal: Signal) {
    if let Some(leader) = leader {
        // An empty group is what is wanted.
        let _ = kill_process_group(leader, signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            signal(self.leader, Signal::KILL);
            strays::kill(&self.home);
        }
    }
}

/// How a program ended.
pub(super) fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exit(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

/// Limits that hold from its first instruction on, and for all it starts.
#[allow(
    unsafe_code,
    reason = "only system calls that may be made between fork and exec, and no memory is taken"
)]
fn limit(command: &mut Command, memory: Option<u64>, open_files: u64, confined: bool) {
    let set = move |resource, most: Option<u64>| setrlimit(resource, Rlimit { current: most, maximum: most });
    let limits = move || {
        close_others()?;
        // A picture of its memory would hold the secrets it was given.
        set(Resource::Core, Some(0))?;
        set(Resource::Nofile, Some(open_files))?;
        if memory.is_some() {
            set(Resource::As, memory)?;
        }
        if confined {
            rustix::thread::set_no_new_privs(true)?;
        }
        Ok(())
    };
    // SAFETY: the closure runs in the child between fork and exec: it makes a few system calls and touches nothing else.
    unsafe {
        command.pre_exec(limits);
    }
}

/// Marks every file but the three streams to be closed by exec: we may have been started with some that are nobody's business.
#[allow(
    unsafe_code,
    reason = "the C library's own function wants glibc 2.34; the system call has been there since Linux 5.9"
)]
fn close_others() -> io::Result<()> {
    // SAFETY: it changes a mark of open files and touches no memory.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
