//! A database of every earlier release is brought up to date, with everything that is in it.

use cooperage_domain::entity::{Kind, Provider};
use cooperage_domain::id::ClusterId;
use cooperage_schema::DatabaseUrl;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;
use diesel_migrations::{FileBasedMigrations, MigrationHarness};
use serde_json::{Value, json};

use crate::fresh::{Fresh, on_both_engines};
use crate::sample::{append, cluster_row, task};

on_both_engines![data_of_every_earlier_release_is_kept];

/// What the first release wrote: its tables are those that all later ones began with.
const DATA: &str = "
    INSERT INTO tenants (id, name, document) VALUES ('dept-a', 'dept', '{\"name\":\"dept\"}');
    INSERT INTO entities (tenant, kind, name, version, document, created_ms)
        VALUES ('dept-a', 'providers', 'rack', 1,
            '{\"name\":\"rack\",\"version\":1,\"providertype\":\"acme\",\"provisioner\":{}}', 1);
    INSERT INTO journal (cluster, sequence, at_ms, actor, who, event_version, event)
        VALUES (7, 1, 1, 'cluster', 'ann', 1, '{\"event\":\"one\"}'), (7, 2, 2, 'cluster', 'ann', 1, '{\"event\":\"two\"}');
    INSERT INTO ownership (cluster, server, epoch) VALUES (7, 'local', 1);
    INSERT INTO clusters (id, tenant, owner, name, status, template, provider, created_ms, expires_ms, nodes, latest_job,
            steps_total, steps_done, message, summary)
        VALUES (7, 'dept-a', 'ann', 'shop', 'active', 'web', 'rack', 1, 0, 1, NULL, 0, 0, NULL, '{}');
    INSERT INTO nodes (id, cluster, tenant, number, hostname, status, document)
        VALUES ('a', 7, 'dept-a', 1000, 'shop-1000', 'ready', '{\"hardwaretype\":\"small\"}'),
            ('b', 7, 'dept-a', 1001, 'shop-1001', 'ready', '{\"hardwaretype\":\"small\"}'),
            ('c', 7, 'dept-a', 1002, 'shop-1002', 'ready', '{\"hardwaretype\":\"large\"}');
    INSERT INTO clusters (id, tenant, owner, name, status, template, provider, created_ms, expires_ms, nodes, latest_job,
            steps_total, steps_done, message, summary)
        VALUES (8, 'dept-a', 'ann', 'gone', 'terminated', 'web', 'rack', 1, 0, 0, NULL, 0, 0, NULL, '{\"name\":\"gone\"}');
    INSERT INTO tokens (id, hash, tenant, username, role, created_ms) VALUES ('t', 'h', 'dept-a', 'ann', 'admin', 1);
    INSERT INTO task_durations (key, n, mean_ms, m2) VALUES ('CREATE', 3, 5.0, 1.0);
";
/// What tasks printed lay in another table before this one; from then on it is written like this.
const PACKED_OUTPUT: &str = "0015";
const OUTPUT: &str = "
    INSERT INTO task_output (cluster, task, sequence, job, attempt, at_ms, stream, text)
        VALUES (7, 1, 1, 1, 1, 5, 'stdout', 'grüße'), (7, 1, 2, 1, 1, 6, 'stderr', '');";

/// From so many steps on, what is written has the machines in its summary; here it has not.
const SUMMARIES_WITH_MACHINES: usize = 14;

/// Makes a database as it was after so many steps, with data in it; `false` when there are no more steps than that.
fn made_with_steps(fresh: &Fresh, steps: usize) -> bool {
    match &fresh.url {
        DatabaseUrl::Sqlite(path) => {
            let mut old = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
            fill(&mut old, "../migrations/sqlite", steps)
        }
        #[cfg(feature = "postgres")]
        DatabaseUrl::Postgres(text) => {
            let mut old = PgConnection::establish(text).unwrap();
            fill(&mut old, "../migrations/postgres", steps)
        }
    }
}

fn fill<DB: diesel::backend::Backend, C: MigrationHarness<DB> + SimpleConnection>(
    old: &mut C,
    folder: &str,
    steps: usize,
) -> bool {
    let all = FileBasedMigrations::from_path(folder).unwrap();
    for _ in 0..steps {
        old.run_next_migration(all.clone()).unwrap();
    }
    if !old.has_pending_migration(all).unwrap() {
        return false;
    }
    old.batch_execute(DATA).unwrap();
    let is_packed =
        old.applied_migrations().unwrap().iter().any(|one| one.to_string().as_str() >= PACKED_OUTPUT);
    if !is_packed {
        old.batch_execute(OUTPUT).unwrap();
    }
    true
}

fn data_of_every_earlier_release_is_kept(first: &Fresh) {
    let is_sqlite = matches!(first.url, DatabaseUrl::Sqlite(_));
    let mut tried = 0;
    for steps in 1.. {
        #[cfg(feature = "postgres")]
        let fresh = if is_sqlite { Fresh::sqlite() } else { Fresh::postgres() };
        #[cfg(not(feature = "postgres"))]
        let fresh = Fresh::sqlite();
        if !made_with_steps(&fresh, steps) {
            break;
        }
        is_kept(&fresh, steps);
        tried += 1;
    }
    assert!(tried >= 12 && (is_sqlite || cfg!(feature = "postgres")), "{tried} earlier shapes");
}

fn is_kept(fresh: &Fresh, steps: usize) {
    let store = fresh.open();
    let id = ClusterId(7);
    assert_eq!(store.tenant("dept").unwrap().unwrap().id, "dept-a", "{steps}");
    let providers: Vec<Provider> = store.entities("dept-a").unwrap();
    assert_eq!(providers[0].providertype, "acme", "{steps}");
    assert_eq!(store.documents("dept-a", Kind::Provider).unwrap().len(), 1, "{steps}");
    let row = store.cluster(id).unwrap().unwrap();
    assert_eq!((row.name.as_str(), row.status.as_str(), row.nodes), ("shop", "active", 1), "{steps}");
    assert_eq!(row.tenant, cluster_row(7).tenant, "{steps}");
    let summary = |id| serde_json::from_str::<Value>(&store.cluster(id).unwrap().unwrap().summary).unwrap();
    if steps < SUMMARIES_WITH_MACHINES {
        assert_eq!(
            summary(id),
            json!({"machines": {"small": 2, "large": 1}}),
            "{steps}: what one costs can be told"
        );
        assert_eq!(summary(ClusterId(8)), json!({"name": "gone", "machines": {}}), "{steps}");
    }
    let journal = store.load(id).unwrap();
    assert_eq!(journal.sequence(), 2, "{steps}");
    store.journal().append_blocking(append(7, 2, &["three"])).unwrap();
    assert_eq!(store.load(id).unwrap().sequence(), 3, "{steps}: it goes on where it was");
    // Newer shapes have no lines of a release before them.
    let lines = store.output(task(7, 1), 0, 10).unwrap();
    let texts: Vec<&str> = lines.iter().map(|line| line.line.text.as_str()).collect();
    assert!(texts == ["grüße", ""] || (steps >= 13 && texts.is_empty()), "{steps}: {texts:?}");
}
