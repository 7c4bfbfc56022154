//! What systemd is told by a server that it starts.

use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest time until something is said.
const LIMIT: Duration = Duration::from_secs(60);

/// Whoever starts a service listens here.
struct Supervisor {
    folder: tempfile::TempDir,
    socket: UnixDatagram,
}

impl Supervisor {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = UnixDatagram::bind(folder.path().join("notify")).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        Self { folder, socket }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let data = format!("data_dir={}", self.folder.path().join("data").display());
        Command::new(env!("CARGO_BIN_EXE_cooperage"))
            .args(arguments)
            .args(["--set", &data])
            .env("NOTIFY_SOCKET", self.folder.path().join("notify"))
            .env("WATCHDOG_USEC", "200000")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn hears(&self) -> String {
        let mut text = [0; 256];
        let length = self.socket.recv(&mut text).expect("the service says something in time");
        String::from_utf8(text[..length].to_vec()).unwrap().trim().to_owned()
    }

    fn hears_until(&self, word: &str) {
        while self.hears() != word {}
    }
}

#[test]
fn a_service_says_when_it_is_ready_that_it_lives_and_when_it_stops() {
    let nobody = "--server=http://127.0.0.1:1";
    let server = ["serve", "--set=listen.user=127.0.0.1:0", "--set=listen.tasks=127.0.0.1:0"];
    let provisioner = ["provisioner", nobody, "--set=provisioner.listen=127.0.0.1:0"];
    for arguments in [server.as_slice(), &provisioner] {
        let supervisor = Supervisor::new();
        let mut service = supervisor.start(arguments);
        assert_eq!(supervisor.hears(), "READY=1", "{arguments:?}");
        for _ in 0..3 {
            supervisor.hears_until("WATCHDOG=1");
        }
        let told = Command::new("kill").arg(service.id().to_string()).status().unwrap();
        assert!(told.success());
        supervisor.hears_until("STOPPING=1");
        // A provisioner that finds no server does not stop waiting for it by itself.
        let _ = Command::new("kill").arg(service.id().to_string()).status();
        service.wait().unwrap();
    }
}
