//! `GET /v2/clusters/{id}/nodes/{node}/terminal`: a shell on a node over a WebSocket, for the cluster's owner and the tenant's
//! admins.
//!
//! What is typed and what is shown are binary messages. Texts are JSON: from the client `{"columns": 80, "rows": 24}` when its
//! screen has another size, and `{"shown": 12345}` when it has shown so many bytes in all, without which no more than some come;
//! from the server `{"opened": true}` once the shell is there, and `{"end": …}` before it closes, with a `problem` where there is
//! one. It goes through the server's own SSH, on a connection of its own. That one was opened,
//! and when it was closed, for how long and with how many bytes, is in the audit log; what was typed and shown is nowhere.

mod access;
mod ending;
mod shell;

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use cooperage_domain::id::NodeId;
use cooperage_plugins::ssh::{SshError, Target, Terminal, TerminalSize, Transport};
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::audit::{Caller, Opening};
use super::identity::{Identity, Standing};
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use super::web_socket;
use shell::Shell;

type State = web::Data<AppState>;

/// How long logging in to a node may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// Routes of terminals.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/nodes/{node}/terminal", |on| on.get(open));
}

/// Opens terminals, so many at once.
pub struct Terminals {
    transport: Arc<dyn Transport>,
    /// Where connections live.
    runtime: Handle,
    places: Arc<Semaphore>,
    most: usize,
}

impl Terminals {
    /// At most `most` at once, through `transport`, on `runtime`.
    #[must_use]
    pub fn new(transport: Arc<dyn Transport>, runtime: Handle, most: usize) -> Self {
        let most = most.min(Semaphore::MAX_PERMITS);
        Self { transport, runtime, places: Arc::new(Semaphore::new(most)), most }
    }

    /// A place for one, as long as it is kept.
    fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let (detail, remedy) = if self.most == 0 {
                (
                    "terminals are switched off on this server".to_owned(),
                    "have an operator raise terminal.max_open",
                )
            } else {
                (
                    format!("{} terminals are open, and no more may be", self.most),
                    "close one, or have an operator raise terminal.max_open",
                )
            };
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).with_remedy(remedy)
        })
    }

    /// Logs in and opens the shell.
    async fn log_in(&self, target: Target, size: TerminalSize) -> Result<Terminal, Problem> {
        let transport = Arc::clone(&self.transport);
        let opened =
            self.runtime.spawn(async move { transport.terminal(&target, size, CONNECT_LIMIT).await });
        opened.await.map_err(Problem::internal)?.map_err(|fault| refused(&fault))
    }
}

/// The machine's fault, which is none of the caller's.
fn refused(fault: &SshError) -> Problem {
    let text = fault.to_string();
    let (detail, remedy) = match text.split_once(": ") {
        Some((detail, remedy)) => (detail.to_owned(), remedy.to_owned()),
        None => (text, "look at the node's tasks and at its machine".to_owned()),
    };
    Problem::new(StatusCode::BAD_GATEWAY, detail).with_remedy(remedy)
}

/// How large the client's screen is.
#[derive(Debug, Deserialize)]
struct Screen {
    columns: u16,
    rows: u16,
}

impl Screen {
    fn size(&self) -> TerminalSize {
        TerminalSize::new(self.columns, self.rows)
    }
}

/// Unless the client says something else.
const USUAL: Screen = Screen { columns: 80, rows: 24 };

/// What may stand behind the `?`.
#[derive(Debug, Deserialize)]
struct Query {
    columns: Option<u16>,
    rows: Option<u16>,
}

/// Whoever may not is refused here; what the node has against it is told over the WebSocket, since browsers show pages no
/// answer to a WebSocket that was refused.
async fn open(
    state: State,
    identity: Identity,
    of: web::Path<(String, String)>,
    query: web::Query<Query>,
    request: HttpRequest,
    body: web::Payload,
) -> Result<HttpResponse, Problem> {
    let (id, node) = of.into_inner();
    let cluster = state.cluster(&identity, &id).await?;
    let node = NodeId(node);
    if !cluster.nodes.contains_key(&node) {
        return Err(Problem::not_found("node", &node));
    }
    let (answer, session, messages) = web_socket::open(&request, body)?;
    let extensions = request.extensions();
    let standing = extensions.get::<Standing>().cloned();
    let record = extensions.get::<Opening>().map(|opening| opening.0.clone());
    let (Some(standing), Some(record), Some(caller)) = (standing, record, extensions.get::<Caller>()) else {
        return Err(Problem::internal("a WebSocket without a caller"));
    };
    let record = caller.noted(record);
    let shell = Shell { state: state.clone(), identity, standing, session, record };
    let screen =
        Screen { columns: query.columns.unwrap_or(USUAL.columns), rows: query.rows.unwrap_or(USUAL.rows) };
    let asked = access::target(&cluster, &node);
    actix_web::rt::spawn(shell.run(asked, screen.size(), messages));
    Ok(answer)
}
