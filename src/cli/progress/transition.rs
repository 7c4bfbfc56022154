//! What happened between two looks at a job: for those who read a log instead of a moving picture.

use std::collections::HashMap;

use crate::cli::cluster::shapes::{Attempt, Details, Plan, Task};
use crate::cli::duration::short;

/// One line for each attempt that began or ended since `before`, in order of time.
#[must_use]
pub fn transitions(details: &Details, before: Option<&Plan>, after: &Plan) -> Vec<String> {
    let names = details.node_names();
    let old: HashMap<&str, &Task> =
        before.into_iter().flat_map(|plan| &plan.tasks).map(|task| (task.id.as_str(), task)).collect();
    let mut lines: Vec<(i64, String)> = Vec::new();
    for task in &after.tasks {
        let seen = old.get(task.id.as_str()).map_or(&[][..], |task| task.attempts.as_slice());
        let node = names.get(task.node_id.as_str()).map_or("", String::as_str);
        for attempt in &task.attempts {
            let known = seen.iter().find(|known| known.number == attempt.number);
            if let Some((at, words)) = news(known, attempt) {
                let since = short(at - after.start_time);
                lines.push((at, format!("{since:>9}  {node}  {}  {words}", task.title())));
            }
        }
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

/// When and what, if an attempt is not as it was known.
fn news(known: Option<&Attempt>, attempt: &Attempt) -> Option<(i64, String)> {
    let again = if attempt.number > 1 { format!(" (attempt {})", attempt.number) } else { String::new() };
    match (known, attempt.end_time) {
        (Some(known), _) if known == attempt => None,
        (_, None) => Some((attempt.start_time, format!("begins{again}"))),
        (_, Some(end)) => {
            let took = short(end - attempt.start_time);
            let words = match attempt.code {
                Some(0) => format!("done in {took}{again}"),
                _ => format!("failed after {took}{again}"),
            };
            Some((end, words))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::half_way;
    use super::*;
    use crate::cli::golden::assert_golden;

    #[test]
    fn the_first_look_tells_everything_and_the_second_nothing() {
        let (details, plan) = half_way();
        let all = transitions(&details, None, &plan);
        assert_golden("src/cli/progress/golden/transitions.txt", &(all.join("\n") + "\n"));
        assert_eq!(transitions(&details, Some(&plan), &plan), Vec::<String>::new());
    }

    #[test]
    fn an_attempt_that_ended_is_told_once_more() {
        let (details, plan) = half_way();
        let mut later = plan.clone();
        let open = |task: &&mut Task| task.open_attempt().is_some();
        let last = later.tasks.iter_mut().find(open).and_then(|task| task.attempts.last_mut()).unwrap();
        last.end_time = Some(last.start_time + 100);
        last.code = Some(0);
        let news = transitions(&details, Some(&plan), &later);
        assert_eq!(news.len(), 1);
        assert!(news[0].ends_with("INSTALL nginx  done in 0.1 s (attempt 2)"), "{news:?}");
    }
}
