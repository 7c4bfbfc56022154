//! The libraries that speak SSH, beside each other: how fast connections are made, and how fast commands follow each other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cooperage_plugins::ssh::{Backend, Connection, HostKey, Target, Transport, transport};
use futures::future::try_join_all;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::Fault;
use super::sshd::Doors;

/// What stands above the rows.
pub const HEADINGS: [&str; 4] = ["LIBRARY", "CONNECTIONS/S", "ROUND TRIPS/S ON ONE", "ON ALL"];
/// How long connecting may take.
const LIMIT: Duration = Duration::from_secs(60);

/// One library.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Library {
    name: &'static str,
    /// Made at once, one on each machine.
    connections_per_second: f64,
    /// Commands that the shell carries out itself, on one connection, one after the other.
    round_trips_per_second: f64,
    /// The same on all connections at once.
    round_trips_on_all_per_second: f64,
}

impl Library {
    /// For people.
    pub fn row(&self) -> [String; 4] {
        let Self { name, connections_per_second: made, .. } = self;
        let rates = [self.round_trips_per_second, self.round_trips_on_all_per_second];
        let [one, all] = rates.map(|rate| format!("{rate:.0}"));
        [(*name).to_owned(), format!("{made:.0}"), one, all]
    }
}

/// Every library that is built in.
///
/// # Errors
/// When a connection fails.
pub fn measure(doors: &Doors, round_trips: u32) -> Result<Vec<Library>, Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let built_in = Backend::ALL.into_iter().filter_map(|backend| Some((backend, transport(backend).ok()?)));
    built_in
        .map(|(backend, transport)| runtime.block_on(compare(backend, transport, doors, round_trips)))
        .collect()
}

/// Every machine, for the first login.
///
/// # Errors
/// When the host key is none.
pub fn targets(doors: &Doors) -> Result<Vec<Target>, Fault> {
    let host_key: HostKey = doors.host_key.parse()?;
    let target = |port: &u16| {
        let (identity_file, user) = (doors.identities[0].clone(), doors.user.clone());
        Target { host: "127.0.0.1".to_owned(), port: *port, user, identity_file, host_key: host_key.clone() }
    };
    Ok(doors.ports.iter().map(target).collect())
}

async fn compare(
    backend: Backend,
    transport: Arc<dyn Transport>,
    doors: &Doors,
    round_trips: u32,
) -> Result<Library, Fault> {
    let targets = targets(doors)?;
    // The first connection pays for what is only set up once.
    drop(open(&*transport, &targets[0]).await?);
    let begun = Instant::now();
    let connections = try_join_all(targets.iter().map(|target| open(&*transport, target))).await?;
    let connections_per_second = connections.len() as f64 / begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    follow_each_other(&*connections[0], round_trips).await?;
    let round_trips_per_second = f64::from(round_trips) / begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    try_join_all(connections.iter().map(|connection| follow_each_other(&**connection, round_trips))).await?;
    let all = f64::from(round_trips) * connections.len() as f64;
    Ok(Library {
        name: backend.as_str(),
        connections_per_second,
        round_trips_per_second,
        round_trips_on_all_per_second: all / begun.elapsed().as_secs_f64(),
    })
}

/// A connection with its shell, which is started for the first command.
pub(super) async fn open(transport: &dyn Transport, target: &Target) -> Result<Box<dyn Connection>, Fault> {
    let connection = transport.connect(target, LIMIT).await?;
    follow_each_other(&*connection, 1).await?;
    Ok(connection)
}

async fn follow_each_other(connection: &dyn Connection, count: u32) -> Result<(), Fault> {
    let never = CancellationToken::new();
    for _ in 0..count {
        connection.run(":", None, &mut (), &never).await?;
    }
    Ok(())
}
