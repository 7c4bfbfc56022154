//! `cooperage simulate`, in builds for tests: clusters in simulated time, while everything goes wrong that can.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use cooperage_simulation::campaign::{Campaign, Failure as Broken, Level, Report};
use cooperage_simulation::fault::Fault;
use cooperage_simulation::plan::{Plan, Step};

use super::failure::Failure;
use super::screen::Screen;

/// What is simulated.
#[derive(Debug, Clone, Args)]
pub struct SimulateArgs {
    /// The first seed, or the only one
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// How many seeds, counted up from the first
    #[arg(long, value_name = "K")]
    pub seeds: Option<u64>,
    /// For how long; without seeds or minutes it is one seed
    #[arg(long, value_name = "M")]
    pub minutes: Option<u64>,
    /// How much of the system is real
    #[arg(long, value_enum, default_value_t)]
    pub level: LevelArg,
    /// What goes wrong, instead of what the seed says: KIND@NUMBER:MS,...
    #[arg(long, value_name = "LIST")]
    pub faults: Option<String>,
    /// What is asked for, instead of what the seed says: OPERATION@MS/CLUSTER,...
    #[arg(long, value_name = "LIST")]
    pub operations: Option<String>,
    /// A run that was written as JSON, instead of a seed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "minutes", "faults", "operations"])]
    pub file: Option<PathBuf>,
}

/// How much of the system is real.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// The kernel, in a world that is all simulated: many seeds in a second
    Kernel,
    /// The whole server over a real database
    Server,
    /// Both, one after the other
    #[default]
    Both,
}

impl LevelArg {
    const fn levels(self) -> &'static [Level] {
        match self {
            Self::Kernel => &[Level::Kernel],
            Self::Server => &[Level::Server],
            Self::Both => &[Level::Kernel, Level::Server],
        }
    }
}

/// Runs seeds until one breaks an invariant, and tells what was covered.
///
/// # Errors
/// When an invariant does not hold, or what was given cannot be read.
pub fn run(args: &SimulateArgs, screen: &Screen) -> Result<(), Failure> {
    let given = given(args)?;
    let mut broken = false;
    for level in args.level.levels() {
        let report = match &given {
            Some(plan) => once(*level, plan),
            None => campaign(*level, args).run(),
        };
        screen.result(&report, || report.to_string());
        broken |= report.failure.is_some();
    }
    if broken { Err(Failure::Told) } else { Ok(()) }
}

/// The seeds that are asked for. The time is shared by the levels.
fn campaign(level: Level, args: &SimulateArgs) -> Campaign {
    let shares = u64::try_from(args.level.levels().len()).unwrap_or(1).max(1);
    let time = args.minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60) / shares));
    let seeds = args.seeds.or_else(|| time.is_none().then_some(1));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Campaign { first: args.seed, seeds, time, level, threads }
}

/// A run that was written down.
fn once(level: Level, plan: &Plan) -> Report {
    let begun = Instant::now();
    let outcome = level.run(plan);
    let failure = outcome.violation.map(|violation| Broken { level, violation, plan: plan.clone() });
    let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Report { level, seeds: 1, milliseconds, coverage: outcome.coverage, failure }
}

/// The run that is told in full, if one is.
fn given(args: &SimulateArgs) -> Result<Option<Plan>, Failure> {
    if let Some(path) = &args.file {
        let file = |source| Failure::File { doing: "read", path: path.clone(), source };
        let text = std::fs::read_to_string(path).map_err(file)?;
        return serde_json::from_str(&text).map(Some).map_err(|fault| file(fault.into()));
    }
    if args.faults.is_none() && args.operations.is_none() {
        return Ok(None);
    }
    let mut plan = Plan::draw(args.seed);
    if let Some(text) = &args.faults {
        plan.faults = list::<Fault>(text)?;
    }
    if let Some(text) = &args.operations {
        plan.steps = list::<Step>(text)?;
    }
    Ok(Some(plan))
}

fn list<T: FromStr<Err = String>>(text: &str) -> Result<Vec<T>, Failure> {
    let items = text.split(',').filter(|item| !item.trim().is_empty());
    let refuse = |fault| Failure::refused(fault, "copy the list that a failed run printed");
    items.map(|item| item.parse().map_err(refuse)).collect()
}
