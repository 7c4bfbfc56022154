//! `cooperage cluster history`

use serde_json::Value;

use super::find;
use super::planned::parameter;
use crate::cli::args::HistoryArgs;
use crate::cli::client::Client;
use crate::cli::duration::local_time;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::Table;

/// Shows what happened to a cluster, newest first.
///
/// # Errors
/// When there is no such cluster or job.
pub async fn run(args: &HistoryArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = find::id_of(client, &args.which.cluster).await?;
    let mut path = format!("/v2/clusters/{id}/history?limit={}", args.limit);
    path.extend(args.job.as_deref().map(|job| parameter("job", job)));
    path.extend(args.before.map(|before| parameter("before", &before.to_string())));
    if !args.kind.is_empty() {
        path.push_str(&parameter("kind", &args.kind.join(",")));
    }
    let events: Vec<Value> = client.get(&path).await?;
    screen.result_named(&events, || revisions(&events), || table(&events, screen.is_wide()));
    let last = events.last().and_then(|event| event["revision"].as_u64()).filter(|last| *last > 1);
    if let Some(last) = last.filter(|_| events.len() == args.limit as usize) {
        screen.note(&format!("there may be more: add --before {last}"));
    }
    Ok(())
}

fn revisions(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| event["revision"].to_string()).collect()
}

fn table(events: &[Value], is_wide: bool) -> String {
    let mut table = Table::wide(is_wide, ["REVISION", "TIME", "WHO", "WHAT"], ["JOB", "KIND"]);
    for event in events {
        let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
        table.wide_row(
            [
                event["revision"].to_string(),
                local_time(event["time"].as_i64().unwrap_or_default()),
                text("who"),
                text("text"),
            ],
            [text("job"), text("kind")],
        );
    }
    table.render("nothing happened")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_a_line_with_its_revision() {
        let events =
            [json!({"revision": 12, "time": 0, "who": "ann", "kind": "job_paused", "job": "00000042-003",
            "text": "job 00000042-003 was paused"})];
        let told = console::strip_ansi_codes(&table(&events, true)).into_owned();
        let line = told.lines().nth(1).unwrap();
        assert!(line.starts_with("12 ") && line.ends_with("00000042-003  job_paused"), "{told}");
        assert!(!table(&events, false).contains("job_paused"));
        assert_eq!(revisions(&events), ["12"]);
    }
}
