//! What is counted for Prometheus.
//!
//! | module | does |
//! |---|---|
//! | [`table`] | says what there is |
//! | [`durable`] | counts what becomes durable: events, attempts, jobs |
//! | [`process`] | what the system knows of this process |
//! | [`history`] | keeps an hour of it, for charts |
//!
//! What is counted as it happens is kept here; what is known elsewhere is asked for when somebody wants to see it
//! (`src/api/exposition.rs`).

mod durable;
pub mod history;
pub mod process;
pub mod table;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cooperage_actors::journal::Counting;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use table::{Limit, Metric, Sort};

/// Values by name.
type Labels = Vec<(&'static str, String)>;
type Counters = Family<Labels, Counter<f64, AtomicU64>>;
type Gauges = Family<Labels, Gauge<f64, AtomicU64>>;
type Histograms = Family<Labels, Histogram, Buckets>;

/// Makes histograms with the limits of the table.
#[derive(Debug, Clone, Copy)]
struct Buckets(&'static [Limit]);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().map(|limit| f64::from(*limit) / 1000.0))
    }
}

/// All figures of the table.
pub struct Metrics {
    registry: Registry,
    counters: BTreeMap<&'static str, Counters>,
    gauges: BTreeMap<&'static str, Gauges>,
    histograms: BTreeMap<&'static str, Histograms>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// With all that the table has, and nothing counted.
    pub fn new() -> Self {
        let (mut registry, mut counters) = (Registry::default(), BTreeMap::new());
        let (mut gauges, mut histograms) = (BTreeMap::new(), BTreeMap::new());
        for metric in table::ALL {
            // The library puts a full stop behind the help, and `_total` behind the name of a counter.
            let (name, help) = (metric.name, metric.help);
            match metric.sort {
                Sort::Counter => {
                    let family = Counters::default();
                    registry.register(name.trim_end_matches("_total"), help, family.clone());
                    counters.insert(name, family);
                }
                Sort::Gauge => {
                    let family = Gauges::default();
                    registry.register(name, help, family.clone());
                    gauges.insert(name, family);
                }
                Sort::Histogram(limits) => {
                    let family = Histograms::new_with_constructor(Buckets(limits));
                    registry.register(name, help, family.clone());
                    histograms.insert(name, family);
                }
            }
        }
        Self { registry, counters, gauges, histograms }
    }

    /// Counts one more.
    pub fn count(&self, metric: &Metric, labels: &[&str]) {
        if let Some(family) = self.counters.get(metric.name) {
            family.get_or_create(&named(metric, labels)).inc();
        }
    }

    /// Takes over what is counted elsewhere, from the start of the process.
    pub fn counted(&self, metric: &Metric, total: f64) {
        if let Some(family) = self.counters.get(metric.name) {
            family.get_or_create(&named(metric, &[])).inner().store(total.to_bits(), Ordering::Relaxed);
        }
    }

    /// How it is now.
    pub fn set(&self, metric: &Metric, labels: &[&str], value: f64) {
        if let Some(family) = self.gauges.get(metric.name) {
            family.get_or_create(&named(metric, labels)).set(value);
        }
    }

    /// Forgets what a figure was told apart by, so that what is gone is not told any more.
    pub fn forget(&self, metric: &Metric) {
        if let Some(family) = self.gauges.get(metric.name) {
            family.clear();
        }
    }

    /// Took so many seconds.
    pub fn observe(&self, metric: &Metric, labels: &[&str], seconds: f64) {
        if let Some(family) = self.histograms.get(metric.name) {
            family.get_or_create(&named(metric, labels)).observe(seconds);
        }
    }

    /// Counts what becomes durable.
    pub fn counting(self: &Arc<Self>) -> Counting {
        let metrics = Arc::clone(self);
        Arc::new(move |durable| durable::count(&metrics, durable))
    }

    /// All figures, as Prometheus reads them (OpenMetrics 1.0).
    ///
    /// # Errors
    /// Never for text in memory; the library may say so.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text.lines().flat_map(|line| [plain(line), "\n".to_owned()]).collect())
    }
}

/// The library writes `name{} 1` for what has no labels; without the braces everybody reads it.
fn plain(line: &str) -> String {
    match line.split_once("{} ") {
        Some((name, value)) if !name.contains(['"', '#']) => format!("{name} {value}"),
        _ => line.to_owned(),
    }
}

fn named(metric: &Metric, values: &[&str]) -> Labels {
    debug_assert_eq!(metric.labels.len(), values.len(), "{}", metric.name);
    metric.labels.iter().copied().zip(values.iter().map(ToString::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_is_told_with_its_meaning() {
        let metrics = Metrics::new();
        for metric in table::ALL {
            let labels = vec!["x\"y"; metric.labels.len()];
            match metric.sort {
                Sort::Counter => metrics.count(metric, &labels),
                Sort::Gauge => metrics.set(metric, &labels, 1.5),
                Sort::Histogram(_) => metrics.observe(metric, &labels, 0.3),
            }
        }
        let text = metrics.text().unwrap();
        for metric in table::ALL {
            let name = metric.name.trim_end_matches("_total");
            assert!(text.contains(&format!("# HELP {name} {}.\n", metric.help)), "{}: {text}", metric.name);
            assert!(
                text.lines().any(|line| !line.starts_with('#') && line.starts_with(metric.name)),
                "{}",
                metric.name
            );
        }
        assert!(text.contains("cooperage_clusters{status=\"x\\\"y\"} 1.5\n"), "{text}");
        assert!(text.contains("cooperage_http_request_duration_seconds_bucket{le=\"0.25\",port=\"x\\\"y\",method=\"x\\\"y\"} 0\n"), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn names_say_what_they_are() {
        for (number, metric) in table::ALL.iter().enumerate() {
            assert!(
                table::ALL.iter().skip(number + 1).all(|other| other.name != metric.name),
                "{}",
                metric.name
            );
            assert_eq!(metric.name.ends_with("_total"), metric.sort == Sort::Counter, "{}", metric.name);
            let is_unit = metric.unit == "1" || metric.name.trim_end_matches("_total").ends_with(metric.unit);
            assert!(is_unit && !metric.help.ends_with('.'), "{}", metric.name);
        }
    }

    #[test]
    fn what_is_gone_is_not_told_any_more() {
        let metrics = Metrics::new();
        metrics.set(&table::WORKERS, &["dept"], 3.0);
        metrics.forget(&table::WORKERS);
        metrics.counted(&table::COMMITS, 7.0);
        let text = metrics.text().unwrap();
        assert!(!text.contains("dept") && text.contains("cooperage_journal_commits_total 7.0\n"), "{text}");
    }
}
