//! A server of the benchmark's own: `cooperage serve` in a folder that is removed, on ports that nobody else uses.
//!
//! ```text
//! let mut server = Installation::new(&how.program, &["workers.local=0"])?;   // made, not started
//! let took = server.start()?;                                                // from exec until it is ready
//! server.kill()?;                                                            // as a power cut would end it
//! server.start()?;                                                           // again, on the same data
//! ```
//!
//! It is asked with [`Wire`](crate::wire::Wire); what clusters can be made of is put there by
//! [`catalogue`](crate::catalogue). When it is dropped its process is killed and its folder removed.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::BenchError;

/// Longest time a start may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);
/// Pause between two looks at whether it is ready; what is measured is that much too long at most.
const PAUSE: Duration = Duration::from_millis(1);
/// How long an answer about being ready may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Lines of the server's log that a failed start tells.
const LINES_TOLD: usize = 5;

/// A server, started or not.
#[derive(Debug)]
pub struct Installation {
    folder: tempfile::TempDir,
    program: PathBuf,
    settings: Vec<String>,
    user: SocketAddr,
    tasks: SocketAddr,
    child: Option<Child>,
}

impl Installation {
    /// A server of this program with these settings (`section.key=value`), besides its folder and its ports. Not started.
    ///
    /// # Errors
    /// When there is no room for its folder, or no port.
    pub fn new(program: &Path, settings: &[&str]) -> Result<Self, BenchError> {
        let folder = tempfile::Builder::new().prefix("cooperage-bench-").tempdir()?;
        fs::write(folder.path().join("cooperage.toml"), "")?;
        let [user, tasks] = free_addresses()?;
        Ok(Self {
            folder,
            // It runs in another folder than we do.
            program: std::path::absolute(program)?,
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
            user,
            tasks,
            child: None,
        })
    }

    /// Starts it, and waits until it says that it is ready. How long that took, from the start of the process.
    ///
    /// # Errors
    /// When it does not start, with the end of its log.
    pub fn start(&mut self) -> Result<Duration, BenchError> {
        let log = OpenOptions::new().create(true).append(true).open(self.log())?;
        let mut command = self.command();
        let begun = Instant::now();
        let mut child = command.stderr(log).spawn()?;
        loop {
            if is_ready(self.user) {
                let took = begun.elapsed();
                self.child = Some(child);
                return Ok(took);
            }
            if child.try_wait()?.is_some() || begun.elapsed() > LIMIT {
                // It may have ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                return Err(BenchError::Server(self.last_words()));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Ends it as a power cut would; what it made durable stays. Nothing happens when it does not run.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> Result<(), BenchError> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Its process, while it runs.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Where it listens for people and their programs.
    #[must_use]
    pub const fn user(&self) -> SocketAddr {
        self.user
    }

    /// Where it listens for provisioners; nobody is asked for a token there, unless the settings say so.
    #[must_use]
    pub const fn tasks(&self) -> SocketAddr {
        self.tasks
    }

    /// Where it keeps what survives it.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The superadmin's token, which its first start makes.
    ///
    /// # Errors
    /// When it has never been started.
    pub fn token(&self) -> Result<String, BenchError> {
        Ok(fs::read_to_string(self.data_dir().join("admin.token"))?.trim().to_owned())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("serve").arg("--config").arg(self.folder.path().join("cooperage.toml"));
        let own = [
            format!("data_dir={}", self.data_dir().display()),
            format!("listen.user={}", self.user),
            format!("listen.tasks={}", self.tasks),
        ];
        for setting in own.iter().chain(&self.settings) {
            command.args(["--set", setting]);
        }
        // Settings of another server in our environment are none of this one's.
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COOPERAGE_"))
        {
            command.env_remove(name);
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }

    fn last_words(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LINES_TOLD)..].join("\n")
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        // Nothing can be done about one that cannot be killed.
        let _ = self.kill();
    }
}

/// Whether a server at this address says that it is ready. Without a library, so that looking costs it as little as can be.
fn is_ready(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        stream.write_all(b"GET /v2/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        std::io::Result::Ok(status.ends_with(b" 200"))
    };
    ask().unwrap_or(false)
}

/// Two addresses that nobody uses now.
fn free_addresses() -> Result<[SocketAddr; 2], BenchError> {
    let listener = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // Both are held until both are known, so that they differ.
    let (one, other) = (listener()?, listener()?);
    Ok([one.local_addr()?, other.local_addr()?])
}
