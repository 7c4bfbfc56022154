//! A PostgreSQL server of this process's own, in a temporary directory, reached by a Unix socket.
//!
//! It ends with the process, however that ends: a guard waits for the far end of a pipe to close, then stops the server and
//! removes the directory.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The server that the tests of this process share.
pub static SHARED: LazyLock<Server> = LazyLock::new(|| Server::start(&["-c", "fsync=off"]));

static NEXT_SCHEMA: AtomicU32 = AtomicU32::new(1);

/// A running server.
pub struct Server {
    folder: PathBuf,
    programs: PathBuf,
    guard: Child,
    /// Open as long as the server is wanted.
    lifeline: Option<ChildStdin>,
}

impl Server {
    /// Starts one with these extra options.
    pub fn start(options: &[&str]) -> Self {
        let programs = programs();
        let folder = tempfile::Builder::new().prefix("cooperage-pg-").tempdir().unwrap().keep();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let data = folder.join("data");
        let data = data.to_str().unwrap();
        run(as_postgres(&programs.join("initdb")).args(["-D", data, "-A", "trust", "-U", "postgres", "-N"]));
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "guard", programs.to_str().unwrap(), folder.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let lifeline = guard.stdin.take();
        let server = Self { folder, programs, guard, lifeline };
        let listen = format!(
            "-c listen_addresses='' -c unix_socket_directories={} -c max_connections=200 {}",
            server.folder.display(),
            options.join(" ")
        );
        std::fs::write(server.folder.join("options"), &listen).unwrap();
        server.control(&["start", "-o", &listen]);
        server
    }

    /// URL under which everything is empty and the caller's own: a schema, which costs a hundredth of a database.
    pub fn new_database(&self) -> String {
        let name = format!("test_{}", NEXT_SCHEMA.fetch_add(1, Ordering::Relaxed));
        let socket = self.folder.to_str().unwrap();
        run(Command::new(self.programs.join("psql")).args([
            "-h",
            socket,
            "-U",
            "postgres",
            "-qc",
            &format!("CREATE SCHEMA {name}"),
        ]));
        let socket = socket.replace('/', "%2F");
        format!("postgres://postgres@{socket}/postgres?options=-csearch_path%3D{name}")
    }

    /// Kills the server as a crash would, and starts it again.
    pub fn crash_and_restart(&self) {
        let listen = std::fs::read_to_string(self.folder.join("options")).unwrap();
        self.control(&["stop", "-m", "immediate"]);
        self.control(&["start", "-o", &listen]);
    }

    fn control(&self, arguments: &[&str]) {
        let (data, log) = (self.folder.join("data"), self.folder.join("log"));
        run(as_postgres(&self.programs.join("pg_ctl"))
            .args(["-s", "-w", "-D", data.to_str().unwrap(), "-l", log.to_str().unwrap()])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let ended = self.guard.wait();
        assert!(ended.is_ok(), "waiting for the guard of the server: {ended:?}");
    }
}

/// Waits until standard input closes; then stops the server of folder $2 by the programs in $1.
const GUARD: &str = r#"
trap '' INT TERM HUP
cat >/dev/null
if [ "$(id -u)" = 0 ]; then as='runuser -u postgres --'; else as=; fi
$as "$1/pg_ctl" -s -m immediate -D "$2/data" stop
rm -rf "$2"
"#;

fn programs() -> PathBuf {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
        .collect();
    found.sort();
    found.pop().expect(
        "no PostgreSQL server under /usr/lib/postgresql: install it (apt-get install postgresql) to run these tests",
    )
}

/// PostgreSQL refuses to run as root.
fn as_postgres(program: &Path) -> Command {
    let is_root = run(Command::new("id").arg("-u")).stdout == b"0\n";
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(program).current_dir("/");
    command
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|fault| panic!("{command:?}: {fault}"));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
