//! The kernel: one cluster as a state machine that never does I/O.
//!
//! ```text
//!   command ──► decide(&Cluster, Command, now) ──► events, or a refusal
//!                                                    │  made durable by the caller, then
//!                                                    ▼
//!               apply(&mut Cluster, &Event)      the only way state changes
//!                                                    │
//!                                                    ▼
//!               due(&Cluster) ──► effects        what must now be under way: derived, never stored
//! ```
//!
//! A crash at any point loses nothing: the events are read again, applied again, and [`due`] says again what must be under
//! way. A task that had been started is still started after the crash, with the same attempt number; whoever executes it
//! finds the execution by that number instead of starting a second one.
//!
//! What happens to one task costs time by what it changes, not by the size of the cluster: readiness is kept up to date
//! event by event, and [`due_after`] gives what events have added to [`due`].
//!
//! [`preview()`] tells what events would do before they happen, [`difference()`] what is different between two states,
//! [`words()`] what happened; [`redecide()`] decides once more what a journal holds.
//!
//! One file per operation ([`create`], `delete`, `configure`, `reconfigure`, `services`, `add_services`, `remove_services`,
//! `resize`, `replace`, `upgrade`, `roll_back`, `converge`, `errand`, `retry`, `abort`, `cancel`, `pause`, `prolong`,
//! `warn_of_expiry`, `sync_template`, `care`, `adopt`, `inherit`), one for what happens to a task (`attempt`) and one for what follows from the end of a job
//! (`follow_up`). What is wanted, whoever changed it, changes in `wanted_change`; `inputs` knows which services take what
//! has changed, and `flow` whose turn it is then. `ancestry` is what clusters that are built upon each other know of each other.

mod abort;
mod add_services;
mod adopt;
mod ancestry;
mod apply;
mod apply_task;
mod attempt;
pub mod budget;
mod cancel;
mod care;
mod command;
mod configure;
mod converge;
mod create;
mod decide;
mod delete;
mod difference;
mod due;
mod ending;
mod errand;
mod event;
mod flow;
mod follow_up;
mod give_fields;
mod held;
mod inherit;
mod inputs;
mod job;
mod limits;
mod named;
mod numbering;
mod order;
pub mod outputs;
mod pause;
mod placement;
mod planning;
mod preview;
mod probing;
mod prolong;
mod rebase;
mod reconfigure;
mod redecide;
mod refusal;
mod remove_services;
mod replace;
mod request;
mod resize;
mod retry;
mod revision;
mod roll_back;
mod rollout;
mod services;
mod shared_jobs;
mod state;
mod summary;
mod sync_template;
mod taken;
mod told;
mod unit_state;
mod upgrade;
mod values;
mod view;
mod wanted;
mod wanted_change;
mod warn_of_expiry;
mod words;

pub use ancestry::{Child, Inheritance, Kin, Offered, Origins, Published};
pub use apply::{apply, replay};
pub use attempt::INTERNAL_FAILURE;
pub use budget::{WaitCode, WaitReason};
pub use care::{Care, CareChange, Maintenance, UnitHealth};
pub use command::Command;
pub use create::{CreateOrder, Nodes, create};
pub use decide::decide;
pub use difference::{
    Became, Difference, NodeDifference, ServiceDifference, UnitDifference, ValueDifference, difference,
};
pub use due::{Effect, due, due_after};
pub use event::{EVENT_VERSION, Event, FailedNext, PlannedStep};
pub use follow_up::FollowUp;
pub use held::nodes_added;
pub use inputs::taken_outputs;
pub use job::{Attempt, AttemptId, Job, JobStatus, Outcome, Task, TaskState};
pub use limits::{Limits, Overdue, RetryRule};
pub use order::{OrderError, order, order_among, view};
pub use placement::{Placed, placement};
pub use preview::{Outlook, PlanPreview, PreviewTask, Price, preview};
pub use probing::{made_by, probe_order, to_probe};
pub use rebase::{NoRebase, Rebased, rebase};
pub use redecide::{Redecided, redecide};
pub use refusal::Refusal;
pub use request::{Accepted, Asking, Catalog, ClusterRequest, RequestFault};
pub use resize::Resize;
pub use revision::Revision;
pub use rollout::{OnFailure, Rollout};
pub use services::ServiceChange;
pub use state::{Account, Cluster, ClusterStatus, Node};
pub use taken::Taken;
pub use told::Told;
pub use unit_state::UnitState;
pub use values::{Layer, Layered, layered, put_together};
pub use view::{NodeStatus, Progress};
pub use wanted_change::WantedChange;
pub use words::{job_of, words};
