//! What clusters leave in a database: written without a server, event by event as their lives go, with the rows that belong to
//! each, by the code that writes them in a server.

use std::sync::mpsc::{Receiver, Sender, channel};

use cooperage_actors::estimate::sample;
use cooperage_actors::projection::project;
use cooperage_domain::audit::Record;
use cooperage_domain::cluster::{
    self, Account, Asking, Catalog, Cluster, ClusterRequest, Command, EVENT_VERSION, Effect, Event, Limits,
    Origins, decide, due,
};
use cooperage_domain::entity::Entity;
use cooperage_domain::id::ClusterId;
use cooperage_domain::task::TaskReport;
use cooperage_schema::{Append, AppendError, Appended, DatabaseUrl, Store, StoreError, StoreOptions};
use serde_json::json;
use uuid::Uuid;

use crate::installation::Installation;
use crate::{BenchError, catalogue};

/// Of so many appends the answers may be awaited at once.
const UNDER_WAY: usize = 2_000;
/// When all of it happened, in ms since 1970, and from then on a second for each event.
const LONG_AGO: i64 = 1_750_000_000_000;

/// The database of a server that does not run, and clusters that live in it.
pub struct Past {
    store: Store,
    catalog: Catalog,
    tasks_per_node: u32,
    now: i64,
    sender: Sender<Result<Appended, AppendError>>,
    answers: Receiver<Result<Appended, AppendError>>,
    under_way: usize,
    next: u64,
}

impl Past {
    /// That of a server which was stocked for clusters with so many tasks per node, and does not run now.
    ///
    /// # Errors
    /// When its database cannot be opened.
    pub fn of(server: &Installation, tasks_per_node: u32) -> Result<Self, BenchError> {
        let url = DatabaseUrl::Sqlite(server.data_dir().join("cooperage.db"));
        let secrets_key = Some(server.data_dir().join("secrets.key"));
        let store = Store::open(&url, StoreOptions { secrets_key, ..StoreOptions::default() })?;
        let (sender, answers) = channel();
        let catalog = catalog(&store)?;
        Ok(Self { store, catalog, tasks_per_node, now: LONG_AGO, sender, answers, under_way: 0, next: 1 })
    }

    /// A cluster of so many nodes that was asked for and brought up; and, when it is `gone`, deleted again.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn finished(&mut self, nodes: u32, gone: bool) -> Result<(), BenchError> {
        let mut life = self.found(nodes)?;
        self.carry_out(&mut life)?;
        if gone {
            self.command(&mut life, Command::Delete { now: false, by: "admin".to_owned() })?;
            self.carry_out(&mut life)?;
        }
        Ok(())
    }

    /// A cluster whose machines are being made by workers elsewhere: all but so many, which wait for a worker.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn in_flight(&mut self, nodes: u32, waiting: usize, provisioner: &str) -> Result<(), BenchError> {
        let mut life = self.found(nodes)?;
        for (task, _) in ready(life.as_ref()).into_iter().skip(waiting) {
            let worker = format!("{provisioner}.{}-{task}", self.next);
            self.command(&mut life, Command::StartAttempt { task, worker })?;
        }
        Ok(())
    }

    /// Until everything is durable.
    ///
    /// # Errors
    /// What the database refused.
    pub fn close(mut self) -> Result<(), BenchError> {
        while self.under_way > 0 {
            self.hear()?;
        }
        self.store.close();
        Ok(())
    }

    fn found(&mut self, nodes: u32) -> Result<Option<Cluster>, BenchError> {
        let id = ClusterId(self.next);
        self.next += 1;
        let name = format!("past-{id}");
        let request = json!({"name": name, "numMachines": nodes,
            "clusterTemplate": catalogue::template_name(self.tasks_per_node)});
        let request: ClusterRequest = serde_json::from_value(request)?;
        let asking = Asking {
            account: Account { user_id: "admin".to_owned(), tenant_id: catalogue::TENANT.to_owned() },
            id,
            seed: Uuid::from_u128(id.0.into()),
            now: self.now,
            limits: Limits::default(),
            origins: Origins::default(),
        };
        let impossible = |fault: String| BenchError::Question { question: name.clone(), fault };
        let accepted =
            request.accept(&self.catalog, asking).map_err(|fault| impossible(fault.to_string()))?;
        let placed = accepted.lay_out(&self.catalog);
        let events = cluster::create(accepted.order, placed, self.now);
        let events = events.map_err(|fault| impossible(fault.to_string()))?;
        let mut life = None;
        self.record(&mut life, &events, "admin")?;
        self.audit();
        Ok(life)
    }

    /// Carries out whatever is due, until nothing is.
    fn carry_out(&mut self, life: &mut Option<Cluster>) -> Result<(), BenchError> {
        loop {
            let ready = ready(life.as_ref());
            if ready.is_empty() {
                return Ok(());
            }
            for (task, attempt) in ready {
                self.command(life, Command::StartAttempt { task, worker: "local".to_owned() })?;
                let report = TaskReport::success();
                self.command(life, Command::FinishAttempt { task, attempt, report })?;
            }
        }
    }

    fn command(&mut self, life: &mut Option<Cluster>, command: Command) -> Result<(), BenchError> {
        self.now += 1_000;
        let Some(cluster) = life.as_ref() else { return Ok(()) };
        let events = decide(cluster, command, self.now).map_err(|fault| BenchError::Question {
            question: format!("cluster {}", cluster.id),
            fault: fault.to_string(),
        })?;
        self.record(life, &events, "worker")
    }

    /// Applies events and has them written, with what a server writes with them.
    fn record(&mut self, life: &mut Option<Cluster>, events: &[Event], who: &str) -> Result<(), BenchError> {
        let expected_sequence = life.as_ref().map_or(0, |cluster| cluster.sequence);
        for event in events {
            cluster::apply(life, event);
        }
        let Some(cluster) = life else { return Ok(()) };
        let mut projection = project(cluster, events);
        projection.durations = events.iter().filter_map(|event| sample(cluster, event)).collect();
        let at_rest = events.iter().any(|event| matches!(event, Event::JobEnded { .. }));
        let snapshot = at_rest.then(|| serde_json::to_string(cluster)).transpose()?;
        let stored = events.iter().map(|event| {
            let json = serde_json::to_string(event)?;
            Ok(cooperage_schema::StoredEvent { version: EVENT_VERSION, json })
        });
        let append = Append {
            cluster: cluster.id,
            epoch: 1,
            expected_sequence,
            at_ms: self.now,
            actor: "cluster".to_owned(),
            who: who.to_owned(),
            events: stored.collect::<Result<_, BenchError>>()?,
            projection,
            snapshot,
        };
        let sender = self.sender.clone();
        self.store.journal().append(append, move |answer| {
            // After a fault nobody listens any more.
            let _ = sender.send(answer);
        });
        self.under_way += 1;
        while self.under_way > UNDER_WAY {
            self.hear()?;
        }
        Ok(())
    }

    /// What a request for a cluster leaves in the audit log.
    fn audit(&self) {
        let record = Record {
            at_ms: self.now,
            request: Uuid::from_u128(self.next.into()).to_string(),
            tenant: catalogue::TENANT.to_owned(),
            user: "admin".to_owned(),
            credential: "token bench".to_owned(),
            peer: "127.0.0.1".to_owned(),
            port: "user".to_owned(),
            action: "POST /v2/clusters".to_owned(),
            object: "/v2/clusters".to_owned(),
            status: 200,
            ..Record::default()
        };
        self.store.journal().audit(record, |_| {});
    }

    fn hear(&mut self) -> Result<(), BenchError> {
        let answer = self.answers.recv().map_err(|fault| BenchError::Server(fault.to_string()))?;
        self.under_way -= 1;
        answer.map(drop).map_err(|fault| BenchError::Server(fault.to_string()))
    }
}

/// Tasks that may start, with the number of their first attempt.
fn ready(life: Option<&Cluster>) -> Vec<(u32, u32)> {
    let start = |effect| match effect {
        Effect::Start { task, .. } => Some((task, 1)),
        _ => None,
    };
    life.map(due).into_iter().flatten().filter_map(start).collect()
}

fn catalog(store: &Store) -> Result<Catalog, StoreError> {
    fn all<E: Entity>(store: &Store) -> Result<Vec<E>, StoreError> {
        store.entities(catalogue::TENANT)
    }
    Ok(Catalog {
        provider_types: all(store)?,
        providers: all(store)?,
        hardware: all(store)?,
        images: all(store)?,
        services: all(store)?,
        templates: all(store)?,
        partials: all(store)?,
    })
}
