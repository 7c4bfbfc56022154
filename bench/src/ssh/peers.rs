//! Other tools that run commands on machines over SSH, each on the same servers in the same run.
//!
//! A peer that has a start to pay for is run twice, with one command on each machine and with many: the difference is what
//! counts, so that starting and connecting are no part of its figure.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::sshd::Servers;
use super::{Fault, Peer};
use crate::Thoroughness;

/// What `parallel-ssh` is told to do: connect, then the same command on all machines, again and again. Prints seconds.
const PARALLEL_SSH: &str = include_str!("parallel_ssh.py");
/// Asks for the version of a package.
const VERSION: &str = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))";
/// Where mitogen's strategies are.
const STRATEGIES: &str = "import ansible_mitogen as a, os; \
     print(os.path.join(os.path.dirname(a.__file__), 'plugins', 'strategy'))";

/// Where the tools are, and whom they work on.
pub struct Bystanders<'a> {
    servers: &'a Servers,
    /// A folder with `bin/`, as of a Python environment.
    installed: Option<&'a Path>,
    folder: PathBuf,
    /// Commands on each machine: of those that are slow, and of the others.
    rounds: (u32, u32),
    /// Whether those that are slow to start are left out unless they are asked for.
    brief: bool,
}

impl<'a> Bystanders<'a> {
    /// Those that `how` names, or that are found as programs are.
    ///
    /// # Errors
    /// When files for them cannot be written.
    pub fn new(servers: &'a Servers, how: &'a Thoroughness, rounds: (u32, u32)) -> Result<Self, Fault> {
        let folder = servers.folder().join("peers");
        fs::create_dir_all(&folder)?;
        let (installed, brief) = (how.peers.as_deref(), how.quick);
        let these = Self { servers, installed, folder, rounds, brief };
        let known = |port: &u16| format!("[127.0.0.1]:{port} {}\n", these.servers.doors.host_key);
        fs::write(
            these.folder.join("known"),
            these.servers.doors.ports.iter().map(known).collect::<String>(),
        )?;
        Ok(these)
    }

    /// All of them, as far as they are installed.
    pub fn measure(&self) -> Vec<Peer> {
        let all = self.machines().to_string();
        let best = [("ANSIBLE_PIPELINING", "True"), ("ANSIBLE_FORKS", &all), ("ANSIBLE_STRATEGY", "free")];
        let ansible = || self.version("ansible-core");
        let mitogen = || Ok(format!("{} with ansible-core {}", self.version("mitogen")?, ansible()?));
        let mut peers = vec![
            peer("Ansible", "as installed: 5 forks, ControlPersist", ansible, || {
                self.ansible("command", &[])
            }),
            peer("Ansible", "free, a fork for each, pipelining, ControlPersist", ansible, || {
                self.ansible("command", &best)
            }),
            peer("Ansible", "the same, module raw", ansible, || self.ansible("raw", &best)),
        ];
        peers.push(peer("mitogen", "free, a fork for each", mitogen, || {
            let strategies = self.python(&["-c", STRATEGIES])?;
            let settings = [
                ("ANSIBLE_STRATEGY_PLUGINS", strategies.as_str()),
                ("ANSIBLE_STRATEGY", "mitogen_free"),
                ("ANSIBLE_FORKS", &all),
                ("ANSIBLE_DEPRECATION_WARNINGS", "False"),
            ];
            self.ansible("command", &settings)
        }));
        let all_at_once = || self.version("parallel-ssh");
        peers.push(peer("parallel-ssh", "a connection for each, warm", all_at_once, || self.parallel_ssh()));
        let openssh = || self.openssh_version();
        peers.push(peer("OpenSSH", "ControlMaster for each, warm", openssh, || self.multiplexed()));
        peers
    }

    fn machines(&self) -> usize {
        self.servers.doors.ports.len()
    }

    fn program(&self, name: &str) -> PathBuf {
        let installed = self.installed.map(|folder| folder.join("bin").join(name));
        installed.filter(|path| path.exists()).unwrap_or_else(|| name.into())
    }

    /// What Python prints.
    fn python(&self, arguments: &[&str]) -> Result<String, Fault> {
        let ran = Command::new(self.program("python3")).args(arguments).stdin(Stdio::null()).output();
        let ran = ran.map_err(|_| "is not installed: there is no python3")?;
        if ran.status.success() {
            return Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned());
        }
        let said = String::from_utf8_lossy(&ran.stderr);
        Err(said.lines().last().unwrap_or("Python failed").to_owned().into())
    }

    fn version(&self, package: &str) -> Result<String, Fault> {
        if self.brief && self.installed.is_none() {
            return Err("left out with --quick; name a folder with --peers".into());
        }
        self.python(&["-c", VERSION, package]).map_err(|_| format!("{package} is not installed").into())
    }

    /// Commands a second of a playbook.
    fn ansible(&self, module: &str, settings: &[(&str, &str)]) -> Result<f64, Fault> {
        let rounds = self.rounds.0;
        // Whatever it keeps from its first run is kept for both.
        let (short, long) =
            (self.playbook(module, 1, settings)?, self.playbook(module, rounds + 1, settings)?);
        per_second(rounds, self.machines(), long.saturating_sub(short))
    }

    fn playbook(&self, module: &str, rounds: u32, settings: &[(&str, &str)]) -> Result<Duration, Fault> {
        let playbook = self.folder.join("play.yml");
        let mut text = "- hosts: all\n  gather_facts: false\n  tasks:\n".to_owned();
        for _ in 0..rounds {
            let _ = writeln!(text, "    - {module}: \"true\"");
        }
        fs::write(&playbook, text)?;
        fs::write(self.folder.join("inventory"), self.inventory())?;
        fs::write(self.folder.join("ansible.cfg"), "")?;
        let own = |name: &str| self.folder.join(name);
        let mut environment = BTreeMap::from([
            ("ANSIBLE_CONFIG", own("ansible.cfg")),
            ("ANSIBLE_HOME", own("home")),
            ("ANSIBLE_TIMEOUT", PathBuf::from("60")),
            ("ANSIBLE_REMOTE_TEMP", own("remote")),
            ("ANSIBLE_SSH_CONTROL_PATH_DIR", own("cp")),
        ]);
        environment.extend(settings.iter().map(|(name, value)| (*name, PathBuf::from(value))));
        let mut command = Command::new(self.program("ansible-playbook"));
        command.arg("-i").arg(own("inventory")).arg(playbook).envs(environment);
        timed(&mut command)
    }

    fn inventory(&self) -> String {
        let doors = &self.servers.doors;
        let known = self.folder.join("known");
        let line = |port: &u16| {
            format!(
                "machine-{port} ansible_host=127.0.0.1 ansible_port={port} ansible_user={} \
                 ansible_ssh_private_key_file={} ansible_python_interpreter=/usr/bin/python3 \
                 ansible_ssh_common_args='-F /dev/null -o UserKnownHostsFile={}'\n",
                doors.user,
                doors.identities[0].display(),
                known.display()
            )
        };
        doors.ports.iter().map(line).collect()
    }

    fn parallel_ssh(&self) -> Result<f64, Fault> {
        let doors = &self.servers.doors;
        let rounds = self.rounds.1.to_string();
        let key = doors.identities[0].display().to_string();
        let ports: Vec<String> = doors.ports.iter().map(ToString::to_string).collect();
        let mut arguments = vec!["-c", PARALLEL_SSH, &rounds, &doors.user, &key];
        arguments.extend(ports.iter().map(String::as_str));
        let seconds: f64 = self.python(&arguments)?.parse().map_err(|_| "it told no time")?;
        per_second(self.rounds.1, self.machines(), Duration::from_secs_f64(seconds))
    }

    fn openssh_version(&self) -> Result<String, Fault> {
        let said = Command::new("ssh").arg("-V").output().map_err(|_| "ssh is not installed")?;
        Ok(String::from_utf8_lossy(&said.stderr).split(',').next().unwrap_or_default().trim().to_owned())
    }

    /// A master for each machine, and one command after the other on each of them.
    fn multiplexed(&self) -> Result<f64, Fault> {
        let ports = &self.servers.doors.ports;
        for port in ports {
            timed(self.ssh(*port).args([
                "-o",
                "ControlMaster=yes",
                "-o",
                "ControlPersist=60",
                "127.0.0.1",
                "true",
            ]))?;
        }
        let rounds = self.rounds.1;
        let begun = Instant::now();
        let ended: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let machine = |port: u16| {
                move || {
                    (0..rounds).try_for_each(|_| {
                        timed(self.ssh(port).args(["127.0.0.1", "true"]))
                            .map(drop)
                            .map_err(|fault| fault.to_string())
                    })
                }
            };
            let machines: Vec<_> = ports.iter().map(|port| scope.spawn(machine(*port))).collect();
            machines
                .into_iter()
                .map(|machine| machine.join().unwrap_or_else(|_| Err("broke off".into())))
                .collect()
        });
        let took = begun.elapsed();
        for port in ports {
            timed(self.ssh(*port).args(["-O", "exit", "127.0.0.1"]))?;
        }
        ended.into_iter().collect::<Result<(), String>>()?;
        per_second(rounds, self.machines(), took)
    }

    fn ssh(&self, port: u16) -> Command {
        let doors = &self.servers.doors;
        let mut command = Command::new("ssh");
        command.args(["-F", "/dev/null", "-p", &port.to_string(), "-l", &doors.user]);
        let option = |name: &str, path: &Path| format!("{name}={}", path.display());
        command.args(["-o", &option("ControlPath", &self.folder.join(port.to_string()))]);
        command.args(["-o", &option("UserKnownHostsFile", &self.folder.join("known"))]);
        command.args(["-o", &option("IdentityFile", &doors.identities[0])]);
        command
    }
}

fn peer(
    name: &'static str,
    settings: &'static str,
    version: impl Fn() -> Result<String, Fault>,
    measure: impl FnOnce() -> Result<f64, Fault>,
) -> Peer {
    match version().and_then(|version| Ok((version, measure()?))) {
        Ok((version, tasks)) => {
            Peer { name, settings, version, tasks_per_second: Some(tasks), left_out: None }
        }
        Err(reason) => {
            let (version, left_out) = (String::new(), Some(reason.to_string()));
            Peer { name, settings, version, tasks_per_second: None, left_out }
        }
    }
}

/// How long a program takes that must succeed.
fn timed(command: &mut Command) -> Result<Duration, Fault> {
    let begun = Instant::now();
    // A master outlives the command that starts it, and would hold a pipe open: what is said goes to a file.
    let said = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said.try_clone()?);
    let status = command.status().map_err(|fault| format!("cannot be started: {fault}"))?;
    if status.success() {
        return Ok(begun.elapsed());
    }
    let mut said = said;
    let mut text = String::new();
    std::io::Seek::rewind(&mut said)?;
    std::io::Read::read_to_string(&mut said, &mut text)?;
    // Ansible tells much after what matters.
    let fault = |line: &&str| line.contains("fatal:") || line.contains("ERROR") || line.contains("rror:");
    let told = text.lines().find(fault).or_else(|| text.lines().last()).unwrap_or_default();
    Err(format!("it ended with {status}: {}", told.chars().take(300).collect::<String>()).into())
}

fn per_second(rounds: u32, machines: usize, took: Duration) -> Result<f64, Fault> {
    let commands = f64::from(rounds) * machines as f64;
    if took.is_zero() { Err("it took no time".into()) } else { Ok(commands / took.as_secs_f64()) }
}
