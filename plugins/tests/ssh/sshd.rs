//! A private SSH server on loopback, with keys of its own.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cooperage_plugins::ssh::{HostKey, Target};
use tempfile::TempDir;

/// A server that must not need longer to start.
const START_LIMIT: Duration = Duration::from_secs(20);

/// An SSH server that ends when dropped.
pub struct Sshd {
    process: Child,
    pub dir: TempDir,
    pub port: u16,
}

impl Sshd {
    /// Starts one that lets the user who runs the tests log in with the key `login` in its directory.
    pub fn start() -> Self {
        Self::start_with(|_| String::new())
    }

    /// Starts one on whose machine one program is not found.
    pub fn start_without(program: &str) -> Self {
        Self::start_with(|dir| {
            let bin = dir.join("bin");
            fs::create_dir(&bin).unwrap();
            for folder in ["/usr/bin", "/bin"] {
                for entry in
                    fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != program)
                {
                    // What is in both is the same.
                    let _ = symlink(entry.path(), bin.join(entry.file_name()));
                }
            }
            format!(" PATH={}", bin.display())
        })
    }

    /// Starts one that gives nobody a terminal.
    pub fn start_without_terminals() -> Self {
        Self::start_with(|_| "\nPermitTTY no".to_owned())
    }

    /// Starts one with what `environment` adds to the environment of commands.
    fn start_with(environment: impl FnOnce(&Path) -> String) -> Self {
        let dir = tempfile::Builder::new().prefix("cooperage-ssh-").tempdir().unwrap();
        for (file, kind) in
            [("host", "ed25519"), ("host_ecdsa", "ecdsa"), ("login", "ed25519"), ("stranger", "ed25519")]
        {
            generate_key(&dir.path().join(file), kind);
        }
        fs::copy(dir.path().join("login.pub"), dir.path().join("authorized")).unwrap();
        // The server wants the directory it locks itself into; installing it as a service makes it, too.
        let _ = fs::create_dir_all("/run/sshd");
        let environment = environment(dir.path());
        // As late as can be: until the server has it, anybody else may be given it.
        let port = free_port();
        fs::write(dir.path().join("config"), config(dir.path(), port, &environment)).unwrap();
        let log = fs::File::create(dir.path().join("log")).unwrap();
        let process = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(dir.path().join("config"))
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("these tests need OpenSSH's server: apt-get install openssh-server");
        let mut server = Self { process, dir, port };
        server.wait_until_it_answers();
        server
    }

    fn wait_until_it_answers(&mut self) {
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            let log = || fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            assert!(self.process.try_wait().unwrap().is_none(), "sshd ended: {}", log());
            assert!(started.elapsed() < START_LIMIT, "sshd does not answer: {}", log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The login that works.
    pub fn target(&self) -> Target {
        Target {
            host: "127.0.0.1".into(),
            port: self.port,
            user: String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout)
                .unwrap()
                .trim()
                .into(),
            identity_file: self.path("login"),
            host_key: self.host_key(),
        }
    }

    pub fn host_key(&self) -> HostKey {
        fs::read_to_string(self.path("host.pub")).unwrap().parse().unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Makes the directory of executions, `runs`, as the first execution would.
    pub fn make_runs(&self) {
        fs::DirBuilder::new().mode(0o700).create(self.path("runs")).unwrap();
    }

    /// Kills the processes that serve connections; the server itself goes on.
    pub fn cut_connections(&self) {
        for process in children_of(self.process.id()) {
            kill(process);
        }
    }

    /// How many connections it serves.
    pub fn connections(&self) -> usize {
        children_of(self.process.id()).len()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.cut_connections();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn config(dir: &Path, port: u16, environment: &str) -> String {
    let dir = dir.display();
    // SHLVL keeps Debian's bash, where it is the login shell, from reading the user's slow start files for each command.
    format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {dir}/host_ecdsa\nHostKey {dir}/host\nAuthorizedKeysFile {dir}/authorized\n\
         PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nStrictModes no\nUsePAM no\n\
         UseDNS no\nPidFile none\nMaxStartups 1000:30:2000\nMaxSessions 1000\nSetEnv SHLVL=5{environment}\n\
         Subsystem sftp internal-sftp\nLogLevel ERROR\n"
    )
}

fn generate_key(path: &Path, kind: &str) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-N", "", "-C", "test", "-f"])
        .arg(path)
        .status()
        .expect("these tests need ssh-keygen: apt-get install openssh-client");
    assert!(made.success());
}

/// A port nobody listens on just now.
pub fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Processes whose parent is `parent`.
fn children_of(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| parent_of(*id) == Some(parent)).collect()
}

fn parent_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn kill(process: u32) {
    let _ = Command::new("kill").args(["-KILL", &process.to_string()]).stderr(Stdio::null()).status();
}
