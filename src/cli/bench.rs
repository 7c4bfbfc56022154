//! `cooperage bench`: how fast the parts are on this machine, each figure beside what it should be.
//!
//! Nothing here needs a server. The same seeds give the same questions everywhere, so that figures of two machines, or of two
//! releases, can be compared.

use std::env;
use std::io::Read as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use cooperage_bench::{Figure, Grid, Section, Subject, Thoroughness};
use cooperage_schema::DatabaseUrl;
use jiff::Timestamp;
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
    /// Tables for a page: Markdown, with the date
    #[arg(long, global = true)]
    pub markdown: bool,
    /// A PostgreSQL server to measure as well; each measurement makes a database of its own there, and drops it
    #[arg(long, global = true, value_name = "URL")]
    pub database_url: Option<DatabaseUrl>,
    /// A folder with other tools in its bin/, such as a Python environment, to measure beside; without it those on the path are
    #[arg(long, global = true, value_name = "DIR")]
    pub peers: Option<PathBuf>,
}

/// What is measured.
#[derive(Debug, Clone, Subcommand)]
pub enum Bench {
    /// How close to the best that is possible random clusters are brought up, and how long Coopr's stages would take
    #[command(after_help = "Example: cooperage bench schedule -o json")]
    Schedule,
    /// How long layouts, and why there are none, are looked for
    #[command(after_help = "Example: cooperage bench solver --quick")]
    Solver,
    /// How fast tasks follow each other when they take no time, and what idle actors keep in memory
    #[command(
        after_help = "Example: cooperage bench journal --database-url postgres://me@localhost/postgres"
    )]
    Journal,
    /// How soon people are answered and told of events while tasks run, and find what tasks printed
    #[command(after_help = "Example: cooperage bench api -o json")]
    Api,
    /// How many tasks are done over SSH on servers of its own, beside Ansible, mitogen, parallel-ssh and OpenSSH
    #[command(after_help = "Example: cooperage bench ssh --peers /opt/peers")]
    Ssh,
    /// A part of `ssh` that needs a process of its own
    #[command(hide = true)]
    IdleSessions,
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
    /// The day, by its UTC date.
    measured: String,
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
    const fn subject(&self) -> Subject {
        match self {
            Self::Schedule => Subject::Schedule,
            Self::Solver => Subject::Solver,
            Self::Journal => Subject::Journal,
            Self::Api => Subject::Api,
            Self::Ssh | Self::IdleSessions => Subject::Ssh,
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
    if matches!(args.what, Some(Bench::IdleSessions)) {
        return weigh(screen);
    }
    if cfg!(debug_assertions) && !args.quick {
        screen.note(
            "This program was built without optimization: build it with `make build` for figures that count.",
        );
    }
    let program =
        env::current_exe().map_err(|fault| Failure::Server(format!("cannot find myself: {fault}")))?;
    let (database_url, peers) = (args.database_url.clone(), args.peers.clone());
    let how = Thoroughness { quick: args.quick, program, database_url, peers };
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION"),
        measured: Timestamp::now().strftime("%Y-%m-%d").to_string(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        quick: args.quick,
        subjects: Map::new(),
        figures: Vec::new(),
    };
    let mut grids = Vec::new();
    for subject in Subject::ALL {
        if args.what.as_ref().is_some_and(|what| what.subject() != subject) {
            continue;
        }
        if screen.is_lively() {
            screen.note(&format!("Measuring {} …", subject.name()));
        }
        let Section { measured, grids: shown, figures } = subject.measure(&how)?;
        report.subjects.insert(subject.name().to_owned(), measured);
        grids.extend(shown);
        report.figures.extend(figures);
    }
    grids.push(beside_targets(&report.figures));
    match args.markdown {
        true => screen.line(&text(&report, grids.iter().map(markdown))),
        false => screen.result(&report, || {
            text(
                &report,
                grids.into_iter().map(|grid| Table::of(&grid.headings, grid.rows).render("nothing")),
            )
        }),
    }
    Ok(())
}

/// What another process of this program asks for on the standard input.
fn weigh(screen: &Screen) -> Result<(), Failure> {
    let mut order = Vec::new();
    let read = std::io::stdin().read_to_end(&mut order).map_err(|fault| fault.to_string());
    let weighed = read.and_then(|_| cooperage_bench::ssh::weigh(&order).map_err(|fault| fault.to_string()));
    screen.line(&weighed.map_err(Failure::Server)?);
    Ok(())
}

fn beside_targets(figures: &[Figure]) -> Grid {
    let row = |figure: &Figure| {
        let reached = if figure.is_reached() { "yes" } else { "no" };
        [figure.what.clone(), figure.value(), figure.target(), reached.to_owned()]
    };
    Grid::new(["FIGURE", "MEASURED", "TARGET", "REACHED"], figures.iter().map(row))
}

fn text(report: &Report, tables: impl Iterator<Item = String>) -> String {
    let Report { version, processors, measured, .. } = report;
    let machine = format!("cooperage {version}, {processors} processors, {measured}\n");
    tables.chain([machine]).collect::<Vec<_>>().join("\n")
}

/// A table of Markdown. Headings are in capitals for the eye alone; a `|` would end its cell.
fn markdown(grid: &Grid) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
    };
    let heading = |heading: &&str| {
        let mut letters = heading.chars();
        let first = letters.next().map(String::from).unwrap_or_default();
        first + &letters.as_str().to_lowercase()
    };
    let mut text = line(&mut grid.headings.iter().map(heading));
    text += &format!("|{}\n", "---|".repeat(grid.headings.len()));
    text.extend(grid.rows.iter().map(|row| line(&mut row.iter().cloned())));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_markdown_has_a_line_for_each_row() {
        let grid = Grid::new(["NODES", "WAIT P99"], [["5".to_owned(), "1|2 ms".to_owned()]].into_iter());
        assert_eq!(markdown(&grid), "| Nodes | Wait p99 |\n|---|---|\n| 5 | 1\\|2 ms |\n");
    }
}
