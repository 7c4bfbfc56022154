//! Tasks that nobody takes, and attempts that take longer than their like.

use actix::fut::WrapFuture;
use actix::{ActorFutureExt, AsyncContext};
use cooperage_domain::cluster::{self, Command, Task, budget};
use slog::warn;

use super::Cluster;
use crate::console::Context;
use crate::janitor::{Arm, Deadline, Disarm};
use crate::worker_pool::GetStanding;

impl Cluster {
    /// At `at` a task has waited for a worker for too long.
    pub(super) fn watch_queue(&self, task: u32, at: i64, ctx: &Context<Self>) {
        self.surroundings.colleagues.janitor.do_send(Arm {
            deadline: Deadline::Queue { cluster: self.id, task },
            at,
            whom: ctx.address().recipient(),
        });
    }

    /// Somebody took it.
    pub(super) fn leave_queue(&self, task: u32) {
        let limits = self.state.as_deref().map(|state| &state.limits);
        if limits.is_some_and(|limits| limits.queue_timeout > 0 || !limits.queue_timeouts.is_empty()) {
            let deadline = Deadline::Queue { cluster: self.id, task };
            self.surroundings.colleagues.janitor.do_send(Disarm(deadline));
        }
    }

    /// A task has waited for too long. What the workers are doing is asked first, to say it.
    pub(super) fn overdue(&mut self, task: u32, ctx: &mut Context<Self>) {
        let Some((_, found)) = self.waiting(task) else { return };
        let standing = self.surroundings.colleagues.pool.send(GetStanding { cluster: self.id });
        ctx.spawn(standing.into_actor(self).map(move |standing, actor, ctx| {
            let why = standing.unwrap_or_default().reason(&found.node).text;
            actor.give_up_waiting(task, why, ctx);
        }));
    }

    fn give_up_waiting(&mut self, task: u32, why: String, ctx: &mut Context<Self>) {
        match self.decide(Command::TimeOutQueue { task, why: why.clone() }) {
            Ok(events) if events.is_empty() => {
                if let Some((state, found)) = self.waiting(task) {
                    warn!(self.logger, "nobody takes a task"; "task" => budget::title(&state, &found), "it waits" => why);
                }
            }
            Ok(events) => self.record(events, "janitor".to_owned(), Box::new(|_, _, _| {}), ctx),
            // Something else than the want of a worker is in its way now: its time begins anew.
            Err(_) => {
                if let Some((state, found)) = self.waiting(task)
                    && let Some(wait) = state.limits.wait_of(found.name)
                {
                    let job = state.latest_job();
                    let deadline = job.and_then(|job| state.queue_deadline(job, &found)).unwrap_or(0);
                    let at = deadline.max(self.surroundings.clock.now().saturating_add(wait));
                    self.watch_queue(task, at, ctx);
                }
            }
        }
    }

    /// A task that may start, and the cluster it belongs to.
    fn waiting(&self, task: u32) -> Option<(std::sync::Arc<cluster::Cluster>, Task)> {
        let state = self.state.clone()?;
        let job = state.latest_job()?;
        let found = job.tasks.get(&task).filter(|_| job.ready.contains(&task)).cloned()?;
        Some((state, found))
    }

    /// An attempt is under way: it is looked at again when such tasks are done as a rule.
    pub(super) fn watch_pace(
        &mut self,
        state: &cluster::Cluster,
        task: u32,
        attempt: u32,
        ctx: &Context<Self>,
    ) {
        let Some(found) = state.latest_job().and_then(|job| job.tasks.get(&task)) else { return };
        let (Some(open), Some(expected)) =
            (found.open_attempt(), self.surroundings.estimates.expected(state, found))
        else {
            return;
        };
        self.paced.insert((task, attempt));
        let most = expected.straggles_after(self.surroundings.pace.straggler_floor);
        self.surroundings.colleagues.janitor.do_send(Arm {
            deadline: Deadline::Straggler { cluster: self.id, task, attempt },
            at: open.started.saturating_add(i64::try_from(most.as_millis()).unwrap_or(i64::MAX)),
            whom: ctx.address().recipient(),
        });
    }

    /// Its last attempt has ended.
    pub(super) fn leave_pace(&mut self, task: u32) {
        let job = self.state.as_deref().and_then(cluster::Cluster::latest_job);
        let last = job.and_then(|job| job.tasks.get(&task)?.attempts.last()).map(|last| last.number);
        if let Some(attempt) = last.filter(|attempt| self.paced.remove(&(task, *attempt))) {
            let deadline = Deadline::Straggler { cluster: self.id, task, attempt };
            self.surroundings.colleagues.janitor.do_send(Disarm(deadline));
        }
    }

    /// It is still under way: it is told once. What it does is left alone.
    pub(super) fn straggles(&self, task: u32, attempt: u32) {
        let Some(state) = self.state.as_deref() else { return };
        let found = state.latest_job().and_then(|job| job.tasks.get(&task));
        let open = found.filter(|task| task.open_attempt().is_some_and(|open| open.number == attempt));
        let Some(task) = open else { return };
        let typical =
            self.surroundings.estimates.expected(state, task).map_or(0, |it| it.typical.as_millis());
        warn!(self.logger, "a task takes longer than its like"; "task" => budget::title(state, task),
            "attempt" => attempt, "typical_ms" => typical);
        self.surroundings.estimates.count_straggler();
    }
}
