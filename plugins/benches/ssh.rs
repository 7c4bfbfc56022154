//! Compares the SSH back ends against one private server: `cargo bench -p cooperage-plugins --bench ssh`.
//!
//! Each back end is measured in a process of its own, so that memory and threads are its own.

#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[allow(dead_code, reason = "shared with the tests, which need more of it")]
#[path = "../tests/ssh/sshd.rs"]
mod sshd;

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cooperage_plugins::ssh::{
    Backend, Connection, Execution, PoolLimits, SshPool, Target, Transport, execute, transport,
};
use tokio_util::sync::CancellationToken;

/// Machines that are worked on at the same time.
const MACHINES: usize = 50;
/// Round trips on each of them.
const ROUNDS: usize = 60;
/// Durable executions on each of them.
const EXECUTIONS: usize = 4;
const LIMIT: Duration = Duration::from_secs(60);

/// What is measured, in the order in which a measurement prints it; with whether more is better.
const FIGURES: [(&str, bool); 7] = [
    ("connect + first command, one by one, per s", true),
    ("connect + first command, 50 at once, per s", true),
    ("round trips on one connection, per s", true),
    ("round trips on 50 connections, per s", true),
    ("durable executions on 50 machines, per s", true),
    ("memory of 50 connections, KiB each", false),
    ("threads with 50 connections", false),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(backend) = arguments.first().and_then(|name| name.parse::<Backend>().ok()) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        println!("{}", runtime.block_on(measure(backend)).map(|figure| format!("{figure:.1}")).join(" "));
        return;
    }
    let built_in = Backend::ALL.into_iter().filter(|backend| transport(*backend).is_ok());
    let results: Vec<(Backend, Vec<f64>)> =
        built_in.map(|backend| (backend, measured_alone(backend))).collect();
    print_table(&results);
}

/// The figures of one back end, from a process of its own.
fn measured_alone(backend: Backend) -> Vec<f64> {
    let output = Command::new(std::env::current_exe().unwrap()).arg(backend.to_string()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)
        .unwrap()
        .split_whitespace()
        .map(|figure| figure.parse().unwrap())
        .collect()
}

fn print_table(results: &[(Backend, Vec<f64>)]) {
    print!("{:<46}", "");
    for (backend, _) in results {
        print!("{:>12}", backend.as_str());
    }
    println!("{:>22}", "first is better by");
    for (row, (name, more_is_better)) in FIGURES.iter().enumerate() {
        print!("{name:<46}");
        for (_, figures) in results {
            print!("{:>12.1}", figures[row]);
        }
        if let [(_, first), (_, second), ..] = results {
            let ratio = first[row] / second[row];
            print!("{:>21.2}x", if *more_is_better { ratio } else { 1.0 / ratio });
        }
        println!();
    }
}

async fn measure(backend: Backend) -> [f64; FIGURES.len()] {
    let server = sshd::Sshd::start();
    let target = server.target();
    let transport = transport(backend).unwrap();
    // The first connection pays for what is only set up once.
    drop(connected(&*transport, &target).await);

    let one_by_one = per_second(20, async {
        for _ in 0..20 {
            drop(connected(&*transport, &target).await);
        }
    });
    let one_by_one = one_by_one.await;
    let memory_before = status_field("VmRSS");
    let mut connections = Vec::new();
    let all = async {
        let connecting = (0..MACHINES).map(|_| connected(&*transport, &target));
        connections = futures::future::join_all(connecting).await;
    };
    let at_once = per_second(MACHINES, all).await;
    let memory = (status_field("VmRSS") - memory_before) / MACHINES as f64;
    let threads = status_field("Threads");
    let one = per_second(1000, round_trips(&*connections[0], 1000)).await;
    let fifty = per_second(MACHINES * ROUNDS, async {
        futures::future::join_all(connections.iter().map(|connection| round_trips(&**connection, ROUNDS)))
            .await;
    });
    let fifty = fifty.await;
    drop(connections);
    [one_by_one, at_once, one, fifty, durable(&server, transport).await, memory, threads]
}

/// Durable executions per second, on "machines" that differ by their directories, with warm connections.
async fn durable(server: &sshd::Sshd, transport: Arc<dyn Transport>) -> f64 {
    let limits = PoolLimits { per_target: MACHINES, ..PoolLimits::default() };
    let (pool, target) = (SshPool::new(transport, limits), server.target());
    let run = |number: usize| {
        let (pool, target) = (&pool, &target);
        let root = server.path(&format!("machine-{number}")).display().to_string();
        async move {
            for round in 0..EXECUTIONS {
                let execution = Execution {
                    key: format!("{number}-{round}-{}", std::process::id()),
                    command: "echo done".into(),
                    files: Vec::new(),
                    limit: LIMIT,
                    root: root.clone(),
                }
                .with_file("task.json", "{}");
                execute(pool, target, &execution, &(), &CancellationToken::new()).await.unwrap();
            }
        }
    };
    let leases = futures::future::join_all((0..MACHINES).map(|_| pool.lease(&target))).await;
    drop(leases);
    per_second(MACHINES * EXECUTIONS, async {
        futures::future::join_all((0..MACHINES).map(run)).await;
    })
    .await
}

async fn connected(transport: &dyn Transport, target: &Target) -> Box<dyn Connection> {
    let connection = transport.connect(target, LIMIT).await.unwrap();
    round_trips(&*connection, 1).await;
    connection
}

async fn round_trips(connection: &dyn Connection, count: usize) {
    let never = CancellationToken::new();
    for _ in 0..count {
        assert!(connection.run("true", None, &mut (), &never).await.unwrap().success());
    }
}

async fn per_second(count: usize, work: impl Future<Output = ()>) -> f64 {
    let started = Instant::now();
    work.await;
    count as f64 / started.elapsed().as_secs_f64()
}

/// A number from the process's own status: KiB for memory.
fn status_field(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
