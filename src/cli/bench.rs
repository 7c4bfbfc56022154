//! `cooperage bench`: how fast the parts are on this machine, each figure beside what it should be.
//!
//! Nothing here needs a server. The same seeds give the same questions everywhere, so that figures of two machines, or of two
//! releases, can be compared.

use std::env;

use clap::{Args, Subcommand};
use cooperage_bench::{Figure, Section, Subject, Thoroughness};
use serde::Serialize;
use serde_json::{Map, Value};

use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;

/// What is measured, and how thoroughly.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// What is measured; everything when it is left out
    #[command(subcommand)]
    pub what: Option<Bench>,
    /// Fewer and smaller questions: whether it works, in seconds
    #[arg(long, global = true)]
    pub quick: bool,
}

/// What is measured.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum Bench {
    /// How close to the best that is possible random clusters are brought up, and how long Coopr's stages would take
    #[command(after_help = "Example: cooperage bench schedule -o json")]
    Schedule,
    /// How long layouts, and why there are none, are looked for
    #[command(after_help = "Example: cooperage bench solver --quick")]
    Solver,
    /// How fast remote workers are given tasks and rid of them, over HTTP
    #[command(after_help = "Example: cooperage bench worker -o json")]
    Worker,
    /// How soon a server is ready, with many clusters and after a kill, and how large it is
    #[command(after_help = "Example: cooperage bench start --quick")]
    Start,
}

/// What was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// Version of the program.
    version: &'static str,
    /// Processors that it may use.
    processors: usize,
    /// Whether the questions were fewer and smaller.
    quick: bool,
    /// Each part by its name.
    #[serde(flatten)]
    subjects: Map<String, Value>,
    /// What has a target.
    figures: Vec<Figure>,
}

impl Bench {
    const fn subject(self) -> Subject {
        match self {
            Self::Schedule => Subject::Schedule,
            Self::Solver => Subject::Solver,
            Self::Worker => Subject::Worker,
            Self::Start => Subject::Start,
        }
    }
}

/// Measures, and tells each figure beside its target. That one is missed is no failure: this machine may be slow.
///
/// # Errors
/// When something cannot be measured.
pub fn run(args: &BenchArgs, screen: &Screen) -> Result<(), Failure> {
    if cfg!(debug_assertions) && !args.quick {
        screen.note(
            "This program was built without optimization: build it with `make build` for figures that count.",
        );
    }
    let program =
        env::current_exe().map_err(|fault| Failure::Server(format!("cannot find myself: {fault}")))?;
    let how = Thoroughness { quick: args.quick, program };
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION"),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        quick: args.quick,
        subjects: Map::new(),
        figures: Vec::new(),
    };
    let mut tables = Vec::new();
    for subject in Subject::ALL {
        if args.what.is_some_and(|what| what.subject() != subject) {
            continue;
        }
        let Section { measured, grids, figures } = subject.measure(&how)?;
        report.subjects.insert(subject.name().to_owned(), measured);
        tables.extend(grids.into_iter().map(|grid| Table::of(&grid.headings, grid.rows).render("nothing")));
        report.figures.extend(figures);
    }
    screen.result(&report, || text(&report, tables));
    Ok(())
}

fn text(report: &Report, mut parts: Vec<String>) -> String {
    let mut table = Table::new(["FIGURE", "MEASURED", "TARGET", "REACHED"]);
    for figure in &report.figures {
        let reached = if figure.is_reached() { "yes" } else { "no" };
        table.row([figure.what.clone(), figure.value(), figure.target(), reached.to_owned()]);
    }
    parts.push(table.render("no figures"));
    let Report { version, processors, .. } = report;
    parts.push(format!("cooperage {version}, {processors} processors\n"));
    parts.join("\n")
}
