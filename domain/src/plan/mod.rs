//! The graph of tasks that brings a cluster from what it is to what it should be.
//!
//! Two questions are kept apart. *Which* steps does each unit need? [`coopr`] answers it for Coopr's cluster actions,
//! [`converge()`] for any difference between wanted and observed. In *which order*? [`graph::build`] answers that, for
//! both, from the rules in [`rules`]. What follows only looks at the graph: [`stages`](mod@stages) shows it as Coopr
//! would, [`schedule`] ranks its tasks, [`predict`](mod@predict) foretells a run, [`spread`](mod@spread) how far it may be
//! off, [`render`](mod@render) prints it.

pub mod action;
pub mod bounds;
pub mod converge;
pub mod coopr;
mod definition;
pub mod error;
pub mod graph;
pub mod needs;
mod order;
pub mod predict;
pub mod render;
pub mod rules;
mod run;
pub mod schedule;
pub mod spread;
pub mod stages;
pub mod unit;
mod urgency;

pub use action::ClusterAction;
pub use converge::converge;
pub(crate) use definition::defines;
pub use error::PlanError;
pub use graph::{AwaitUnplanned, Graph, PlanInput, PlanNode, PlannedTask, Steps};
pub use predict::{Prediction, predict};
pub use render::render;
pub use run::Slot;
pub use spread::{Length, Spread, spread};
pub use stages::stages;
pub use unit::{Observed, Unit, UnitId, Units, Wanted};
pub use urgency::urgency;
