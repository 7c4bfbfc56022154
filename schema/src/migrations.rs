//! Brings a database to the shape this release needs.

use diesel::migration::{Migration, MigrationSource, MigrationVersion};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::engine::Engine;
use crate::error::StoreError;

const SQLITE: EmbeddedMigrations = embed_migrations!("../migrations/sqlite");
#[cfg(feature = "postgres")]
const POSTGRES: EmbeddedMigrations = embed_migrations!("../migrations/postgres");

/// Key of the advisory lock under which servers that start together on one PostgreSQL migrate one after the other.
#[cfg(feature = "postgres")]
const MIGRATION_LOCK: i64 = 0x436f_6f70_6572;

/// Runs what is missing. A database that has more than is known is refused before anything is touched.
pub(crate) fn migrate(engine: &mut Engine) -> Result<(), StoreError> {
    match engine {
        // Whoever comes second waits for the lock, and then finds everything done.
        Engine::Sqlite(connection) => connection.immediate_transaction(|connection| run(connection, SQLITE)),
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => {
            use diesel::connection::SimpleConnection;
            connection.batch_execute(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})"))?;
            let outcome = run(connection, POSTGRES);
            connection.batch_execute(&format!("SELECT pg_advisory_unlock({MIGRATION_LOCK})"))?;
            outcome
        }
    }
}

fn run<DB, C>(connection: &mut C, embedded: EmbeddedMigrations) -> Result<(), StoreError>
where
    DB: diesel::backend::Backend,
    C: MigrationHarness<DB>,
{
    let fault =
        |cause: Box<dyn std::error::Error + Send + Sync>| match cause.downcast::<diesel::result::Error>() {
            Ok(fault) => match StoreError::from(*fault) {
                known @ (StoreError::Locked { .. } | StoreError::DiskFull { .. }) => known,
                other => StoreError::Migration { cause: other.to_string() },
            },
            Err(cause) => StoreError::Migration { cause: cause.to_string() },
        };
    let migrations: Vec<Box<dyn Migration<DB>>> = embedded.migrations().map_err(fault)?;
    let known: Vec<MigrationVersion<'_>> =
        migrations.iter().map(|migration| migration.name().version().as_owned()).collect();
    let applied = connection.applied_migrations().map_err(fault)?;
    if let Some(found) = applied.iter().find(|version| !known.contains(version)) {
        let newest = known.iter().max().map(ToString::to_string).unwrap_or_default();
        return Err(StoreError::NewerSchema { found: found.to_string(), newest });
    }
    connection.run_pending_migrations(embedded).map_err(fault)?;
    Ok(())
}
