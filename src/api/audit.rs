//! Every request that changes something, shows secrets or opens a WebSocket leaves a record: who, from where, with which credential, what, and
//! what came of it. It is answered when the record is durable.
//!
//! Not recorded is what workers say all the time: heartbeats, and tasks taken and finished, which the journals of clusters
//! hold. Records never hold bodies, queries or tokens.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpResponse, web};
use cooperage_actors::console::{Cause, caused};
use cooperage_domain::audit::Record;
use futures::FutureExt;
use slog::error;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::operations::Port;
use super::problem::Problem;
use super::state::AppState;
use super::web_socket;

/// Under which name a request's id is told, and may be given by a trusted proxy.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What trusted proxies say of the caller's address; each adds the one it sees at the end.
const FORWARDED_FOR: &str = "X-Forwarded-For";
/// What workers send all the time. What waits for tasks must end with its caller: whoever is gone is given none.
const UNRECORDED: [&str; 6] = [
    "/v2/provisioners/{id}/heartbeat",
    "/v2/tasks/take",
    "/v2/tasks/take/batch",
    "/v2/tasks/output",
    "/v2/tasks/watch",
    "/v2/tasks/finish",
];
/// What only looks, and is recorded all the same: whoever opens it sees the messages of all tenants.
const LOOKED_THROUGH: &str = "/console";
/// Longest text of a field, in bytes.
const LONGEST: usize = 512;

/// Who called, as far as it is known; handed on by whoever found it out.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// Internal id of the tenant.
    pub tenant: String,
    /// The user.
    pub user: String,
    /// How the caller was known: `token ID`, `session ID`, `password`, `code` or `headers`.
    pub credential: String,
}

/// What a request was about, where its path does not say it.
struct About(String);

/// An answer that only shows what would be done.
struct OnlyShown;

/// The record of a request that opens a WebSocket, for what is recorded when that ends.
#[derive(Debug, Clone)]
pub struct Opening(pub Record);

impl Caller {
    /// A record with who called.
    #[must_use]
    pub fn noted(&self, mut record: Record) -> Record {
        (record.tenant, record.user, record.credential) =
            (cut(&self.tenant), cut(&self.user), cut(&self.credential));
        record
    }
}

/// An answer with what its request was about, for the record.
pub fn about(mut answer: HttpResponse, what: impl Into<String>) -> HttpResponse {
    answer.extensions_mut().insert(About(what.into()));
    answer
}

/// An answer to a request that changed nothing, and says what it would have changed: there is nothing to record of it.
pub fn only_shown(mut answer: HttpResponse) -> HttpResponse {
    answer.extensions_mut().insert(OnlyShown);
    answer
}

/// Records requests.
///
/// # Errors
/// Those of the request.
pub async fn record(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let port = Port::of(&request).as_str();
    let Some(state) = request.app_data::<web::Data<AppState>>().cloned() else {
        return Err(Problem::internal("no state").into());
    };
    let pattern = request.match_pattern();
    let is_said_all_the_time = pattern.as_deref().is_some_and(|pattern| UNRECORDED.contains(&pattern));
    let is_socket = web_socket::is_asked_for(request.headers());
    let is_recorded = pattern.as_deref() == Some(LOOKED_THROUGH)
        || is_socket
        || (!is_said_all_the_time && (changes(request.method()) || asks_for_secrets(request.query_string())));
    let origin = Origin::of(&request, state.settings.audit.trust_forwarded, port);
    if is_socket {
        request.extensions_mut().insert(Opening(origin.record.clone()));
    }
    let id = HeaderValue::from_str(&origin.record.request);
    let cause = Some(Cause::new(&origin.record.request));
    let answer = if is_recorded {
        // It goes on when the caller hangs up: what is done is recorded.
        let recorded = actix_web::rt::spawn(caused(cause, origin.carry_out(state, request, next)));
        recorded.await.map_err(|fault| actix_web::Error::from(Problem::internal(fault)))?
    } else {
        caused(cause, next.call(request)).await.map(ServiceResponse::map_into_boxed_body)
    };
    answer.map(|mut answer| {
        if let Ok(id) = id {
            answer.headers_mut().insert(REQUEST_ID, id);
        }
        answer
    })
}

fn changes(method: &Method) -> bool {
    ![Method::GET, Method::HEAD, Method::OPTIONS].contains(method)
}

/// Whether a query speaks of secrets, however it is written.
fn asks_for_secrets(query: &str) -> bool {
    let pairs = web::Query::<Vec<(String, String)>>::from_query(query);
    pairs.map_or(true, |pairs| pairs.iter().any(|(name, value)| name == "secrets" && value != "false"))
}

/// What is known of a request before it is carried out.
struct Origin {
    record: Record,
    method: Method,
}

impl Origin {
    fn of(request: &ServiceRequest, trusts: bool, port: &str) -> Self {
        let given = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok());
        let given = given.filter(|id| trusts && is_request_id(id)).map(str::to_owned);
        let record = Record {
            request: given.unwrap_or_else(|| Uuid::now_v7().to_string()),
            peer: request.peer_addr().map(|peer| peer.ip().to_string()).unwrap_or_default(),
            forwarded: forwarded(request.headers()).filter(|_| trusts).unwrap_or_default(),
            port: port.to_owned(),
            object: cut(request.path()),
            ..Record::default()
        };
        Self { record, method: request.method().clone() }
    }

    async fn carry_out(
        self,
        state: web::Data<AppState>,
        request: ServiceRequest,
        next: Next<impl MessageBody + 'static>,
    ) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
        let Self { mut record, method } = self;
        let outcome = AssertUnwindSafe(next.call(request)).catch_unwind().await;
        let answer = match outcome {
            Ok(Ok(answer)) => answer.map_into_boxed_body(),
            broken => {
                record.action = format!("{method} (broke off)");
                record.status = StatusCode::INTERNAL_SERVER_ERROR.as_u16();
                write(&state, record).await?;
                let fault = broken.map_or_else(
                    |_| Problem::internal("the request broke off; please report this").into(),
                    |answer| answer.err().unwrap_or_else(|| Problem::internal("no answer").into()),
                );
                return Err(fault);
            }
        };
        if answer.response().extensions().contains::<OnlyShown>() {
            return Ok(answer);
        }
        let pattern = answer.request().match_pattern();
        record.action = format!("{method} {}", pattern.as_deref().unwrap_or("(no route)"));
        record.status = answer.status().as_u16();
        if let Some(About(what)) = answer.response().extensions().get() {
            record.object = cut(what);
        }
        let caller = answer.request().extensions().get::<Caller>().cloned().unwrap_or_default();
        match write(&state, caller.noted(record)).await {
            Ok(()) => Ok(answer),
            Err(problem) => Ok(answer.into_response(problem.as_json())),
        }
    }
}

/// Writes a record, with the time that it is now.
///
/// # Errors
/// 503.
pub(super) async fn write(state: &web::Data<AppState>, mut record: Record) -> Result<(), Problem> {
    record.at_ms = state.clock.now();
    let (sender, receiver) = oneshot::channel();
    state.store.journal().audit(record, move |written| {
        // The request waits for it; when the server stops, nobody does.
        let _ = sender.send(written);
    });
    let fault = match receiver.await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(fault)) => fault.to_string(),
        Err(closed) => closed.to_string(),
    };
    error!(state.logger, "a request was not recorded in the audit log"; "fault" => &fault);
    let detail = format!("the request was carried out, and could not be recorded in the audit log: {fault}");
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail)
        .with_remedy("look at what is there, then try again"))
}

/// The address that the nearest proxy saw.
fn forwarded(headers: &HeaderMap) -> Option<String> {
    let last = headers.get_all(FORWARDED_FOR).last()?.to_str().ok()?.rsplit(',').next()?.trim();
    last.parse::<IpAddr>().ok().map(|address| address.to_string())
}

fn is_request_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].to_owned()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn secrets_are_asked_for_in_many_spellings() {
        for query in ["secrets=true", "a=b&secrets=true", "secrets=tru%65", "%73ecrets=true", "secrets=1"] {
            assert!(asks_for_secrets(query), "{query}");
        }
        for query in ["", "secrets=false", "status=active&limit=3", "secretsx=true"] {
            assert!(!asks_for_secrets(query), "{query}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_is_believed_and_only_what_it_saw_itself() {
        let request = || {
            TestRequest::post()
                .uri("/v2/x?token=1")
                .peer_addr("10.0.0.9:1234".parse().unwrap())
                .insert_header((FORWARDED_FOR, "1.2.3.4, 5.6.7.8"))
                .insert_header((REQUEST_ID, "from-the-proxy"))
                .to_srv_request()
        };
        let trusted = Origin::of(&request(), true, "user").record;
        assert_eq!((trusted.forwarded.as_str(), trusted.request.as_str()), ("5.6.7.8", "from-the-proxy"));
        let plain = Origin::of(&request(), false, "user").record;
        assert_eq!((plain.peer.as_str(), plain.forwarded.as_str()), ("10.0.0.9", ""));
        assert!(plain.request != "from-the-proxy" && plain.object == "/v2/x");
        assert!(!is_request_id("a b") && !is_request_id("") && !is_request_id(&"x".repeat(65)));
    }
}
