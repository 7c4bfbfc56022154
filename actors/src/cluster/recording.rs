//! Events on their way to the journal.
//!
//! ```text
//!   decide ──► apply ──► append … what is decided meanwhile goes into the next commit … Durable ──► act
//! ```
//!
//! A cluster does not wait for one commit before it goes on deciding. Its appends become durable in the order in which they
//! were given, or none of them from some point on: what is durable never builds upon what is not. Tasks that may start are
//! offered at once, since their begin is an event behind; everything that anybody outside sees or does waits until the events
//! that say so are durable.
//!
//! What failed because the database is away is given again, all of it in the same order, so that a short absence delays and
//! loses nothing. What is there already is acknowledged.

use std::collections::VecDeque;
use std::sync::Arc;

use actix::{AsyncContext, Handler, Message};
use cooperage_domain::cluster::{self, Effect, Event, apply};
use cooperage_schema::{Append, AppendError};
use slog::{error, warn};
use tokio::sync::oneshot;

use super::{Cluster, Done};
use crate::console::{Cause, Context, within};
use crate::journal::{MAX_TRIES, RecordError, Recorded, pause_after};
use crate::node::Cease;
use crate::registry::Ending;

/// Events that have been applied and are not durable yet, oldest first.
#[derive(Default)]
pub(super) struct Recordings {
    under_way: VecDeque<Recording>,
    /// How many appends of the present try are not answered yet.
    unanswered: usize,
    /// Whether the present try has failed: what is not answered yet is waited for, and then all are given again.
    again: bool,
    /// How many tries in a row have failed.
    failures: u32,
    /// Which try this is; answers to earlier ones do not count.
    round: u64,
}

/// Events of one decision.
struct Recording {
    append: Arc<Append>,
    events: Vec<Event>,
    /// What is due when they are durable.
    effects: Vec<Effect>,
    done: Done,
    /// Who wants to see the cluster as it is with them.
    seen_by: Vec<(oneshot::Sender<Seen>, Seen)>,
}

/// A cluster as somebody is to see it.
pub(super) type Seen = Option<Arc<cluster::Cluster>>;

/// An append is durable, or is not.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Durable {
    round: u64,
    result: Result<(), AppendError>,
}

/// Give all that is not durable to the journal again.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Again;

impl Recordings {
    /// Whether everything that was applied is durable.
    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}

impl Cluster {
    /// Applies events and has them made durable; then `done` is called. When they cannot be made so, this actor ends, and
    /// starts again from the journal.
    pub(super) fn record(&mut self, events: Vec<Event>, who: String, done: Done, ctx: &mut Context<Self>) {
        if events.is_empty() {
            done(self, Ok(()), ctx);
            return;
        }
        // Nobody else holds the state as a rule, so that it is changed in place and not copied.
        let mut next = self.state.take().map(Arc::unwrap_or_clone);
        let sequence = next.as_ref().map_or(0, |state| state.sequence);
        for event in &events {
            apply(&mut next, event);
        }
        let Some(next) = next.map(Arc::new) else {
            // Events that found no cluster: dropping `done` says so, and there is nothing to be live for.
            self.end(Ending::Rest, ctx);
            return;
        };
        self.told.hear(&next, &events);
        self.state = Some(Arc::clone(&next));
        let at = self.surroundings.clock.now();
        let recorded = Recorded {
            cluster: &next,
            epoch: self.epoch,
            expected_sequence: sequence,
            at,
            who,
            estimates: &self.surroundings.estimates,
        };
        let append = match recorded.append(&events, &mut self.snapshots) {
            Ok(append) => Arc::new(append),
            Err(fault) => {
                self.lose(&fault, ctx);
                done(self, Err(fault), ctx);
                return;
            }
        };
        drop(next);
        self.note(&events);
        let effects = self.advance(&events, ctx);
        if !self.recordings.again {
            self.give(&append, ctx);
        }
        let seen_by = Vec::new();
        self.recordings.under_way.push_back(Recording { append, events, effects, done, seen_by });
        ctx.finish_first(true);
    }

    /// Shows the cluster as it is now, once that is durable.
    pub(super) fn show(&mut self) -> oneshot::Receiver<Seen> {
        let (sender, receiver) = oneshot::channel();
        let state = self.state.clone();
        match self.recordings.under_way.back_mut() {
            Some(recording) => recording.seen_by.push((sender, state)),
            // Nobody may be waiting any more.
            None => drop(sender.send(state)),
        }
        receiver
    }

    fn give(&mut self, append: &Arc<Append>, ctx: &Context<Self>) {
        self.recordings.unanswered += 1;
        let (round, address, cause) = (self.recordings.round, ctx.address(), Cause::current());
        self.surroundings.journal.append(Arc::clone(append), move |result| {
            within(cause, || address.do_send(Durable { round, result }));
        });
    }

    /// The oldest of what was under way is durable: now others may know.
    fn acknowledge(&mut self, ctx: &mut Context<Self>) {
        let Some(recording) = self.recordings.under_way.pop_front() else { return };
        let Recording { append, events, effects, done, seen_by } = recording;
        ctx.finish_first(!self.recordings.is_empty());
        self.surroundings.journal.tell(&append);
        self.announce(&events);
        self.pursue(effects, ctx);
        self.relate(&events);
        done(self, Ok(()), ctx);
        for (whom, state) in seen_by {
            // Nobody may be waiting any more.
            let _ = whom.send(state);
        }
    }

    /// What was decided did not become durable: the state here is not the cluster's. Whoever owns the cluster now goes on
    /// with it; otherwise it is taken up again from the journal.
    pub(super) fn lose(&mut self, fault: &RecordError, ctx: &mut Context<Self>) {
        error!(self.logger, "events were not recorded"; "fault" => fault.to_string());
        self.state = None;
        if fault.is_fenced() {
            for node in self.nodes.values() {
                node.do_send(Cease);
            }
            self.end(Ending::Fenced, ctx);
        } else {
            ctx.fail(fault.to_string());
        }
        for recording in std::mem::take(&mut self.recordings.under_way) {
            (recording.done)(self, Err(fault.clone()), ctx);
        }
    }
}

impl Handler<Durable> for Cluster {
    type Result = ();

    fn handle(&mut self, Durable { round, result }: Durable, ctx: &mut Self::Context) {
        let recordings = &mut self.recordings;
        if round != recordings.round {
            return;
        }
        recordings.unanswered = recordings.unanswered.saturating_sub(1);
        match result {
            // Whatever became of those behind one that failed, they are given again with it.
            _ if recordings.again => {}
            Ok(()) => {
                recordings.failures = 0;
                self.acknowledge(ctx);
                return;
            }
            Err(fault) if fault.is_retryable() && recordings.failures < MAX_TRIES => {
                (recordings.again, recordings.failures) = (true, recordings.failures + 1);
                if recordings.failures == 1 {
                    warn!(self.logger, "the journal waits for the database"; "fault" => fault.to_string());
                }
            }
            Err(fault) => return self.lose(&fault.into(), ctx),
        }
        if self.recordings.unanswered == 0 {
            ctx.notify_later(Again, pause_after(self.recordings.failures));
        }
    }
}

impl Handler<Again> for Cluster {
    type Result = ();

    fn handle(&mut self, _: Again, ctx: &mut Self::Context) {
        self.recordings.again = false;
        self.recordings.round += 1;
        let appends: Vec<_> = self.recordings.under_way.iter().map(|it| Arc::clone(&it.append)).collect();
        for append in appends {
            self.give(&append, ctx);
        }
    }
}
