//! Why tasks wait, and which of those that run take longer than their like.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use actix_web::{HttpResponse, web};
use cooperage_actors::estimate::Estimates;
use cooperage_actors::pace::Pace;
use cooperage_actors::registry::FindPool;
use cooperage_actors::worker_pool::{GetStanding, Standing};
use cooperage_domain::cluster::{Cluster, Job, JobStatus, Task, TaskState, WaitReason, budget};
use cooperage_domain::id::{ClusterId, JobId};
use serde_json::{Value, json};

use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// Whom to ask about tasks that wait or run.
pub struct Looker<'a> {
    /// How many tasks run at once.
    pub workers: NonZeroUsize,
    /// What was foreseen of tasks when they were planned, by number, in ms.
    foreseen: BTreeMap<u32, u64>,
    /// How long tasks take.
    pub estimates: &'a Estimates,
    /// How the tenant's workers stand; `None` when nobody waits for them.
    pub standing: Option<Standing>,
    /// The time, in ms since 1970.
    pub now: i64,
}

/// `GET /v2/clusters/{id}/waiting`: every task of the job under way that waits, with its reasons.
pub async fn get(
    state: web::Data<AppState>,
    identity: Identity,
    id: web::Path<String>,
) -> Result<HttpResponse, Problem> {
    let cluster = state.cluster(&identity, &id).await?;
    let looker = look(&state, &cluster).await?;
    let job = cluster.latest_job();
    let tasks = |numbers: Vec<u32>| -> Vec<&Task> {
        numbers.iter().filter_map(|number| job?.tasks.get(number)).collect()
    };
    let waiting: Vec<Value> = tasks(budget::waiting(&cluster))
        .into_iter()
        .map(|task| {
            let mut shown = named(&cluster, task);
            shown["readySince"] = json!(task.ready_since);
            shown["waiting"] = json!(looker.reasons(&cluster, task));
            shown
        })
        .collect();
    let running = job.map(|job| job.running.iter().copied().collect()).unwrap_or_default();
    let straggling: Vec<Value> = tasks(running)
        .into_iter()
        .filter_map(|task| {
            let mut shown = named(&cluster, task);
            shown["typicalMs"] = json!(looker.straggles(&cluster, task)?);
            Some(shown)
        })
        .collect();
    Ok(HttpResponse::Ok().json(json!({
        "clusterId": cluster.id,
        "jobId": job.map(|job| job.id),
        "status": job.map(|job| job.status),
        "waiting": waiting,
        "straggling": straggling,
    })))
}

fn named(cluster: &Cluster, task: &Task) -> Value {
    json!({
        "id": task.id,
        "title": budget::title(cluster, task),
        "taskName": task.name,
        "nodeId": task.node,
        "service": task.service.as_deref().unwrap_or_default(),
    })
}

/// What is known of the workers of a cluster, if a job of it may need them.
///
/// # Errors
/// When nobody knows, because the server is stopping.
pub async fn look<'a>(state: &'a AppState, cluster: &Cluster) -> Result<Looker<'a>, Problem> {
    let is_open = cluster.latest_job().is_some_and(|job| job.status == JobStatus::Running);
    let standing = if is_open {
        let tenant = cluster.account.tenant_id.clone();
        let pool = state.registry.send(FindPool { tenant }).await.map_err(Problem::internal)?;
        Some(pool.send(GetStanding { cluster: cluster.id }).await.map_err(Problem::internal)?)
    } else {
        None
    };
    Ok(Looker {
        workers: state.workers(),
        foreseen: BTreeMap::new(),
        estimates: &state.estimates,
        standing,
        now: state.clock.now(),
    })
}

impl Looker<'_> {
    /// With what was foreseen of all jobs of a cluster, or of one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn remembering(
        mut self,
        state: &web::Data<AppState>,
        cluster: ClusterId,
        job: Option<JobId>,
    ) -> Result<Self, Problem> {
        self.foreseen = state.blocking(move |state| Ok(state.store.foreseen(cluster, job)?)).await?;
        Ok(self)
    }

    /// How long tasks of a job, by number, were taken to need when they were planned; where that is not known, what is known today.
    pub fn lengths(&self, cluster: &Cluster, job: &Job, numbers: &[u32]) -> Vec<Duration> {
        let known =
            |number| job.tasks.get(number).map_or(Duration::ZERO, |task| self.estimates.of(cluster, task));
        let said = |number| self.foreseen.get(number).map(|ms| Duration::from_millis(*ms));
        numbers.iter().map(|number| said(number).unwrap_or_else(|| known(number))).collect()
    }

    /// Why a task of the latest job waits; empty when it does not.
    pub fn reasons(&self, cluster: &Cluster, task: &Task) -> Vec<WaitReason> {
        let reasons = budget::why_waiting(cluster, task.id.number, self.now);
        match &self.standing {
            Some(standing) if reasons.is_empty() && task.state == TaskState::Waiting => {
                vec![standing.reason(&task.node)]
            }
            _ => reasons,
        }
    }

    /// How long tasks take that are like one that runs and takes longer, in ms; `None` for those that do not.
    pub fn straggles(&self, cluster: &Cluster, task: &Task) -> Option<u64> {
        let began = task.open_attempt()?.started;
        let expected = self.estimates.expected(cluster, task)?;
        let taken = Duration::from_millis(u64::try_from(self.now.saturating_sub(began)).unwrap_or(0));
        let late = taken > expected.straggles_after(Pace::default().straggler_floor);
        late.then(|| u64::try_from(expected.typical.as_millis()).unwrap_or(u64::MAX))
    }
}
