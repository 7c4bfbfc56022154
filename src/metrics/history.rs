//! How it went in the last hour, for the charts of the operations room: a sample of the exposition every ten seconds, made into what a
//! chart shows. An hour of it is 360 numbers a figure, 50 KiB in all, however large the installation is.

use std::collections::VecDeque;

use serde::Serialize;
use utoipa::ToSchema;

use super::table::{self, Metric};

/// Between samples, in ms.
pub const EVERY_MS: i64 = 10_000;
/// Samples that are kept: an hour.
const MOST: usize = 360;

/// What a chart shows of a metric, all its labels together.
#[derive(Debug, Clone, Copy)]
enum View {
    /// As it is.
    Level,
    /// How much more in so many seconds.
    Rate(f64),
    /// Of a histogram: one on the average, in ms.
    Mean,
    /// Of a counter of seconds: how much of the time, in percent.
    Share,
}

/// One line of a chart.
struct Figure {
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    of: &'static Metric,
    /// Only where this label begins so.
    only: Option<(&'static str, &'static str)>,
    view: View,
}

const fn figure(
    name: &'static str,
    (unit, view): (&'static str, View),
    of: &'static Metric,
    meaning: &'static str,
) -> Figure {
    Figure { name, unit, meaning, of, only: None, view }
}

impl Figure {
    const fn narrowed(mut self, label: &'static str, begin: &'static str) -> Self {
        self.only = Some((label, begin));
        self
    }
}

const A_MINUTE: (&str, View) = ("1/min", View::Rate(60.0));
const A_SECOND: (&str, View) = ("1/s", View::Rate(1.0));
const TASKS: (&str, View) = ("tasks", View::Level);

/// Every line there is.
const FIGURES: [Figure; 17] = [
    figure("tasks-waiting", TASKS, &table::WAITING, "Tasks that could begin and wait for a worker"),
    figure("tasks-running", TASKS, &table::RUNNING, "Tasks in the hands of a worker"),
    figure(
        "workers",
        ("workers", View::Level),
        &table::WORKERS,
        "Workers of all tenants, here and elsewhere",
    ),
    figure("attempts", A_MINUTE, &table::ATTEMPTS, "Attempts at tasks that were over"),
    figure("failed-attempts", A_MINUTE, &table::ATTEMPTS, "Attempts at tasks that failed")
        .narrowed("outcome", "failure"),
    figure("jobs", A_MINUTE, &table::JOBS, "Jobs that ended"),
    figure("failed-jobs", A_MINUTE, &table::JOBS, "Jobs that failed").narrowed("status", "failed"),
    figure("requests", A_SECOND, &table::REQUESTS, "Requests that were answered"),
    figure("failed-requests", A_SECOND, &table::REQUESTS, "Requests that the server could not carry out")
        .narrowed("status", "5"),
    figure(
        "request-time",
        ("ms", View::Mean),
        &table::REQUEST_SECONDS,
        "Until an answer began, on the average",
    ),
    figure("events", A_SECOND, &table::EVENTS, "Events that became durable"),
    figure("commits", A_SECOND, &table::COMMITS, "Transactions of the database"),
    figure("followers", ("followers", View::Level), &table::FOLLOWERS, "Clients that follow events"),
    figure("clusters-busy", ("clusters", View::Level), &table::CLUSTERS, "Clusters with a job under way")
        .narrowed("status", "pending"),
    figure("processor", ("%", View::Share), &table::CPU_SECONDS, "Time of a processor that the server takes"),
    figure("memory", ("bytes", View::Level), &table::MEMORY, "Memory that the server holds"),
    figure("open-files", ("files", View::Level), &table::OPEN_FILES, "Files and connections that are open"),
];

/// What a figure needs of one exposition.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Total {
    /// Of a histogram: the sum of all that was observed.
    sum: f64,
    /// Of a histogram only: how many there were.
    count: f64,
}

/// The last hour.
#[derive(Debug, Default)]
pub struct History {
    /// When the last sample was taken, in ms since 1970, and what it said.
    last: Option<(i64, Vec<Total>)>,
    /// A line's points, oldest first; `None` where there was no sample.
    points: VecDeque<Vec<Option<f64>>>,
}

/// How figures went.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricHistory {
    /// Between values, in ms.
    every_ms: i64,
    /// When the last values were taken, in ms since 1970; 0 before there are any.
    until: i64,
    figures: Vec<FigureHistory>,
}

/// How one of them went.
#[derive(Debug, Serialize, ToSchema)]
pub struct FigureHistory {
    name: &'static str,
    /// `tasks`, `workers`, `1/min`, `1/s`, `ms`, `%`, `bytes` and the like.
    unit: &'static str,
    meaning: &'static str,
    /// In order of time, 360 at most; null where nothing was measured.
    values: Vec<Option<f64>>,
}

impl History {
    /// Takes a sample of an exposition as Prometheus reads it, at this time in ms since 1970.
    pub fn take(&mut self, now: i64, exposition: &str) {
        let totals = totals(exposition);
        let points = match &self.last {
            // The process may have been held up, or the machine asleep.
            Some((then, before)) if now > *then => {
                let missed = ((now - then) as f64 / EVERY_MS as f64).round() as usize;
                let none = vec![None; FIGURES.len()];
                self.points.extend(std::iter::repeat_n(none, missed.saturating_sub(1).min(MOST)));
                let seconds = (now - then) as f64 / 1000.0;
                let lines = FIGURES.iter().zip(&totals).zip(before);
                lines.map(|((figure, now), then)| point(figure.view, *now, *then, seconds)).collect()
            }
            _ => FIGURES.iter().zip(&totals).map(|(figure, now)| level(figure.view, *now)).collect(),
        };
        self.points.push_back(points);
        self.points.drain(..self.points.len().saturating_sub(MOST));
        self.last = Some((now, totals));
    }

    /// All of it.
    pub fn shown(&self) -> MetricHistory {
        let line = |(at, figure): (usize, &Figure)| FigureHistory {
            name: figure.name,
            unit: figure.unit,
            meaning: figure.meaning,
            values: self.points.iter().map(|points| points.get(at).copied().flatten()).collect(),
        };
        MetricHistory {
            every_ms: EVERY_MS,
            until: self.last.as_ref().map_or(0, |(when, _)| *when),
            figures: FIGURES.iter().enumerate().map(line).collect(),
        }
    }
}

/// Of one sample alone only levels are known.
fn level(view: View, now: Total) -> Option<f64> {
    matches!(view, View::Level).then(|| rounded(now.sum))
}

/// What happened between two samples that are so many seconds apart.
fn point(view: View, now: Total, then: Total, seconds: f64) -> Option<f64> {
    let more = (now.sum - then.sum).max(0.0);
    let many = now.count - then.count;
    match view {
        View::Level => level(view, now),
        View::Rate(per) => Some(rounded(more * per / seconds)),
        View::Share => Some(rounded(more * 100.0 / seconds)),
        // Where nothing was observed, nothing took any time.
        View::Mean => (many > 0.0).then(|| rounded(more * 1000.0 / many)),
    }
}

/// A chart shows no more.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// What each figure needs, in their order.
fn totals(exposition: &str) -> Vec<Total> {
    let mut totals = vec![Total::default(); FIGURES.len()];
    for line in exposition.lines().filter(|line| !line.starts_with('#')) {
        let Some((metric, value)) = line.rsplit_once(' ') else { continue };
        let Ok(value) = value.parse::<f64>() else { continue };
        let (name, labels) = metric.split_once('{').unwrap_or((metric, ""));
        for (figure, total) in FIGURES.iter().zip(&mut totals) {
            let Some(part) = name.strip_prefix(figure.of.name) else { continue };
            let begins = |(label, begin): (&str, &str)| labels.contains(&format!("{label}=\"{begin}"));
            match part {
                "" | "_sum" if figure.only.is_none_or(begins) => total.sum += value,
                "_count" if figure.only.is_none_or(begins) => total.count += value,
                _ => {}
            }
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::super::Metrics;
    use super::*;

    fn values(history: &History, name: &str) -> Vec<Option<f64>> {
        history.shown().figures.into_iter().find(|figure| figure.name == name).unwrap().values
    }

    #[test]
    fn a_chart_shows_levels_rates_and_means() {
        let (metrics, mut history) = (Metrics::new(), History::default());
        metrics.set(&table::WAITING, &["dept"], 3.0);
        metrics.set(&table::WAITING, &["other"], 4.0);
        metrics.count(&table::REQUESTS, &["user", "GET", "200"]);
        history.take(1_000, &metrics.text().unwrap());
        for status in ["200", "200", "503", "500"] {
            metrics.count(&table::REQUESTS, &["user", "GET", status]);
        }
        metrics.count(&table::JOBS, &["create", "failed"]);
        metrics.observe(&table::REQUEST_SECONDS, &["user", "GET"], 0.25);
        metrics.observe(&table::REQUEST_SECONDS, &["tasks", "GET"], 0.75);
        metrics.counted(&table::CPU_SECONDS, 5.0);
        history.take(11_000, &metrics.text().unwrap());
        history.take(21_000, &metrics.text().unwrap());

        assert_eq!(values(&history, "tasks-waiting"), [Some(7.0); 3]);
        assert_eq!(values(&history, "requests"), [None, Some(0.4), Some(0.0)]);
        assert_eq!(values(&history, "failed-requests"), [None, Some(0.2), Some(0.0)]);
        assert_eq!(values(&history, "failed-jobs"), [None, Some(6.0), Some(0.0)]);
        assert_eq!(values(&history, "request-time"), [None, Some(500.0), None]);
        assert_eq!(values(&history, "processor"), [None, Some(50.0), Some(0.0)]);
        assert_eq!(history.shown().until, 21_000);
    }

    #[test]
    fn what_was_missed_is_a_gap_and_an_hour_is_kept() {
        let mut history = History::default();
        let text = Metrics::new().text().unwrap();
        history.take(0, &text);
        history.take(EVERY_MS * 4 + 100, &text);
        assert_eq!(values(&history, "open-files"), [Some(0.0), None, None, None, Some(0.0)]);
        history.take(EVERY_MS * 5_000, &text);
        assert_eq!(values(&history, "open-files").len(), MOST);
        for sample in 5_001..6_000 {
            history.take(EVERY_MS * sample, &text);
        }
        assert_eq!(values(&history, "open-files"), vec![Some(0.0); MOST]);
    }
}
