//! `cooperage bench`: how fast the parts are on this machine, each figure beside what it should be.
//!
//! Nothing here needs a server. The same seeds give the same questions everywhere, so that figures of two machines, or of two
//! releases, can be compared.

mod figure;
mod hadoop;
mod schedule;
mod solver;

use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use figure::Figure;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<schedule::Schedules>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solver: Option<solver::Solutions>,
    /// What has a target.
    figures: Vec<Figure>,
}

/// Measures, and tells each figure beside its target. That one is missed is no failure: this machine may be slow.
///
/// # Errors
/// When a question cannot be put.
pub fn run(args: &BenchArgs, screen: &Screen) -> Result<(), Failure> {
    if cfg!(debug_assertions) && !args.quick {
        screen.note(
            "This program was built without optimization: build it with `make build` for figures that count.",
        );
    }
    let wanted = |bench: fn(&Bench) -> bool| args.what.as_ref().is_none_or(bench);
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION"),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        quick: args.quick,
        schedule: None,
        solver: None,
        figures: Vec::new(),
    };
    if wanted(|bench| matches!(bench, Bench::Schedule)) {
        let measured = schedule::measure(args.quick)?;
        report.figures.extend(measured.figures());
        report.schedule = Some(measured);
    }
    if wanted(|bench| matches!(bench, Bench::Solver)) {
        let measured = solver::measure(args.quick)?;
        report.figures.extend(measured.figures());
        report.solver = Some(measured);
    }
    screen.result(&report, || text(&report));
    Ok(())
}

fn text(report: &Report) -> String {
    let mut parts = Vec::new();
    parts.extend(report.schedule.as_ref().map(schedule::Schedules::table));
    parts.extend(report.solver.as_ref().map(solver::Solutions::table));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it works: how fast it is depends on the machine.
    #[test]
    fn every_part_is_measured() {
        let (schedule, solver) = (schedule::measure(true).unwrap(), solver::measure(true).unwrap());
        let figures: Vec<Figure> = schedule.figures().into_iter().chain(solver.figures()).collect();
        let report = Report {
            version: "1",
            processors: 1,
            quick: true,
            schedule: Some(schedule),
            solver: Some(solver),
            figures,
        };
        let text = text(&report);
        for part in ["SCHEDULED IN", "ANSWERED IN", "TARGET", "stage plan ÷ ours, 100 nodes"] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
        let value = serde_json::to_value(&report).unwrap();
        assert!(value["figures"].as_array().is_some_and(|figures| figures.len() > 10), "{value}");
        let sizes = value["schedule"]["sizes"].as_array().unwrap();
        for size in sizes {
            let ratio = |field: &str| size[field].as_f64().unwrap();
            // Nothing beats a bound, and the closer one is no lower.
            assert!(
                ratio("meanRatioToNodes") >= 1.0 && ratio("meanRatio") >= ratio("meanRatioToNodes"),
                "{size}"
            );
        }
    }
}
