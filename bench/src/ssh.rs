//! How many tasks are done over SSH, beside other tools that do the same; and what idle connections cost.
//!
//! A task here is one of a real cluster: planned, begun and ended in a durable journal, carried out over SSH exactly once, by
//! the actors, the store and the plugins of a server. What other tools are asked for is a command that does nothing.

mod floor;
mod house;
mod idle;
mod machines;
mod peers;
mod sshd;
mod traffic;
mod wire;

use std::path::Path;

use serde::Serialize;

use crate::figure::{Figure, Target};
use crate::{BenchError, Grid, Section, Thoroughness};
use house::{House, tasks_over_ssh};
use peers::Bystanders;
use sshd::Servers;
use traffic::Traffic;

pub use idle::weigh;

/// Whatever cannot be done, in words.
type Fault = Box<dyn std::error::Error + Send + Sync>;

/// How much is done.
struct Scale {
    /// SSH servers, each a machine.
    machines: u32,
    /// Services of the cluster, of four actions each.
    services: u32,
    /// How often the cluster is made: the fastest counts, for peers that are as fast as well.
    runs: u32,
    /// Commands on each machine for peers: those that are slow, and the others.
    rounds: (u32, u32),
    /// Idle connections that are weighed.
    idle: u32,
    /// Round trips on each connection.
    round_trips: u32,
}

const WHOLE: Scale =
    Scale { machines: 20, services: 10, runs: 4, rounds: (5, 40), idle: 1_000, round_trips: 500 };
const QUICK: Scale = Scale { machines: 2, services: 1, runs: 1, rounds: (1, 2), idle: 4, round_trips: 5 };

/// Nodes of a cluster whose connections are weighed.
const IDLE_CLUSTER: u32 = 20;

/// Another tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Peer {
    name: &'static str,
    settings: &'static str,
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks_per_second: Option<f64>,
    /// Why it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
}

/// What was measured.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    /// Why nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
    machines: u32,
    /// Tasks of the cluster that were carried out over SSH.
    tasks: u32,
    tasks_per_second: f64,
    /// Of all that this machine did meanwhile, for each task.
    traffic: Traffic,
    /// What bounds them.
    floor: floor::Floor,
    idle: idle::Weighed,
    peers: Vec<Peer>,
    libraries: Vec<wire::Library>,
}

/// Measures it; on a machine without an SSH server it says so.
///
/// # Errors
/// When something cannot be measured.
pub fn measure(how: &Thoroughness) -> Result<Section, BenchError> {
    if let Some(reason) = sshd::missing() {
        let measured = Measured { left_out: Some(reason.to_owned()), ..Measured::default() };
        let row = ["SSH".to_owned(), reason.to_owned()];
        return Section::new(
            &measured,
            vec![Grid::new(["LEFT OUT", "WHY"], std::iter::once(row))],
            Vec::new(),
        );
    }
    let scale = if how.quick { QUICK } else { WHOLE };
    let measured = all(&scale, how).map_err(|fault| BenchError::Question {
        question: "tasks over SSH".to_owned(),
        fault: fault.to_string(),
    })?;
    Section::new(&measured, measured.grids(), measured.figures(&scale))
}

fn all(scale: &Scale, how: &Thoroughness) -> Result<Measured, Fault> {
    let per_server = scale.idle.div_ceil(scale.machines) as usize;
    let servers = Servers::start(scale.machines as usize, per_server)?;
    let (tasks_per_second, traffic) = ours(scale, &servers)?;
    let floor = floor::measure(servers.folder(), &servers.doors, scale.rounds.1)?;
    let peers = Bystanders::new(&servers, how, scale.rounds)?.measure();
    let idle = idle::measure(&how.program, &servers.doors, scale.idle)?;
    let libraries = wire::measure(&servers.doors, scale.round_trips)?;
    let (machines, tasks) = (scale.machines, tasks_over_ssh(scale.machines, scale.services));
    Ok(Measured { left_out: None, machines, tasks, tasks_per_second, traffic, floor, idle, peers, libraries })
}

/// Tasks a second, and what each of them came to.
fn ours(scale: &Scale, servers: &Servers) -> Result<(f64, Traffic), Fault> {
    let (folder, doors) = (servers.folder().to_owned(), servers.doors.clone());
    let (machines, services, runs) = (scale.machines, scale.services, scale.runs);
    let tasks = f64::from(tasks_over_ssh(machines, services));
    in_a_system(async move || {
        let mut house = House::open(&folder, doors, machines as usize)?;
        // Connections are made by the first one.
        house.make(machines, 1).await?;
        let (mut best, mut traffic) = (0.0, Traffic::default());
        for _ in 0..runs {
            let before = Traffic::now();
            let took = house.make(machines, services).await?;
            let rate = tasks / took.as_secs_f64();
            if rate > best {
                (best, traffic) = (rate, before.until_now().per(tasks));
            }
        }
        Ok((best, traffic))
    })
}

/// Actors need an actix system, on a thread that has none yet.
fn in_a_system<T: Send + 'static>(
    work: impl AsyncFnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let thread = std::thread::spawn(move || actix::System::new().block_on(work()));
    thread.join().unwrap_or_else(|_| Err("its thread broke off".into()))
}

/// Weighs in this process, asked by another one.
///
/// # Errors
/// When the order is none, or connections cannot be made.
fn weigh_here(folder: &Path, doors: sshd::Doors, count: u32) -> Result<idle::Weighed, Fault> {
    let folder = folder.to_owned();
    in_a_system(async move || {
        let mut house = House::open(&folder, doors, count as usize)?;
        let mut left = count;
        while left > 0 {
            let nodes = left.min(IDLE_CLUSTER);
            house.make(nodes, 0).await?;
            house.take(nodes);
            left -= nodes;
        }
        idle::look(&house).await
    })
}

impl Measured {
    fn rate_of(&self, name: &str, settings: &str) -> Option<f64> {
        let found = |peer: &&Peer| peer.name == name && peer.settings.starts_with(settings);
        self.peers.iter().find(found)?.tasks_per_second
    }

    fn figures(&self, scale: &Scale) -> Vec<Figure> {
        let mut figures =
            vec![Figure::new("tasks over SSH", self.tasks_per_second, "/s", Target::AtLeast(400.0))];
        let peers =
            [("Ansible", "as installed", 60.0), ("mitogen", "free", 10.0), ("OpenSSH", "ControlMaster", 1.0)];
        for (name, settings, least) in peers {
            figures.extend(self.rate_of(name, settings).map(|rate| {
                let what = format!("tasks over SSH, ours ÷ {name}, {settings}");
                Figure::new(what, self.tasks_per_second / rate, "", Target::AtLeast(least))
            }));
        }
        let what = format!("resident with {} idle sessions and workers", scale.idle);
        figures.push(Figure::new(what, self.idle.resident_mib, "MiB", Target::AtMost(128.0)));
        figures
    }

    fn grids(&self) -> Vec<Grid> {
        let row = |peer: &Peer| {
            let rate = peer.tasks_per_second.map(|rate| format!("{rate:.1}"));
            let ratio = peer.tasks_per_second.map(|rate| format!("{:.2}", self.tasks_per_second / rate));
            [
                peer.name.to_owned(),
                peer.left_out.clone().unwrap_or_else(|| peer.settings.to_owned()),
                peer.version.clone(),
                rate.unwrap_or_default(),
                ratio.unwrap_or_default(),
            ]
        };
        let ours = [
            "Cooperage".to_owned(),
            format!("{} machines, {} durable tasks", self.machines, self.tasks),
            env!("CARGO_PKG_VERSION").to_owned(),
            format!("{:.1}", self.tasks_per_second),
            "1.00".to_owned(),
        ];
        let rows = std::iter::once(ours).chain(self.peers.iter().map(row));
        let Traffic { processes, bytes, packets, own_ms } = self.traffic;
        let costs = [
            format!("{processes:.1}"),
            format!("{packets:.1}"),
            format!("{bytes:.0}"),
            format!("{own_ms:.2} ms"),
        ];
        let idle::Weighed { sessions, resident_mib, threads } = self.idle;
        let weighed = [sessions.to_string(), format!("{resident_mib:.1} MiB"), threads.to_string()];
        let libraries = self.libraries.iter().map(wire::Library::row);
        vec![
            Grid::new(["TOOL", "SETTINGS", "VERSION", "TASKS/S", "OURS ÷ THIS"], rows),
            Grid::new(["PROCESSES A TASK", "PACKETS", "BYTES", "OWN PROCESSOR TIME"], std::iter::once(costs)),
            Grid::new(floor::HEADINGS, std::iter::once(self.floor.row())),
            Grid::new(["IDLE SESSIONS", "RESIDENT", "THREADS"], std::iter::once(weighed)),
            Grid::new(wire::HEADINGS, libraries),
        ]
    }
}
