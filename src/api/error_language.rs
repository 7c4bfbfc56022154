//! In which words a caller is told what went wrong: JSON for those who ask for it, else one line of text as in Coopr.
//!
//! Of faults of ours the caller is told an id; what they are stands in the log under it.

use std::panic::AssertUnwindSafe;

use actix_web::HttpResponse;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::{InternalError, PayloadError};
use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT, ACCEPT_ENCODING, ALLOW, HeaderMap};
use actix_web::middleware::Next;
use actix_web::web;
use futures::FutureExt;
use slog::error;
use uuid::Uuid;

use super::problem::Problem;
use super::state::AppState;
use super::token_service::unauthorized;
use crate::config::AuthMode;

/// Puts every refusal, also those of the HTTP library, into the language of the caller.
///
/// # Errors
/// A handler that panicked, told in the caller's language.
pub async fn tell(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let wants_json = wants_json(request.headers());
    let called = format!("{} {}", request.method(), request.path());
    let state = request.app_data::<web::Data<AppState>>().cloned();
    let asks_tokens = state.as_ref().is_some_and(|state| state.settings.auth.mode == AuthMode::Token);
    let (scheme, host) = {
        let connection = request.connection_info();
        (connection.scheme().to_owned(), connection.host().to_owned())
    };
    let said = |problem: Problem| {
        let problem = logged(problem, &called, state.as_deref());
        match problem.status {
            _ if wants_json => problem.as_json(),
            401 if asks_tokens => unauthorized(&problem, &scheme, &host),
            _ => problem.as_text(),
        }
    };
    // A handler's panic is answered like any other fault of ours; the request went with it.
    let answer = match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(Ok(answer)) => answer,
        Ok(Err(fault)) => {
            let problem = of_library(&fault, fault.as_response_error().status_code());
            return Err(InternalError::from_response(fault, said(problem)).into());
        }
        Err(panic) => {
            let told = said(Problem::panicked(&*panic));
            return Err(InternalError::from_response("a panic", told).into());
        }
    };
    let Some(problem) = problem(&answer, &called) else { return Ok(answer.map_into_boxed_body()) };
    let mut told: HttpResponse = said(problem);
    for name in [ALLOW, ACCEPT_ENCODING] {
        if let Some(value) = answer.headers().get(&name) {
            told.headers_mut().insert(name, value.clone());
        }
    }
    Ok(answer.into_response(told))
}

/// Logs what is at the bottom of a fault of ours, and says under which id.
fn logged(problem: Problem, called: &str, state: Option<&std::sync::Arc<AppState>>) -> Problem {
    let (Some(cause), Some(state)) = (&problem.cause, state) else { return problem };
    let id = Uuid::now_v7().simple().to_string();
    error!(state.logger, "a request failed"; "id" => &id, "request" => called, "status" => problem.status,
        "cause" => cause);
    problem.logged_as(&id)
}

fn problem<B>(answer: &ServiceResponse<B>, called: &str) -> Option<Problem> {
    let status = answer.status();
    if let Some(fault) = answer.response().error() {
        return Some(of_library(fault, status));
    }
    (status == StatusCode::METHOD_NOT_ALLOWED).then(|| {
        let methods = answer.headers().get(ALLOW).and_then(|value| value.to_str().ok()).unwrap_or("none");
        Problem::new(status, format!("{called} is not possible")).with_remedy(format!("use {methods} here"))
    })
}

/// Ours, or one of the library that reads requests.
fn of_library(fault: &actix_web::Error, status: StatusCode) -> Problem {
    if let Some(ours) = fault.as_error::<Problem>() {
        return ours.clone();
    }
    match fault.as_error::<PayloadError>() {
        Some(PayloadError::Overflow) => {
            let detail = "the body is larger than is read here, unpacked if it is packed";
            return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
                .with_remedy(format!("send at most {} bytes", super::MAX_BODY));
        }
        Some(PayloadError::Io(cause)) if cause.kind() == std::io::ErrorKind::TimedOut => {
            let problem = Problem::new(StatusCode::REQUEST_TIMEOUT, cause.to_string());
            return problem.with_remedy("send it without long pauses; see http.body_timeout_seconds");
        }
        Some(fault) => {
            let problem = Problem::new(StatusCode::BAD_REQUEST, format!("the body cannot be read: {fault}"));
            return problem.with_remedy("send all of it, packed as Content-Encoding says");
        }
        None => {}
    }
    if status.is_server_error() { Problem::internal(fault) } else { Problem::new(status, fault.to_string()) }
}

/// Whether JSON is asked for by name; `*/*` is what old clients send too.
fn wants_json(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        let name = range.split(';').next().unwrap_or_default().trim();
        ["application/problem+json", "application/json"].iter().any(|json| name.eq_ignore_ascii_case(json))
    })
}
