//! What messages are about, without what they say.

use std::any::Any;
use std::sync::Arc;

use actix::Addr;
use cooperage_domain::cluster::Cluster as State;
use cooperage_domain::id::ClusterId;

use crate::cluster::{Begin, Begun, Cluster, OperateError, Report};
use crate::janitor::{Arm, Deadline, Disarm, TimeUp};
use crate::node::{Follow, Halt, Offer, Recorded};
use crate::provisioner::{Cancel, Execute, Execution, Forget};
use crate::registry::{Create, Find, FindError, Look, Stopped, Tell, TellError};
use crate::worker_pool::RequestSlot;

/// A task, an attempt or a cluster, by their numbers.
pub(super) fn of(message: &dyn Any) -> Option<String> {
    let task = |task: u32| Some(format!("task {task}"));
    let attempt = |task: u32, attempt: u32| Some(format!("task {task}, attempt {attempt}"));
    let execution = |of: &Execution| Some(format!("task {}, attempt {}", of.task, of.attempt));
    let cluster = |id: ClusterId| Some(format!("cluster {id}"));
    if let Some(offer) = message.downcast_ref::<Offer>() {
        task(offer.task)
    } else if let Some(begin) = message.downcast_ref::<Begin>() {
        task(begin.task)
    } else if let Some(report) = message.downcast_ref::<Report>() {
        attempt(report.task, report.attempt)
    } else if let Some(recorded) = message.downcast_ref::<Recorded>() {
        attempt(recorded.task, recorded.attempt)
    } else if let Some(halt) = message.downcast_ref::<Halt>() {
        attempt(halt.task, halt.attempt)
    } else if let Some(Follow(begun)) = message.downcast_ref() {
        attempt(begun.order.task_id.number, begun.order.attempt)
    } else if let Some(Execute(context)) = message.downcast_ref() {
        Some(format!("task {}, attempt {}", context.order.task_id, context.order.attempt))
    } else if let Some(Cancel(of)) = message.downcast_ref() {
        execution(of)
    } else if let Some(Forget(of)) = message.downcast_ref() {
        execution(of)
    } else if let Some(request) = message.downcast_ref::<RequestSlot>() {
        Some(format!("node {}", request.node))
    } else if let Some(find) = message.downcast_ref::<Find>() {
        cluster(find.id)
    } else if let Some(look) = message.downcast_ref::<Look>() {
        cluster(look.id)
    } else if let Some(tell) = message.downcast_ref::<Tell>() {
        cluster(tell.id)
    } else if let Some(create) = message.downcast_ref::<Create>() {
        cluster(create.id)
    } else if let Some(stopped) = message.downcast_ref::<Stopped>() {
        cluster(stopped.id)
    } else {
        deadline(message)
    }
}

/// What a deadline is about.
fn deadline(message: &dyn Any) -> Option<String> {
    let armed = message.downcast_ref::<Arm>().map(|arm| &arm.deadline);
    let deadline = armed
        .or_else(|| message.downcast_ref().map(|Disarm(deadline)| deadline))
        .or_else(|| message.downcast_ref().map(|TimeUp(deadline)| deadline))?;
    Some(match deadline {
        Deadline::Attempt { task, attempt, .. } => format!("limit of task {task}, attempt {attempt}"),
        Deadline::Pause { task, .. } => format!("pause before task {task}"),
        Deadline::Queue { task, .. } => format!("wait of task {task}"),
        Deadline::Straggler { task, attempt, .. } => format!("pace of task {task}, attempt {attempt}"),
        Deadline::Lease(id) => format!("lease of cluster {id}"),
        Deadline::LeaseWarning(id) => format!("warning before the lease of cluster {id} ends"),
        Deadline::Idle(id) => format!("rest of cluster {id}"),
        Deadline::Probes => "probes".to_owned(),
        Deadline::Heartbeat(provisioner) => format!("heartbeat of provisioner {provisioner}"),
    })
}

/// Whether an answer says that something was not done. Only those are known that clusters and the registry give.
pub(super) fn is_refusal(answer: &dyn Any) -> bool {
    fn failed<T: 'static, E: 'static>(answer: &dyn Any) -> bool {
        answer.downcast_ref::<Result<T, E>>().is_some_and(Result::is_err)
    }
    failed::<(), OperateError>(answer)
        || failed::<Begun, OperateError>(answer)
        || failed::<Arc<State>, OperateError>(answer)
        || failed::<Arc<State>, TellError>(answer)
        || failed::<Addr<Cluster>, FindError>(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_by_numbers_and_refusals_are_known() {
        assert_eq!(of(&Begin { task: 3, worker: "secret".to_owned() }).as_deref(), Some("task 3"));
        let time_up = TimeUp(Deadline::Idle(ClusterId(7)));
        assert_eq!(of(&time_up).as_deref(), Some("rest of cluster 00000007"));
        assert_eq!(of(&"anything else"), None);
        assert!(is_refusal(&Err::<(), _>(OperateError::Gone)) && !is_refusal(&Ok::<(), OperateError>(())));
        assert!(is_refusal(&Err::<Arc<State>, _>(TellError::Operate(OperateError::Gone))));
    }
}
