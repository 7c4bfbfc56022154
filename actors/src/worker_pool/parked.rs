//! Workers elsewhere that wait for a task, by provisioner. Provisioners are given tasks in turn, so that none is full while
//! another one has nothing to do.

use std::collections::VecDeque;

use actix::{AsyncContext, Handler, Message};
use cooperage_domain::task::TaskOrder;
use tokio::sync::oneshot;

use super::WorkerPool;
use crate::console::Context;

/// Workers that wait.
#[derive(Debug, Default)]
pub(super) struct Parked(VecDeque<Group>);

#[derive(Debug)]
struct Group {
    provisioner: String,
    ticket: u64,
    workers: VecDeque<(String, oneshot::Sender<TaskOrder>)>,
}

/// Workers of a provisioner wait for tasks. What of the same provisioner waited before waits no more: it has asked anew.
///
/// A place that is dropped waits no more either.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Park {
    /// Id of the provisioner.
    pub provisioner: String,
    /// By which these are told from those of another time.
    pub ticket: u64,
    /// Names of workers, with the place where each waits.
    pub workers: Vec<(String, oneshot::Sender<TaskOrder>)>,
}

/// Workers of a provisioner wait no more. Those that were given a task meanwhile are about to get it.
#[derive(Debug, Clone, Message)]
#[rtype(result = "()")]
pub struct Dismiss {
    /// Id of the provisioner.
    pub provisioner: String,
    /// Only those that came with this; without it all.
    pub ticket: Option<u64>,
}

impl Parked {
    /// The worker that is next.
    pub(super) fn next(&mut self) -> Option<(String, oneshot::Sender<TaskOrder>)> {
        while let Some(mut group) = self.0.pop_front() {
            while let Some((name, place)) = group.workers.pop_front() {
                if place.is_closed() {
                    continue;
                }
                if !group.workers.is_empty() {
                    self.0.push_back(group);
                }
                return Some((name, place));
            }
        }
        None
    }

    /// Workers that wait.
    pub(super) fn len(&self) -> usize {
        let waits = |(_, place): &&(String, oneshot::Sender<TaskOrder>)| !place.is_closed();
        self.0.iter().map(|group| group.workers.iter().filter(waits).count()).sum()
    }

    /// Whether any worker waits.
    pub(super) fn has_any(&self) -> bool {
        self.0.iter().any(|group| group.workers.iter().any(|(_, place)| !place.is_closed()))
    }

    fn dismiss(&mut self, provisioner: &str, ticket: Option<u64>) {
        let meant = |group: &Group| group.provisioner == provisioner;
        self.0.retain(|group| !(meant(group) && ticket.is_none_or(|ticket| ticket == group.ticket)));
    }
}

impl Handler<Park> for WorkerPool {
    type Result = ();

    fn handle(&mut self, park: Park, ctx: &mut Context<Self>) {
        let Park { provisioner, ticket, workers } = park;
        self.parked.dismiss(&provisioner, None);
        self.parked.0.push_back(Group { provisioner, ticket, workers: workers.into() });
        self.grant(&ctx.address());
    }
}

impl Handler<Dismiss> for WorkerPool {
    type Result = ();

    fn handle(&mut self, Dismiss { provisioner, ticket }: Dismiss, _: &mut Context<Self>) {
        self.parked.dismiss(&provisioner, ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Places = Vec<oneshot::Receiver<TaskOrder>>;

    fn group(provisioner: &str, ticket: u64, workers: usize) -> (Group, Places) {
        let (places, waiting) = (0..workers).map(|_| oneshot::channel()).unzip::<_, _, Vec<_>, Vec<_>>();
        let names = (1..=workers).map(|number| format!("{provisioner}.{number}"));
        let workers = names.zip(places).collect();
        (Group { provisioner: provisioner.to_owned(), ticket, workers }, waiting)
    }

    fn names(parked: &mut Parked) -> Vec<String> {
        std::iter::from_fn(|| parked.next()).map(|(name, _)| name).collect()
    }

    #[test]
    fn provisioners_take_turns_and_who_is_gone_is_skipped() {
        let ((a, mut at_a), (b, _at_b)) = (group("a", 1, 3), group("b", 2, 2));
        let mut parked = Parked([a, b].into());
        drop(at_a.remove(1));
        assert_eq!(names(&mut parked), ["a.1", "b.1", "a.3", "b.2"]);
    }

    #[test]
    fn only_those_meant_are_dismissed() {
        let ((a, mut at_a), (b, _at_b)) = (group("a", 1, 1), group("b", 2, 1));
        let mut parked = Parked([a, b].into());
        parked.dismiss("a", Some(7));
        assert!(at_a[0].try_recv().is_err_and(|fault| fault == oneshot::error::TryRecvError::Empty));
        parked.dismiss("a", Some(1));
        assert!(at_a[0].try_recv().is_err_and(|fault| fault == oneshot::error::TryRecvError::Closed));
        assert_eq!(names(&mut parked), ["b.1"]);
    }
}
