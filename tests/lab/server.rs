//! The server's process.

use std::fs::{File, OpenOptions};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::client::Client;
use super::wait_for;

/// Longest time a start or a stop may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// What the log says of a server that has started.
const LISTENS: &str = " listening";
/// Lines of the server's log that a failed test shows.
const LINES_SHOWN: usize = 60;

/// A server in a directory of its own. Killed, and its directory removed, when dropped; a failed test shows its log.
pub struct Server {
    folder: tempfile::TempDir,
    ports: [u16; 2],
    settings: Vec<String>,
    child: Option<Child>,
}

impl Server {
    /// Starts one with these settings (`section.key=value`) and waits until it answers.
    pub fn start(settings: &[String]) -> Self {
        let folder = tempfile::Builder::new().prefix("cooperage-e2e-").tempdir().unwrap();
        let mut server = Self { folder, ports: free_ports(), settings: settings.to_vec(), child: None };
        server.run();
        server
    }

    /// Everything of it is below here.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// Where it listens, as a URL.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    /// Where it listens for provisioners, as a URL.
    pub fn tasks_base(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    /// Its ports: for people, and for provisioners.
    pub fn ports(&self) -> [u16; 2] {
        self.ports
    }

    /// The process, while it runs.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Sends it a signal, by name.
    pub fn signal(&self, name: &str) {
        let told =
            Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// What it has logged.
    pub fn logged(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    /// Waits until it has ended, and says how.
    pub fn ended(&mut self) -> std::process::ExitStatus {
        let mut child = self.child.take().unwrap();
        wait_for("the end of the server", LIMIT, || child.try_wait().unwrap())
    }

    /// A client in the name of the superadmin.
    pub fn admin(&self) -> Client {
        let token = std::fs::read_to_string(self.data_dir().join("admin.token")).unwrap();
        Client::with_token(&self.base(), token.trim())
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(told.success());
        let status = wait_for("the end of the server", LIMIT, || child.try_wait().unwrap());
        assert!(status.success(), "{status}");
    }

    /// Starts it again after its end.
    pub fn run(&mut self) {
        // Only who has its certificate can ask a server with TLS.
        let has_tls = self.settings.iter().any(|setting| setting.starts_with("tls.user.certificate="));
        let before = self.logged().matches(LISTENS).count();
        let log = OpenOptions::new().create(true).append(true).open(self.log()).unwrap();
        let child = self.command().stderr(log).spawn().unwrap();
        self.child = Some(child);
        let client = Client::with_headers(&self.base(), &[]);
        wait_for("the start of the server", LIMIT, || {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().unwrap());
            assert!(ended.is_none(), "the server ended by itself: {ended:?}");
            if has_tls {
                return (self.logged().matches(LISTENS).count() > before).then_some(());
            }
            client.try_ask("GET", "/status", Vec::new()).filter(|answer| answer.status == 200).map(drop)
        });
    }

    /// What a start with some more settings says before it fails, as it must.
    pub fn refused(settings: &[String]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let server = Self { folder, ports: free_ports(), settings: settings.to_vec(), child: None };
        let said = File::create(server.log()).unwrap();
        let mut child = server.command().stderr(said).spawn().unwrap();
        let status = wait_for("the refusal", LIMIT, || child.try_wait().unwrap());
        assert!(!status.success(), "it ended well");
        std::fs::read_to_string(server.log()).unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
        command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).current_dir(self.folder());
        let mut set = |setting: &str| {
            command.args(["--set", setting]);
        };
        set(&format!("data_dir={}", self.data_dir().display()));
        set(&format!("listen.user=127.0.0.1:{}", self.ports[0]));
        set(&format!("listen.tasks=127.0.0.1:{}", self.ports[1]));
        self.settings.iter().for_each(|setting| set(setting));
        command
    }

    fn log(&self) -> PathBuf {
        self.folder().join("server.log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.log()).unwrap_or_default();
            let lines: Vec<_> = log.lines().collect();
            let shown = &lines[lines.len().saturating_sub(LINES_SHOWN)..];
            eprintln!("--- last lines of the server's log\n{}\n---", shown.join("\n"));
        }
    }
}

/// Two ports that nobody uses now.
fn free_ports() -> [u16; 2] {
    let sockets = [0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port())
}
