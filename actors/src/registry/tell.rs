//! Telling a cluster something although it may be going to rest, or failing, just now.

use std::sync::Arc;
use std::time::Duration;

use actix::{Addr, AsyncContext, Handler, MailboxError, ResponseFuture};
use cooperage_domain::cluster::{self, apply, decide};

use super::ancestry::{LetGo, stays_for_children};
use super::{Find, Registry, Tell, TellAt, TellError};
use crate::callbacks::Gate;
use crate::clock::SharedClock;
use crate::cluster::{GetState, Operate, OperateAt, OperateError};
use crate::console::{Cause, caused};

/// How often a cluster is looked for whose actor was gone when the message came.
const TRIES: u32 = 50;
/// Pause between two tries: an actor that ends is gone within it, as a rule.
const PAUSE: Duration = Duration::from_millis(10);

impl Handler<Tell> for Registry {
    type Result = ResponseFuture<Result<Arc<cluster::Cluster>, TellError>>;

    fn handle(&mut self, tell: Tell, ctx: &mut Self::Context) -> Self::Result {
        Box::pin(caused(Cause::current(), deliver(ctx.address(), tell, None, self.asking())))
    }
}

impl Handler<TellAt> for Registry {
    type Result = ResponseFuture<Result<Arc<cluster::Cluster>, TellError>>;

    fn handle(&mut self, at: TellAt, ctx: &mut Self::Context) -> Self::Result {
        let told = deliver(ctx.address(), at.tell, Some(at.sequences), self.asking());
        Box::pin(caused(Cause::current(), told))
    }
}

/// Who is asked before a job begins, and by which clock.
pub(super) type Asking = Option<(Gate, SharedClock)>;

impl Registry {
    /// Whoever has to be asked.
    pub(super) fn asking(&self) -> Asking {
        self.gate.clone().map(|gate| (gate, Arc::clone(&self.office.clock)))
    }
}

/// In any state, or in one of these; when nobody who is asked refuses the job that begins with it.
pub(super) async fn deliver(
    registry: Addr<Registry>,
    tell: Tell,
    sequences: Option<Vec<u64>>,
    asking: Asking,
) -> Result<Arc<cluster::Cluster>, TellError> {
    if let Some(asking) = asking {
        ask(&registry, &tell, sequences.as_deref(), &asking).await?;
    }
    let mut let_go = false;
    for _ in 0..TRIES {
        let Ok(found) = registry.send(Find { id: tell.id }).await else { break };
        let operate = Operate { command: tell.command.clone(), who: tell.who.clone() };
        let found = found?;
        let answer = match sequences.clone() {
            None => found.send(operate).await,
            Some(sequences) => found.send(OperateAt { operate, sequences }).await,
        };
        match answer {
            Ok(answer) => match answer.map_err(TellError::from) {
                // Some that it stays for may be gone without a word, because the server was killed.
                Err(fault) if stays_for_children(&fault) && !let_go => {
                    let_go = registry.send(LetGo { of: tell.id }).await.unwrap_or(false);
                    if !let_go {
                        return Err(fault);
                    }
                }
                answer => return answer,
            },
            // A closed mailbox has decided nothing: the message was left in it.
            Err(MailboxError::Closed | MailboxError::Timeout) => tokio::time::sleep(PAUSE).await,
        }
    }
    Err(OperateError::Gone.into())
}

/// Asks whoever may refuse the job that the command begins. What the command leads to is found out on the cluster as it is,
/// and decided again by the cluster's actor afterwards: nobody waits for those who are asked but who told the cluster.
pub(super) async fn ask(
    registry: &Addr<Registry>,
    tell: &Tell,
    sequences: Option<&[u64]>,
    (gate, clock): &(Gate, SharedClock),
) -> Result<(), TellError> {
    let Ok(found) = registry.send(Find { id: tell.id }).await else { return Ok(()) };
    let Ok(Some(state)) = found?.send(GetState).await else { return Ok(()) };
    if sequences.is_some_and(|sequences| !sequences.contains(&state.sequence)) {
        return Ok(());
    }
    let now = clock.now();
    // A refusal is told by the actor.
    let Ok(events) = decide(&state, tell.command.clone(), now) else { return Ok(()) };
    let mut after = Some(Arc::unwrap_or_clone(state));
    for event in &events {
        apply(&mut after, event);
    }
    if let Some(after) = after {
        gate.ask(&after, &events, now).await.map_err(OperateError::from)?;
    }
    Ok(())
}
