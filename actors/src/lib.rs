//! Who does what when: one file per actor.
//!
//! ```text
//!   Registry ─┬─ Cluster ─┬─ Node      decides, records, acts; one task at a time on each machine
//!             │           └─ Node
//!             ├─ WorkerPool            worker slots of a tenant, handed out fairly
//!             ├─ Provisioner           carries tasks out with the plugins of this process
//!             ├─ Handover              tasks in the hands of workers elsewhere
//!             ├─ Fleet                 provisioners elsewhere, and how many workers each has for whom
//!             ├─ HealthMonitor         probes machines and services, and has healed what is down
//!             ├─ Janitor               deadlines
//!             ├─ Callbacks             tells others of jobs and leases
//!             └─ Journal               makes events durable, many at a time
//! ```
//!
//! On another machine an Agent brings workers to a server, and a Provisioner carries out what they are given.
//!
//! A cluster and its nodes live on one arbiter, where a message costs next to nothing; clusters are spread over arbiters.
//! Nothing that blocks runs in a handler.

pub mod agent;
pub mod blocking;
pub mod callbacks;
pub mod clock;
pub mod cluster;
pub mod console;
pub mod estimate;
pub mod fleet;
pub mod handover;
pub mod health;
pub mod janitor;
pub mod journal;
pub mod node;
pub mod occurrence;
pub mod pace;
pub mod projection;
pub mod provisioner;
pub mod registry;
pub mod task_log;
pub mod worker_pool;
