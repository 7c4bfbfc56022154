//! `cooperage cluster jobs`

use cooperage_domain::cluster::TaskState;
use serde_json::Value;

use super::find;
use super::shapes::Plan;
use crate::cli::args::Seen;
use crate::cli::client::{Client, understood};
use crate::cli::duration::{local_time, now, short};
use crate::cli::failure::Failure;
use crate::cli::progress::doing;
use crate::cli::screen::Screen;
use crate::cli::table::{Table, status};
use crate::cli::watching::{View, show};

/// Lists the jobs of a cluster, newest first.
///
/// # Errors
/// When there is no such cluster.
pub async fn run(seen: &Seen, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let path = format!("/v2/clusters/{}/plans", find::id_of(client, &seen.which.cluster).await?);
    show(screen, &seen.watch, async || {
        let value: Value = client.get(&path).await?;
        let jobs: Vec<Plan> = understood(&path, &value)?;
        Ok(View { text: table(&jobs, now()), value })
    })
    .await
}

fn table(jobs: &[Plan], now: i64) -> String {
    let mut table = Table::new(["JOB", "WHAT", "STATUS", "TASKS", "BEGAN", "TOOK", "MESSAGE"]);
    for job in jobs {
        let done = job.tasks.iter().filter(|task| task.status == TaskState::Done).count();
        table.row([
            job.id.clone(),
            doing(&job.action),
            status(job.status.as_str()),
            format!("{done}/{}", job.tasks.len()),
            local_time(job.start_time),
            short(job.end_time.unwrap_or(now) - job.start_time),
            job.message.clone().unwrap_or_default(),
        ]);
    }
    table.render("no jobs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::progress::samples::half_way;

    #[test]
    fn a_job_is_told_with_how_far_it_is() {
        let (_, plan) = half_way();
        let text = console::strip_ansi_codes(&table(std::slice::from_ref(&plan), plan.start_time + 5_000))
            .into_owned();
        let line = text.lines().nth(1).unwrap();
        let done = plan.tasks.iter().filter(|task| task.status == TaskState::Done).count();
        assert!(line.starts_with(&plan.id) && line.contains("5.0 s"), "{text}");
        assert!(line.contains(&format!(" {done}/{} ", plan.tasks.len())), "{text}");
    }
}
