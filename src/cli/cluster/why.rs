//! `cooperage cluster why`

use serde::Deserialize;
use serde_json::Value;

use super::find;
use super::shapes::Waiting;
use crate::cli::args::WhyArgs;
use crate::cli::client::{Client, understood};
use crate::cli::duration::short;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::watching::{View, show};

/// What the server says about tasks that wait, and about those that take long.
#[derive(Debug, Deserialize)]
struct Answer {
    waiting: Vec<Task>,
    straggling: Vec<Task>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Task {
    id: String,
    title: String,
    #[serde(default)]
    waiting: Vec<Waiting>,
    #[serde(default)]
    typical_ms: i64,
}

/// Says of every task that waits why it does, or of one.
///
/// # Errors
/// When there is no such cluster, or no such task waits.
pub async fn run(args: &WhyArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = find::id_of(client, &args.which.cluster).await?;
    let path = format!("/v2/clusters/{id}/waiting");
    show(screen, &args.watch, async || {
        let value: Value = client.get(&path).await?;
        let answer: Answer = understood(&path, &value)?;
        let text = match &args.task {
            None => told(&answer),
            Some(named) => of_one(&answer, named).ok_or_else(|| {
                let fault = format!("no task {named:?} of cluster {id} waits");
                Failure::unknown(fault, format!("list those that wait: cooperage cluster why {id}"))
            })?,
        };
        Ok(View { value, text })
    })
    .await
}

/// A task is named by its id, the number in it, or how it is called.
fn of_one(answer: &Answer, named: &str) -> Option<String> {
    let is = |task: &&Task| {
        let number = task.id.rsplit('-').next().unwrap_or_default().trim_start_matches('0');
        task.id == named || number == named || task.title.eq_ignore_ascii_case(named)
    };
    answer.waiting.iter().find(is).map(lines)
}

fn told(answer: &Answer) -> String {
    let mut text: String = answer.waiting.iter().map(lines).collect();
    for task in &answer.straggling {
        let typical = short(task.typical_ms);
        text +=
            &format!("{} ({}) runs and takes longer than usual: {typical} as a rule\n", task.title, task.id);
    }
    if text.is_empty() { "nothing waits\n".to_owned() } else { text }
}

fn lines(task: &Task) -> String {
    let head = format!("{} ({}) waits", task.title, task.id);
    match task.waiting.as_slice() {
        [one] => format!("{head} {}\n", one.text),
        several => {
            let reasons: String = several.iter().map(|reason| format!("\n  {}", reason.text)).collect();
            format!("{head}{reasons}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> Answer {
        let reason = |code: &str, text: &str| json!({"code": code, "text": text});
        serde_json::from_value(json!({
            "waiting": [
                {"id": "00000001-002-007", "title": "START db on n1",
                    "waiting": [reason("workers_busy", "for a worker: all 4 of the tenant are busy")]},
                {"id": "00000001-002-010", "title": "START web on n2", "waiting": [
                    reason("job_paused", "for its job, which is paused, to be resumed"),
                    reason("predecessor", "for START db on n1, which may start but has not begun"),
                ]},
            ],
            "straggling": [{"id": "00000001-002-003", "title": "INSTALL db on n3", "typicalMs": 4_000}],
        }))
        .unwrap()
    }

    #[test]
    fn every_task_is_told_with_its_reasons() {
        assert_eq!(
            told(&answer()),
            "START db on n1 (00000001-002-007) waits for a worker: all 4 of the tenant are busy\n\
             START web on n2 (00000001-002-010) waits\n\
             \x20 for its job, which is paused, to be resumed\n\
             \x20 for START db on n1, which may start but has not begun\n\
             INSTALL db on n3 (00000001-002-003) runs and takes longer than usual: 4.0 s as a rule\n"
        );
        assert_eq!(told(&Answer { waiting: Vec::new(), straggling: Vec::new() }), "nothing waits\n");
    }

    #[test]
    fn one_is_named_by_id_number_or_title() {
        for name in ["00000001-002-010", "10", "start WEB on n2"] {
            assert!(of_one(&answer(), name).unwrap().starts_with("START web on n2"), "{name}");
        }
        assert_eq!(of_one(&answer(), "3"), None);
    }
}
