//! Every figure of `/metrics`, and a dashboard that asks for nothing else.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::assert_page;
use crate::metrics::table::{ALL, Metric, Sort};

const DASHBOARD: &str = include_str!("../../etc/grafana/cooperage.json");

const INTRODUCTION: &str = "# Metrics

`GET /metrics`, on the port for people, has all figures in the format of OpenMetrics. Only superadmins may look, since it is of all tenants; a
token for nothing else:

```sh
cooperage token create --label prometheus --scope operation:read --save prometheus.token
```

```yaml
# prometheus.yml
scrape_configs:
  - job_name: cooperage
    authorization: { credentials_file: /etc/prometheus/prometheus.token }
    static_configs: [{ targets: [\"127.0.0.1:55054\"] }]
```

`etc/grafana/cooperage.json` is a dashboard for Grafana with the most important of them: import it, and choose the data source. Counters begin
at zero with each start of the server, as Prometheus expects it; what happened before is in the journal.

| name | kind | unit | by | what it is |
|---|---|---|---|---|
";

/// Worth an alarm, with what it asks.
const ALARMS: [(&str, &str); 6] = [
    ("up{job=\"cooperage\"} == 0", "nobody answers"),
    ("increase(cooperage_journal_failed_commits_total[5m]) > 0", "the database is away, locked or full"),
    ("cooperage_tasks_waiting > 0 and cooperage_workers == 0", "a tenant has work and no workers"),
    ("min_over_time(cooperage_tasks_waiting[30m]) > 0", "there are too few workers"),
    ("increase(cooperage_jobs_total{status=\"failed\"}[15m]) > 0", "jobs fail"),
    ("process_open_fds / process_max_fds > 0.8", "it will soon have no files left to open"),
];

#[test]
fn the_book_has_every_metric() {
    let mut page = INTRODUCTION.to_owned();
    for metric in ALL {
        let Metric { name, unit, help, .. } = metric;
        let kind = match metric.sort {
            Sort::Counter => "counter",
            Sort::Gauge => "gauge",
            Sort::Histogram(_) => "histogram",
        };
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let unit = if *unit == "1" { "" } else { unit };
        let _ = writeln!(page, "| `{name}` | {kind} | {unit} | {} | {help} |", labels.join(", "));
    }
    page.push_str("\n## Worth an alarm\n\n| expression | means |\n|---|---|\n");
    for (expression, means) in ALARMS {
        let _ = writeln!(page, "| `{expression}` | {means} |");
        assert_eq!(strangers(expression), [""; 0], "{expression}");
    }
    assert_page("metrics", &page);
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut asked = Vec::new();
    expressions(&dashboard, &mut asked);
    assert!(asked.len() >= 12, "{asked:?}");
    for expression in &asked {
        assert_eq!(strangers(expression), [""; 0], "{expression}");
    }
    let titles: BTreeSet<&str> =
        dashboard["panels"].as_array().unwrap().iter().filter_map(|panel| panel["title"].as_str()).collect();
    assert_eq!(titles.len(), dashboard["panels"].as_array().unwrap().len(), "each panel says what it shows");
    assert_eq!(strangers("rate(cooperage_nothing_total[5m])"), ["cooperage_nothing_total"]);
    assert_eq!(strangers("sum by (colour) (cooperage_clusters{shape=\"x\"})"), ["colour", "shape"]);
}

/// All queries in a document.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                match value.as_str() {
                    Some(text) if key == "expr" => found.push(text.to_owned()),
                    _ => expressions(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

/// Words of a query that are none of Prometheus' language, of our figures, or of their labels.
fn strangers(expression: &str) -> Vec<&str> {
    const LANGUAGE: [&str; 14] = [
        "sum",
        "by",
        "rate",
        "increase",
        "histogram_quantile",
        "le",
        "max",
        "min_over_time",
        "and",
        "or",
        "up",
        "job",
        "m",
        "__rate_interval",
    ];
    // What stands in quotes or brackets is a value or a length of time.
    let mut plain = Vec::new();
    let mut rest = expression;
    while let Some(at) = rest.find(['"', '[']) {
        plain.push(&rest[..at]);
        let close = if rest[at..].starts_with('"') { '"' } else { ']' };
        rest = rest[at + 1..].split_once(close).map_or("", |(_, behind)| behind);
    }
    plain.push(rest);
    let is_known = |word: &str| {
        LANGUAGE.contains(&word)
            || ALL.iter().any(|metric| {
                let parts = ["_bucket", "_sum", "_count"];
                let is_part = |end: &str| word.strip_suffix(end) == Some(metric.name);
                metric.name == word
                    || metric.labels.contains(&word)
                    || (matches!(metric.sort, Sort::Histogram(_)) && parts.into_iter().any(is_part))
            })
    };
    plain
        .into_iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !is_known(word))
        .collect()
}
