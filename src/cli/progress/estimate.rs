//! When a running job will be done, told anew with every task that ends.

use std::collections::HashMap;

use cooperage_domain::cluster::TaskState;

use crate::cli::cluster::shapes::{Plan, Task};

/// When the last task will end, in ms since 1970, if enough workers are free: along the graph, with what tasks took where
/// they are done, and what they are expected to take where not. One that takes longer than expected is taken to end now.
#[must_use]
pub fn expected_end(plan: &Plan, now: i64) -> i64 {
    let mut ends: HashMap<&str, i64> = HashMap::with_capacity(plan.tasks.len());
    // The plan names each task behind those it waits for.
    for task in &plan.tasks {
        let free = task.after.iter().filter_map(|id| ends.get(id.as_str())).copied().max();
        ends.insert(&task.id, end(task, free.unwrap_or(plan.start_time), now));
    }
    plan.end_time.or_else(|| ends.values().copied().max()).unwrap_or(now)
}

fn end(task: &Task, free: i64, now: i64) -> i64 {
    let last = task.attempts.last();
    match (task.status, last) {
        (TaskState::Done | TaskState::Failed, Some(last)) => last.end_time.unwrap_or(now),
        (TaskState::Running, Some(last)) => (last.start_time + task.estimate_ms).max(now),
        _ => free.max(now) + task.estimate_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::plan;
    use super::*;

    #[test]
    fn what_is_done_counts_as_it_was_and_the_rest_as_expected() {
        // (status, attempt start and end, estimate, after)
        let plan = plan(&[
            ("done", Some((0, Some(400))), 100, &[]),
            ("running", Some((400, None)), 1000, &[0]),
            ("waiting", None, 300, &[1]),
            ("waiting", None, 50, &[0]),
        ]);
        assert_eq!(expected_end(&plan, 500), 1700, "the running task as expected, then the one behind it");
        assert_eq!(expected_end(&plan, 2000), 2300, "the running task takes longer than expected");
    }

    #[test]
    fn a_last_task_that_takes_longer_than_expected_ends_now() {
        let plan = plan(&[("running", Some((0, None)), 100, &[])]);
        assert_eq!((expected_end(&plan, 50), expected_end(&plan, 900)), (100, 900));
    }

    #[test]
    fn a_job_without_tasks_ends_now() {
        assert_eq!(expected_end(&plan(&[]), 7), 7);
    }
}
