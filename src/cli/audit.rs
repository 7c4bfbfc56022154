//! `cooperage audit` and `cooperage audit verify`

use serde::Deserialize;
use serde_json::Value;

use super::args::{AuditArgs, AuditCommand, AuditFilterArgs};
use super::client::{Client, ClientFault, segment};
use super::duration::{local_time, now, parse};
use super::failure::Failure;
use super::screen::Screen;
use super::table::{Table, status};

/// Entries that are asked for at once.
const PAGE: u32 = 1_000;
/// How much of what a change was about is shown in a row, in characters.
const LONGEST_OBJECT: usize = 60;

/// Shows or checks the audit log.
///
/// # Errors
/// When the server refuses, or the log is broken.
pub async fn run(args: AuditArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match args.command {
        Some(AuditCommand::Verify) => verify(client, screen).await,
        None => list(&args.filter, client, screen).await,
    }
}

#[derive(Debug, Deserialize)]
struct Page {
    entries: Vec<Value>,
    next: Option<u64>,
}

async fn list(filter: &AuditFilterArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let query = query(filter, now())?;
    let mut entries = Vec::new();
    let mut cursor = String::new();
    while (entries.len() as u32) < filter.limit {
        let limit = PAGE.min(filter.limit - entries.len() as u32);
        let page: Page = client.get(&format!("/v2/audit?limit={limit}{query}{cursor}")).await?;
        entries.extend(page.entries);
        let Some(next) = page.next else { break };
        cursor = format!("&cursor={next}");
    }
    screen.result(&entries, || table(&entries));
    Ok(())
}

/// What is asked for, behind other parameters.
fn query(filter: &AuditFilterArgs, now: i64) -> Result<String, Failure> {
    let mut query = String::new();
    for (option, name, ago) in [("--since", "since", &filter.since), ("--until", "until", &filter.until)] {
        if let Some(ago) = ago {
            let ago = i64::try_from(parse(option, ago)?.as_millis()).unwrap_or(i64::MAX);
            query.push_str(&format!("&{name}={}", now.saturating_sub(ago)));
        }
    }
    let outcome = filter.outcome.map(|outcome| outcome.as_str().to_owned());
    for (name, value) in
        [("user", &filter.by), ("action", &filter.action), ("object", &filter.object), ("outcome", &outcome)]
    {
        if let Some(value) = value {
            query.push_str(&format!("&{name}={}", segment(value)));
        }
    }
    Ok(query)
}

fn table(entries: &[Value]) -> String {
    let mut table = Table::new(["TIME", "WHO", "FROM", "ACTION", "OBJECT", "OUTCOME", "REQUEST"]);
    for entry in entries {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        let from = if text("forwarded").is_empty() { text("peer") } else { text("forwarded") };
        let who = if text("user").is_empty() { text("credential") } else { text("user") };
        let outcome = format!("{} {}", text("outcome"), entry["status"]);
        table.row([
            local_time(entry["at"].as_i64().unwrap_or_default()),
            who,
            from,
            text("action"),
            begun(&text("object")),
            if text("outcome") == "done" {
                outcome
            } else {
                outcome.replace(&text("outcome"), &coloured(&text("outcome")))
            },
            text("request"),
        ]);
    }
    table.render("nothing was done")
}

/// As much of a text as a row has room for; `-o json` has all of it.
fn begun(text: &str) -> String {
    match text.char_indices().nth(LONGEST_OBJECT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn coloured(outcome: &str) -> String {
    let looks_like = if outcome == "refused" { "pending" } else { "failed" };
    status(looks_like).replace(looks_like, outcome)
}

#[derive(Debug, Deserialize)]
struct Check {
    intact: bool,
    entries: Option<u64>,
    broken: Option<Broken>,
    anchor: Link,
    head: Link,
}

#[derive(Debug, Deserialize)]
struct Broken {
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Link {
    sequence: u64,
    hash: String,
}

async fn verify(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let path = "/v2/audit/verify";
    let raw: Value = client.get(path).await?;
    let check: Check = serde_json::from_value(raw.clone())
        .map_err(|fault| ClientFault::NotUnderstood { path: path.to_owned(), reason: fault.to_string() })?;
    screen.result(&raw, || told(&check));
    if check.intact {
        return Ok(());
    }
    let reason = check.broken.map_or_else(String::new, |broken| broken.reason);
    Err(Failure::refused(
        format!("the audit log is broken: {reason}"),
        "compare it with a backup of the database, and find out who can write to the database",
    ))
}

fn told(check: &Check) -> String {
    let Some(entries) = check.entries.filter(|_| check.intact) else { return String::new() };
    let removed = match check.anchor.sequence {
        0 => String::new(),
        through => format!("; those up to {through} were removed by the retention setting"),
    };
    format!("intact: {entries} entries{removed}\nlast entry: {} {}", check.head.sequence, check.head.hash)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::args::OutcomeArg;

    #[test]
    fn options_become_a_query() {
        let filter = AuditFilterArgs {
            since: Some("1h".to_owned()),
            by: Some("ann b".to_owned()),
            action: Some("DELETE /v2".to_owned()),
            outcome: Some(OutcomeArg::Refused),
            ..AuditFilterArgs::default()
        };
        assert_eq!(
            query(&filter, 3_700_000).unwrap(),
            "&since=100000&user=ann%20b&action=DELETE%20%2Fv2&outcome=refused"
        );
        let soon = AuditFilterArgs { since: Some("soon".to_owned()), ..filter };
        assert!(query(&soon, 0).unwrap_err().to_string().contains("--since"));
    }

    #[test]
    fn entries_and_checks_are_told() {
        let entry = json!({"at": 0, "user": "ann", "peer": "10.0.0.1", "forwarded": "1.2.3.4", "action": "PUT /v2/x",
            "object": "/v2/x", "status": 403, "outcome": "refused", "request": "r-1"});
        let text = table(&[entry]);
        let line = console::strip_ansi_codes(text.lines().nth(1).unwrap()).into_owned();
        assert!(line.ends_with("ann  1.2.3.4  PUT /v2/x  /v2/x   refused 403  r-1"), "{line}");
        let check = |intact: bool, anchor: u64| {
            let check = json!({"intact": intact, "entries": intact.then_some(7), "broken": {"reason": "x"},
                "anchor": {"sequence": anchor, "hash": "a"}, "head": {"sequence": 9, "hash": "h"}});
            told(&serde_json::from_value(check).unwrap())
        };
        assert_eq!(check(true, 0), "intact: 7 entries\nlast entry: 9 h");
        assert!(check(true, 2).contains("up to 2 were removed"));
        assert_eq!(check(false, 0), "");
    }
}
