//! Control groups: each machine has its own, in every hierarchy it is started in. They hold its limits, and say which
//! processes belong to it.
//!
//! Both layouts are served: one unified hierarchy (v2), and separate ones (v1), with or without an empty v2 beside them.
//! Without a group of its own a machine would share one with all others, and stopping a service in one would stop it in all.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::fault::{At, LocalError, Refusal};
use super::flavor::Limits;
use super::host_command::HostCommand;

/// The hierarchies of this host that matter to machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchies {
    /// Where `systemd` keeps its own: named `systemd` (v1), or the unified one.
    main: PathBuf,
    /// Roots of all hierarchies a machine gets a group in, the main one first.
    roots: Vec<PathBuf>,
    /// Roots of v1 hierarchies with limits.
    memory_v1: Option<PathBuf>,
    cpu_v1: Option<PathBuf>,
    /// Whether the main one is v2 and so holds the limits.
    unified: bool,
}

/// Processes that were killed are gone within milliseconds, unless they wait for a broken disk.
const KILL_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(10);
/// Period over which processor time is measured out, in microseconds.
const CPU_PERIOD: u64 = 100_000;
const CONTROLLERS_V1: [&str; 3] = ["pids", "memory", "cpu"];

impl Hierarchies {
    /// Of this host.
    pub(super) fn find() -> Result<Self, LocalError> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").at("read", "/proc/self/mounts")?;
        Self::parse(&mounts).ok_or_else(|| {
            let remedy = "mount cgroup2, or cgroup with -o none,name=systemd, below /sys/fs/cgroup";
            Refusal::new("control groups", "are not mounted on this host", remedy).into()
        })
    }

    /// From the kernel's list of mounts.
    fn parse(mounts: &str) -> Option<Self> {
        let mut named = None;
        let mut v2 = None;
        let mut controllers: Vec<(&str, PathBuf)> = Vec::new();
        for line in mounts.lines() {
            let mut fields = line.split(' ').skip(1);
            let (Some(at), Some(kind), Some(options)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let option = |wanted: &str| options.split(',').any(|option| option == wanted);
            match kind {
                "cgroup2" => v2 = v2.or_else(|| Some(PathBuf::from(at))),
                "cgroup" if option("name=systemd") => named = Some(PathBuf::from(at)),
                "cgroup" => {
                    let found = CONTROLLERS_V1.into_iter().filter(|wanted| option(wanted));
                    controllers.extend(found.map(|controller| (controller, PathBuf::from(at))));
                }
                _ => {}
            }
        }
        let of =
            |wanted: &str| controllers.iter().find(|(name, _)| *name == wanted).map(|(_, at)| at.clone());
        let unified = named.is_none();
        let main = named.or_else(|| v2.clone())?;
        let mut roots = vec![main.clone()];
        for root in v2.into_iter().chain(CONTROLLERS_V1.into_iter().filter_map(of)) {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        Some(Self { main, roots, memory_v1: of("memory"), cpu_v1: of("cpu"), unified })
    }

    /// The files into which a process writes its number to become part of the machine.
    pub(super) fn entrances(&self, id: &str) -> Vec<PathBuf> {
        self.roots.iter().map(|root| root.join(id).join("cgroup.procs")).collect()
    }

    /// Makes the machine's groups, with its limits.
    pub(super) fn make(&self, id: &str, limits: Limits) -> Result<(), LocalError> {
        if self.unified {
            // Controllers must be handed down before a group has their files; some may be missing or handed down already.
            for controller in ["+cpu", "+memory", "+pids"] {
                let _ = std::fs::write(self.main.join("cgroup.subtree_control"), controller);
            }
        }
        for root in &self.roots {
            let group = root.join(id);
            std::fs::create_dir_all(&group).at("make", &group)?;
        }
        for (file, value) in self.limit_files(id, limits) {
            std::fs::write(&file, value).at("set the limit in", &file)?;
        }
        Ok(())
    }

    fn limit_files(&self, id: &str, limits: Limits) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        if let Some(bytes) = limits.memory {
            let v1 = self.memory_v1.as_ref().map(|root| root.join(id).join("memory.limit_in_bytes"));
            let file = v1.or_else(|| self.unified.then(|| self.main.join(id).join("memory.max")));
            files.extend(file.map(|file| (file, bytes.to_string())));
        }
        if let Some(millicpus) = limits.millicpus {
            let quota = CPU_PERIOD * millicpus / 1000;
            if let Some(root) = &self.cpu_v1 {
                files.push((root.join(id).join("cpu.cfs_period_us"), CPU_PERIOD.to_string()));
                files.push((root.join(id).join("cpu.cfs_quota_us"), quota.to_string()));
            } else if self.unified {
                files.push((self.main.join(id).join("cpu.max"), format!("{quota} {CPU_PERIOD}")));
            }
        }
        files
    }

    /// Whether the machine has any process.
    ///
    /// Asks the kernel for one answer where it gives one (v2): processes move between groups while a machine starts, and who
    /// reads group by group may miss them.
    pub(super) fn runs(&self, id: &str) -> Result<bool, LocalError> {
        let mut events = self
            .roots
            .iter()
            .filter_map(|root| read_if_there(&root.join(id).join("cgroup.events")).transpose());
        if events.any(|text| text.is_ok_and(|text| text.lines().any(|line| line == "populated 1"))) {
            return Ok(true);
        }
        Ok(!self.processes(id)?.is_empty())
    }

    /// The machine's processes, by number, from all hierarchies, since a process that moves in one stays put in another.
    fn processes(&self, id: &str) -> Result<BTreeSet<u32>, LocalError> {
        let mut processes = BTreeSet::new();
        for root in &self.roots {
            for group in groups_below(&root.join(id))? {
                let numbers = read_if_there(&group.join("cgroup.procs"))?.unwrap_or_default();
                processes.extend(numbers.lines().filter_map(|number| number.parse::<u32>().ok()));
            }
        }
        // The kernel says 0 for a process of another process namespace, which is none of ours.
        processes.remove(&0);
        Ok(processes)
    }

    /// Ends all processes of the machine, as a power cut would.
    ///
    /// Ending only the process that started the machine would leave it running.
    pub(super) async fn kill(&self, id: &str) -> Result<(), LocalError> {
        let deadline = Instant::now() + KILL_LIMIT;
        while self.runs(id)? {
            let processes = self.processes(id)?;
            if Instant::now() > deadline {
                let fault = format!("does not stop: processes {processes:?} do not end");
                let remedy = "see what they wait for (ps -o stat,wchan), then delete it again";
                return Err(LocalError::machine(id, fault, remedy));
            }
            if !processes.is_empty() {
                let numbers = processes.iter().map(u32::to_string);
                // It fails when one has just ended by itself; the next look at the group tells.
                let _ = HostCommand::new("kill")
                    .args(["-KILL".to_owned()].into_iter().chain(numbers))
                    .run()
                    .await;
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Removes the machine's groups. Its processes have ended, but the kernel may still be letting go of them.
    pub(super) async fn remove(&self, id: &str) -> Result<(), LocalError> {
        let deadline = Instant::now() + KILL_LIMIT;
        for root in &self.roots {
            while let Err(error) = remove_group(&root.join(id)) {
                if Instant::now() > deadline {
                    return Err(error);
                }
                tokio::time::sleep(POLL).await;
            }
        }
        Ok(())
    }
}

/// A group and all below it, outermost first. None when it is not there.
fn groups_below(group: &Path) -> Result<Vec<PathBuf>, LocalError> {
    let mut groups = Vec::new();
    let mut waiting = vec![group.to_owned()];
    while let Some(group) = waiting.pop() {
        let entries = match std::fs::read_dir(&group) {
            Err(e) if gone(&e) => continue,
            entries => entries.at("list", &group)?,
        };
        for entry in entries.filter_map(Result::ok) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
        groups.push(group);
    }
    Ok(groups)
}

fn read_if_there(file: &Path) -> Result<Option<String>, LocalError> {
    match std::fs::read_to_string(file) {
        Err(e) if gone(&e) => Ok(None),
        read => read.at("read", file).map(Some),
    }
}

fn remove_group(group: &Path) -> Result<(), LocalError> {
    for group in groups_below(group)?.iter().rev() {
        match std::fs::remove_dir(group) {
            Err(e) if !gone(&e) => return Err(e).at("remove", group),
            _ => {}
        }
    }
    Ok(())
}

/// A group that is removed while it is read says so in one of two ways.
fn gone(error: &std::io::Error) -> bool {
    const ENODEV: i32 = 19;
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(ENODEV)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
        cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0\n\
        cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n\
        cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
        cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n\
        cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
    const LIMITS: Limits = Limits { millicpus: Some(1500), memory: Some(1 << 30) };

    fn limits(mounts: &str) -> Vec<(String, String)> {
        let hierarchies = Hierarchies::parse(mounts).unwrap();
        let files = hierarchies.limit_files("m", LIMITS).into_iter();
        files.map(|(file, value)| (file.display().to_string(), value)).collect()
    }

    #[test]
    fn separate_hierarchies_each_get_a_group() {
        let roots = ["systemd", "unified", "pids", "memory", "cpu,cpuacct"];
        let expected: Vec<_> =
            roots.iter().map(|root| PathBuf::from(format!("/sys/fs/cgroup/{root}/m/cgroup.procs"))).collect();
        assert_eq!(Hierarchies::parse(HYBRID).unwrap().entrances("m"), expected);
        let files = [
            ("/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1073741824"),
            ("/sys/fs/cgroup/cpu,cpuacct/m/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/cpu,cpuacct/m/cpu.cfs_quota_us", "150000"),
        ];
        assert_eq!(limits(HYBRID), files.map(|(file, value)| (file.to_owned(), value.to_owned())));
    }

    #[test]
    fn one_unified_hierarchy_holds_everything() {
        let mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n";
        let entrances = Hierarchies::parse(mounts).unwrap().entrances("m");
        assert_eq!(entrances, [PathBuf::from("/sys/fs/cgroup/m/cgroup.procs")]);
        let files =
            [("/sys/fs/cgroup/m/memory.max", "1073741824"), ("/sys/fs/cgroup/m/cpu.max", "150000 100000")];
        assert_eq!(limits(mounts), files.map(|(file, value)| (file.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_host_without_them_is_noticed() {
        assert_eq!(Hierarchies::parse("tmpfs /run tmpfs rw 0 0\n"), None);
        assert_eq!(Hierarchies::parse("cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"), None);
    }
}
