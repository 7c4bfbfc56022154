//! How fast the parts of Cooperage are on this machine, each figure beside what it should be.
//!
//! A [`Subject`] is one part; measuring it gives a [`Section`]: tables for people, the same as JSON for programs, and the
//! figures that have a target. Nothing here needs a server of its owner: who needs one starts it, in folders that are removed.
//! The same seeds give the same questions everywhere, so that figures of two machines, or of two releases, can be compared.

mod api;
pub mod catalogue;
pub mod figure;
mod grid;
mod hadoop;
pub mod installation;
mod journal;
mod percentile;
mod process;
mod schedule;
mod solver;
pub mod ssh;
mod start;
pub mod wire;
mod worker;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cooperage_schema::{DatabaseUrl, StoreError};
use serde::Serialize;
use serde_json::Value;

pub use figure::Figure;
pub use grid::Grid;

/// A part that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// How close to the best that is possible clusters are brought up.
    Schedule,
    /// How long layouts, and why there are none, are looked for.
    Solver,
    /// How fast tasks follow each other when they take no time, and what idle actors keep in memory.
    Journal,
    /// How soon people are answered and told of events, and find what tasks printed.
    Api,
    /// How many tasks are done over SSH, beside other tools.
    Ssh,
    /// How fast remote workers are given tasks and rid of them.
    Worker,
    /// How soon a server is there, and how large it is.
    Start,
}

/// How it is measured.
#[derive(Debug, Clone)]
pub struct Thoroughness {
    /// Fewer and smaller questions: whether it works, in seconds.
    pub quick: bool,
    /// The program that is started where a whole server is measured.
    pub program: PathBuf,
    /// A PostgreSQL server on which databases may be made and dropped; without it that engine is not measured.
    pub database_url: Option<DatabaseUrl>,
    /// A folder with other tools in its `bin/`, to be measured beside ours; others are found as programs are.
    pub peers: Option<PathBuf>,
}

/// What was measured of one part.
#[derive(Debug)]
pub struct Section {
    /// All of it, for programs.
    pub measured: Value,
    /// For people.
    pub grids: Vec<Grid>,
    /// What has a target.
    pub figures: Vec<Figure>,
}

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A question cannot be put: a fault of the benchmark.
    #[error("cannot ask {question:?}: {fault}")]
    Question {
        /// Which.
        question: String,
        /// What is wrong with it.
        fault: String,
    },
    /// A folder for temporary files, or a thread, is not to be had.
    #[error("cannot begin: {0}; check the folder for temporary files (TMPDIR)")]
    Folder(std::io::Error),
    /// A database cannot be made.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was measured has ended.
    #[error("what is measured broke off: {0}")]
    Ended(String),
    /// What was measured cannot be written as JSON.
    #[error("cannot write down what was measured: {0}")]
    Report(#[from] serde_json::Error),
    /// A server of the benchmark's own does not do what it is for.
    #[error("the server that is measured failed: {0}")]
    Server(String),
    /// A server of the benchmark's own refused a request.
    #[error("the server that is measured answered {status} to {request}: {said}")]
    Refused {
        /// Method and path.
        request: String,
        /// The HTTP status.
        status: u16,
        /// The body.
        said: String,
    },
    /// The system refuses something.
    #[error("cannot measure here: {0}")]
    System(#[from] std::io::Error),
}

impl Subject {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Self; 7] =
        [Self::Schedule, Self::Solver, Self::Journal, Self::Worker, Self::Ssh, Self::Start, Self::Api];

    /// As it stands in a report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Solver => "solver",
            Self::Journal => "journal",
            Self::Api => "api",
            Self::Ssh => "ssh",
            Self::Worker => "worker",
            Self::Start => "start",
        }
    }

    /// Measures it. That a target is missed is no error.
    ///
    /// # Errors
    /// When something cannot be measured.
    pub fn measure(self, how: &Thoroughness) -> Result<Section, BenchError> {
        match self {
            Self::Schedule => schedule::measure(how.quick),
            Self::Solver => solver::measure(how.quick),
            Self::Journal => journal::measure(how),
            Self::Api => api::measure(how),
            Self::Ssh => ssh::measure(how),
            Self::Worker => worker::measure(how),
            Self::Start => start::measure(how),
        }
    }
}

impl Section {
    fn new(measured: &impl Serialize, grids: Vec<Grid>, figures: Vec<Figure>) -> Result<Self, BenchError> {
        Ok(Self { measured: serde_json::to_value(measured)?, grids, figures })
    }
}

/// How long something takes: the quickest of so many times, since whatever else the machine does only makes it longer.
fn timed<T>(times: usize, mut work: impl FnMut() -> T) -> Duration {
    let taken = (0..times.max(1)).map(|_| {
        let begun = Instant::now();
        std::hint::black_box(work());
        begun.elapsed()
    });
    taken.min().unwrap_or_default()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
