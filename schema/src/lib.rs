//! What is stored: one [`Store`] over SQLite or PostgreSQL.
//!
//! - [`Journal`]: the append-only record of every cluster, made durable in groups by one writing thread.
//! - [`Projection`]: the read tables, written in the transaction of the events they show.
//! - Everything else (entities, tenants, tokens, plugin resources, output of tasks): methods of [`Store`], one file each.
//!
//! Events and snapshots are opaque text here: what they mean is the kernel's matter.

mod ancestry;
mod answer;
mod append;
mod append_batch;
mod audit;
mod audit_check;
mod batch;
mod bulk;
mod callbacks;
mod checkpoint;
mod clusters;
mod counters;
mod deliveries;
mod durations;
mod engine;
mod entities;
mod entity_state;
mod error;
mod feed;
mod fence;
mod foreseen;
mod idempotency;
#[cfg(feature = "simulation")]
mod inline;
mod journal;
mod key_file;
mod keyring;
mod known_secrets;
mod machine_tasks;
mod migrations;
mod names;
mod occurrences;
mod output;
mod ownership;
mod pages;
mod profiles;
mod projection;
mod proposals;
mod provisioners;
mod registered_nodes;
mod replay;
mod resource_status;
mod resources;
mod rotation;
mod scratch;
mod seal;
mod seal_stored;
mod sealed_fields;
mod secrets_error;
mod sql;
mod store;
mod tables;
mod tenants;
mod tokens;
mod url;
mod users;
mod vault;
mod work;
mod writer;

pub use ancestry::AncestryRow;
pub use append::{Append, AppendError, Appended, StoredEvent};
pub use audit::AuditFilter;
pub use audit_check::{AuditCheck, PRUNED_TOGETHER};
pub use callbacks::{HookChange, StoredHook};
pub use clusters::ClusterFilter;
pub use deliveries::{Attempted, Delivery, DeliveryFilter, DeliveryStatus};
pub use durations::{DurationHistory, DurationSample};
pub use engine::Engine;
pub use entities::{Document, Put};
pub use entity_state::Expected;
pub use error::StoreError;
pub use feed::{FeedFilter, PlacedEvent};
pub use foreseen::ForeseenRow;
pub use idempotency::{Claim, KeptAnswer, RequestKey};
#[cfg(feature = "simulation")]
pub use inline::{Gate, Passage};
pub use journal::{Journal, JournalStatistics};
pub use known_secrets::KnownSecrets;
pub use machine_tasks::{MachineTask, MachineTaskFilter};
pub use occurrences::Occurrence;
pub use output::append::PackedLines;
pub use output::{
    Merged, OutputLimits, OutputLine, OutputPage, OutputPlace, OutputQuery, Pattern, PatternFault,
    StoredLine, Stream,
};
pub use ownership::Owner;
pub use pages::NodePlace;
pub use projection::{ClusterRow, JobRow, NodeRow, Projection, TERMINATED, TaskRow};
pub use proposals::{Proposal, ProposalKind};
pub use provisioners::Registration;
pub use registered_nodes::RegisteredNode;
pub use replay::{RecordedEvent, Replay, Snapshot};
pub use resource_status::ResourceStatus;
pub use resources::{PluginSide, Resource, ResourcePath};
pub use rotation::SecretsStatus;
pub use scratch::Scratch;
pub use seal_stored::StoredSealed;
pub use secrets_error::SecretsError;
pub use store::{Store, StoreOptions};
pub use tenants::{SUPERADMIN, Tenant};
pub use tokens::Token;
pub use url::DatabaseUrl;
pub use users::{Session, User, UserChange};
pub use vault::{OpenSecrets, Vault};
