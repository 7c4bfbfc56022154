//! Typing commands.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::catalog::catalog;
use crate::lab::{Client, Server, apply};

/// A server with something to make clusters from, and somebody who types commands for it.
pub struct Terminal {
    pub server: Server,
    pub admin: Client,
    /// Where simulated machines are.
    pub machines: tempfile::TempDir,
    home: tempfile::TempDir,
}

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Terminal {
    pub fn new() -> Self {
        Self::with_faults(&json!([]))
    }

    /// With tasks that fail.
    pub fn with_faults(faults: &Value) -> Self {
        let machines = tempfile::tempdir().unwrap();
        std::fs::write(machines.path().join("scenario.json"), json!({ "faults": faults }).to_string())
            .unwrap();
        let retries = "jobs.max_attempts=1".to_owned();
        let server = Server::start(&[format!("simulation.dir={}", machines.path().display()), retries]);
        let admin = server.admin();
        apply(&admin, &catalog());
        Self { server, admin, machines, home: tempfile::tempdir().unwrap() }
    }

    /// The folder everything of the user's is in.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file there.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program, which finds nothing of the machine it runs on.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
        command.env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.current_dir(self.home()).stdin(Stdio::null());
        command
    }

    /// Types a line for the server; words are separated by one blank.
    #[track_caller]
    pub fn types(&self, line: &str) -> Ran {
        ran(self.at_the_server().args(line.split(' ')), "")
    }

    /// The program, which is told by the environment which server it is to ask.
    pub fn at_the_server(&self) -> Command {
        let mut command = self.command();
        command.env("COOPERAGE_SERVER", self.server.base());
        command.env("COOPERAGE_TOKEN_FILE", self.server.data_dir().join("admin.token"));
        command
    }
}

/// Runs a command that reads `input`.
#[track_caller]
pub fn ran(command: &mut Command, input: &str) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that does not read it is no fault.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

impl Ran {
    /// The results of a command that must succeed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.out
    }

    /// The results as JSON.
    #[track_caller]
    pub fn json(self) -> Value {
        let out = self.ok();
        serde_json::from_str(&out).unwrap_or_else(|fault| panic!("{fault}: {out}"))
    }

    /// The results, line by line.
    #[track_caller]
    pub fn lines(self) -> Vec<String> {
        self.ok().lines().map(str::to_owned).collect()
    }

    /// Checks that it failed with this code, and said these words.
    #[track_caller]
    pub fn fails(self, code: i32, words: &str) {
        assert!(self.code == code && self.err.contains(words), "{code} {words:?}: {self:?}");
    }
}
