//! OpenSSH servers on loopback, each with folders of its own where scripts and names of machines go.
//!
//! A server runs in a mount namespace of its own, so that what the automator writes to `/var/lib` and `/etc/hosts` of a machine
//! goes to a folder that is removed, and not to this host.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::Fault;

/// Where OpenSSH's server is, as a rule.
const SSHD: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"];
/// How long a server may take to answer.
const START_LIMIT: Duration = Duration::from_secs(20);
/// `$1` is the server's folder, `$2` the program.
const IN_OWN_FOLDERS: &str = "mkdir -p \"$1/lib\" && cp /etc/hosts \"$1/hosts\" && mount --bind \"$1/lib\" /var/lib \
     && mount --bind \"$1/hosts\" /etc/hosts && exec \"$2\" -D -e -f \"$1/config\"";

/// Where machines are to be logged in to: what another process needs to know of servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Doors {
    /// A server each.
    pub ports: Vec<u16>,
    /// The servers' host key.
    pub host_key: String,
    /// Who logs in.
    pub user: String,
    /// Paths of the one key that is let in: connections are shared by machines of one port and one path.
    pub identities: Vec<PathBuf>,
}

/// Servers that end when dropped.
pub struct Servers {
    processes: Vec<Child>,
    /// What they are known by.
    pub doors: Doors,
    folder: TempDir,
}

/// Why there can be no servers here, for people.
pub fn missing() -> Option<&'static str> {
    if program().is_none() {
        return Some("OpenSSH's server is not installed: apt-get install openssh-server");
    }
    if !may_mount() {
        return Some("servers in folders of their own need root and the right to mount");
    }
    None
}

fn program() -> Option<&'static str> {
    SSHD.into_iter().find(|path| Path::new(path).exists())
}

fn may_mount() -> bool {
    let mut tried = Command::new("unshare");
    let mounts = quiet(tried.args(["--mount", "--propagation", "private", "true"])).status();
    rustix::process::geteuid().is_root() && mounts.is_ok_and(|status| status.success())
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

impl Servers {
    /// So many, with so many paths to the key that is let in.
    ///
    /// # Errors
    /// When one does not start.
    pub fn start(servers: usize, identities: usize) -> Result<Self, Fault> {
        let program = program().ok_or("there is no sshd")?;
        let folder = tempfile::Builder::new().prefix("cooperage-bench-").tempdir()?;
        for name in ["host", "login"] {
            generate_key(&folder.path().join(name))?;
        }
        fs::copy(folder.path().join("login.pub"), folder.path().join("authorized"))?;
        let paths: Vec<PathBuf> =
            (0..identities).map(|number| folder.path().join(format!("login-{number}"))).collect();
        for path in &paths {
            symlink(folder.path().join("login"), path)?;
        }
        // The server wants the directory it locks itself into; installing it as a service makes it, too.
        fs::create_dir_all("/run/sshd")?;
        let host_key = fs::read_to_string(folder.path().join("host.pub"))?.trim().to_owned();
        let user = String::from_utf8_lossy(&Command::new("id").arg("-un").output()?.stdout).trim().to_owned();
        let doors = Doors { ports: Vec::new(), host_key, user, identities: paths };
        let mut started = Self { processes: Vec::new(), doors, folder };
        for number in 0..servers {
            started.add(program, number)?;
        }
        Ok(started)
    }

    /// Where files of this measurement may lie.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn add(&mut self, program: &str, number: usize) -> Result<(), Fault> {
        let own = self.folder.path().join(format!("server-{number}"));
        fs::create_dir_all(&own)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        fs::write(own.join("config"), config(self.folder.path(), port))?;
        let log = fs::File::create(own.join("log"))?;
        let process = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", IN_OWN_FOLDERS, "sh"])
            .arg(&own)
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        self.processes.push(process);
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended =
                self.processes.last_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)));
            if ended || begun.elapsed() > START_LIMIT {
                let said = fs::read_to_string(own.join("log")).unwrap_or_default();
                return Err(format!("sshd does not answer: {said}").into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.doors.ports.push(port);
        Ok(())
    }
}

impl Drop for Servers {
    /// Connections that are still open end with their servers.
    fn drop(&mut self) {
        let servers: Vec<u32> = self.processes.iter().map(Child::id).collect();
        let serving = children_of(&servers);
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
        let serving = serving.iter().map(ToString::to_string);
        let _ = quiet(Command::new("kill").arg("-KILL").args(serving)).status();
    }
}

fn config(folder: &Path, port: u16) -> String {
    let folder = folder.display();
    // SHLVL keeps Debian's bash, where it is the login shell, from reading the user's start files for each command.
    format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n\
         PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nStrictModes no\nUsePAM no\n\
         UseDNS no\nPidFile none\nMaxStartups 1000:30:2000\nMaxSessions 1000\nSetEnv SHLVL=5\n\
         Subsystem sftp internal-sftp\nLogLevel ERROR\n"
    )
}

fn generate_key(path: &Path) -> Result<(), Fault> {
    let mut command = Command::new("ssh-keygen");
    let made =
        quiet(command.args(["-q", "-t", "ed25519", "-N", "", "-C", "bench", "-f"]).arg(path)).status()?;
    if made.success() { Ok(()) } else { Err("ssh-keygen made no key".into()) }
}

/// Processes whose parent is one of these.
fn children_of(parents: &[u32]) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| parent_of(*id).is_some_and(|parent| parents.contains(&parent))).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
