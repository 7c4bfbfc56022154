//! Telling a cluster something although it may be going to rest, or failing, just now.

use std::time::Duration;

use actix::{Addr, AsyncContext, Handler, MailboxError, ResponseFuture};
use cooperage_domain::cluster;
use std::sync::Arc;

use super::{Find, Registry, Tell, TellAt, TellError};
use crate::cluster::{Operate, OperateAt, OperateError};

/// How often a cluster is looked for whose actor was gone when the message came.
const TRIES: u32 = 50;
/// Pause between two tries: an actor that ends is gone within it, as a rule.
const PAUSE: Duration = Duration::from_millis(10);

impl Handler<Tell> for Registry {
    type Result = ResponseFuture<Result<Arc<cluster::Cluster>, TellError>>;

    fn handle(&mut self, tell: Tell, ctx: &mut Self::Context) -> Self::Result {
        Box::pin(deliver(ctx.address(), tell, None))
    }
}

impl Handler<TellAt> for Registry {
    type Result = ResponseFuture<Result<Arc<cluster::Cluster>, TellError>>;

    fn handle(&mut self, at: TellAt, ctx: &mut Self::Context) -> Self::Result {
        Box::pin(deliver(ctx.address(), at.tell, Some(at.sequences)))
    }
}

/// In any state, or in one of these.
async fn deliver(
    registry: Addr<Registry>,
    tell: Tell,
    sequences: Option<Vec<u64>>,
) -> Result<Arc<cluster::Cluster>, TellError> {
    for _ in 0..TRIES {
        let Ok(found) = registry.send(Find { id: tell.id }).await else { break };
        let operate = Operate { command: tell.command.clone(), who: tell.who.clone() };
        let found = found?;
        let answer = match sequences.clone() {
            None => found.send(operate).await,
            Some(sequences) => found.send(OperateAt { operate, sequences }).await,
        };
        match answer {
            Ok(answer) => return Ok(answer?),
            // A closed mailbox has decided nothing: the message was left in it.
            Err(MailboxError::Closed | MailboxError::Timeout) => tokio::time::sleep(PAUSE).await,
        }
    }
    Err(OperateError::Gone.into())
}
