//! `Idempotency-Key`: a `POST` that is sent again, because its answer was lost, is not carried out again.
//!
//! The key is claimed in the database before the request is carried out, and completed with the answer after it. A key whose
//! request was cut off by the end of the process is taken up: what the handler created in the same transaction as the
//! answer is answered; the cluster it was about to create is created under the number that was bound to the key, or found.

use std::future::{Ready, ready};

use actix_web::body::{BodySize, BoxBody, MessageBody, to_bytes};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest, HttpResponse, web};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{Claim, KeptAnswer, RequestKey, Store};
use serde_json::Value;
use sha2::{Digest, Sha256};
use slog::warn;

use super::{Answer, state_of};
use crate::api::identity::{Identity, hex};
use crate::api::problem::Problem;
use crate::api::state::AppState;

/// Name of the header.
const KEY: &str = "Idempotency-Key";
/// Tells that an answer was given before.
const REPLAYED: &str = "Idempotency-Replayed";
/// Longest key, in characters.
const MAX_KEY: usize = 255;
/// Largest answer that is kept, in bytes. Requests with larger ones change nothing when they are carried out again.
const MAX_KEPT: u64 = 1 << 20;
/// The part of a path, behind the version, under which resources are uploaded: they may be larger than memory, and are not
/// read for a key.
const UPLOADS: &str = "plugins";

/// A key whose request is being carried out.
#[derive(Debug, Clone)]
struct Begun {
    key: RequestKey,
    /// The cluster that an attempt which was cut off may have created.
    cluster: Option<ClusterId>,
}

/// The key of a request, if it has one, for handlers that create something.
#[derive(Debug, Clone)]
pub struct Keyed(Option<Begun>);

impl FromRequest for Keyed {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(request.extensions().get::<Begun>().cloned())))
    }
}

impl Keyed {
    /// The store, whose next write keeps this answer too: either both are durable or none is.
    #[must_use]
    pub fn answering(&self, state: &AppState, status: StatusCode, body: Option<&Value>) -> Store {
        let content_type = body.map(|_| "application/json".to_owned());
        let text = body.map(Value::to_string).unwrap_or_default();
        match &self.0 {
            None => state.store.clone(),
            Some(Begun { key, .. }) => state.store.completing(key.clone(), kept(status, content_type, text)),
        }
    }

    /// The cluster that an attempt which was cut off may have created.
    #[must_use]
    pub fn cluster(&self) -> Option<ClusterId> {
        self.0.as_ref().and_then(|begun| begun.cluster)
    }

    /// Notes which cluster is about to be created, so that no other ever is under this key. Waits for the database.
    ///
    /// # Errors
    /// When it is about to be carried out elsewhere, or the database cannot be written.
    pub fn bind(&self, store: &Store, cluster: ClusterId) -> Result<(), Problem> {
        match &self.0 {
            Some(begun) => Ok(store.bind_cluster(begun.key.clone(), cluster)?),
            None => Ok(()),
        }
    }
}

/// A key in the hands of this process; given back when dropped.
struct InHand {
    state: web::Data<AppState>,
    key: RequestKey,
}

impl InHand {
    fn take(state: &web::Data<AppState>, key: &RequestKey) -> Option<Self> {
        let is_free = state.edge.in_hand().insert(key.clone());
        is_free.then(|| Self { state: state.clone(), key: key.clone() })
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        self.state.edge.in_hand().remove(&self.key);
    }
}

/// What is to be done with a request that has a key.
enum Verdict {
    CarryOut(Begun, InHand),
    Answered(HttpResponse),
}

/// Carries requests with a key out once.
///
/// # Errors
/// Those of the layers below.
pub async fn once(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<Answer, Error> {
    let header = request.headers().get(KEY).cloned();
    let is_meant = request.method() == Method::POST && request.path().split('/').nth(2) != Some(UPLOADS);
    let (Some(header), true, Some(state)) = (header, is_meant, state_of(&request)) else {
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    // Who is nobody is refused by the handler, or may do there what everybody may.
    let Ok(identity) = request.extract::<Identity>().await else {
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    let (begun, in_hand) = match begin(&mut request, &state, &identity, &header).await {
        Ok(Verdict::CarryOut(begun, in_hand)) => (begun, in_hand),
        Ok(Verdict::Answered(answer)) => return Ok(request.into_response(answer)),
        Err(fault) => return Ok(request.error_response(fault)),
    };
    request.extensions_mut().insert(begun.clone());
    // On its own, so that it goes on when the caller hangs up: what has been begun is brought to an answer.
    let carried_out = actix_rt::spawn(async move {
        let _in_hand = in_hand;
        let answer: ServiceResponse<_> = next.call(request).await?;
        keep(&state, begun.key, answer.map_into_boxed_body()).await
    });
    carried_out.await.unwrap_or_else(|fault| Err(Problem::internal(fault).into()))
}

async fn begin(
    request: &mut ServiceRequest,
    state: &web::Data<AppState>,
    identity: &Identity,
    header: &HeaderValue,
) -> Result<Verdict, Error> {
    let text = header.to_str().unwrap_or_default();
    if text.is_empty() || text.len() > MAX_KEY || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        let detail = format!("{KEY}: is no text of 1 to {MAX_KEY} visible ASCII characters");
        let problem = Problem::new(StatusCode::BAD_REQUEST, detail).at(KEY, text);
        return Err(problem.with_remedy("use a fresh UUID for each request").into());
    }
    let key =
        RequestKey { tenant: identity.tenant.clone(), user: identity.user.clone(), key: text.to_owned() };
    let body = request.extract::<web::Bytes>().await?;
    let hash = request_hash(request, &body);
    // The body that is passed on has been unpacked.
    request.headers_mut().remove(CONTENT_ENCODING);
    request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    request.set_payload(Payload::from(body));
    let Some(in_hand) = InHand::take(state, &key) else { return Err(in_progress(text).into()) };
    let claimed = {
        let key = key.clone();
        let expires = state.settings.http.idempotency_ms();
        state
            .blocking(move |state| {
                let now = state.clock.now();
                Ok(state.store.claim_key(key, hash, now, now.saturating_add(expires))?)
            })
            .await?
    };
    match claimed {
        Claim::New => Ok(Verdict::CarryOut(Begun { key, cluster: None }, in_hand)),
        Claim::Unanswered(cluster) => Ok(Verdict::CarryOut(Begun { key, cluster }, in_hand)),
        Claim::Answered(kept) => Ok(Verdict::Answered(answer_again(kept)?)),
        Claim::OtherRequest => {
            let detail =
                format!("{KEY}: {text:?} was used for another request (method, path or body differ)");
            let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail).at(KEY, text);
            Err(problem.with_remedy("use a new key for a new request").into())
        }
    }
}

fn in_progress(key: &str) -> Problem {
    let detail = format!("{KEY}: a request with {key:?} is being carried out");
    let mut problem = Problem::new(StatusCode::CONFLICT, detail).at(KEY, key);
    problem.retry_after = Some(1);
    problem.with_remedy("wait a moment, and send it again to get its answer")
}

fn request_hash(request: &ServiceRequest, body: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{} {}\n", request.method(), request.uri()));
    hash.update(body);
    hex(&hash.finalize())
}

fn kept(status: StatusCode, content_type: Option<String>, body: String) -> KeptAnswer {
    KeptAnswer { status: status.as_u16(), content_type, body }
}

fn answer_again(kept: KeptAnswer) -> Result<HttpResponse, Problem> {
    let status = StatusCode::from_u16(kept.status).map_err(Problem::internal)?;
    let mut answer = HttpResponse::build(status);
    answer.insert_header((REPLAYED, "true"));
    if let Some(content_type) = &kept.content_type {
        answer.insert_header((CONTENT_TYPE, content_type.as_str()));
    }
    Ok(if kept.body.is_empty() { answer.finish() } else { answer.body(kept.body) })
}

/// Keeps what was done. What was refused has not happened, and the key may be used again; of what failed on our side nobody
/// knows, and the key goes on standing for it.
async fn keep(state: &web::Data<AppState>, key: RequestKey, answer: Answer) -> Result<Answer, Error> {
    let status = answer.status();
    if status.is_client_error() {
        store(state, move |state| Ok(state.store.release_key(key)?)).await;
        return Ok(answer);
    }
    if !status.is_success() {
        return Ok(answer);
    }
    let is_kept = matches!(answer.response().body().size(), BodySize::None | BodySize::Sized(..=MAX_KEPT));
    if !is_kept {
        // It may be carried out again: see the limit.
        store(state, move |state| Ok(state.store.release_key(key)?)).await;
        return Ok(answer);
    }
    let (request, response) = answer.into_parts();
    let (response, body) = response.into_parts();
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bytes = to_bytes(body).await.map_err(|_| Problem::internal("an answer broke off"))?;
    if let Ok(text) = String::from_utf8(bytes.to_vec()) {
        let of = key.clone();
        store(state, move |state| Ok(state.store.complete_key(of, kept(status, content_type, text))?)).await;
    }
    Ok(ServiceResponse::new(request, response.set_body(BoxBody::new(bytes))))
}

/// What is not kept is carried out again when it is sent again, and then found to be done.
async fn store(
    state: &web::Data<AppState>,
    work: impl FnOnce(&AppState) -> Result<(), Problem> + Send + 'static,
) {
    if let Err(problem) = state.blocking(work).await {
        warn!(state.logger, "the answer to a request with a key was not kept"; "fault" => problem.cause());
    }
}
