//! In which words a caller is told what went wrong: JSON for those who ask for it, else one line of text as in Coopr.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT, ALLOW, HeaderMap};
use actix_web::middleware::Next;
use actix_web::web;

use super::problem::Problem;
use super::state::AppState;
use super::token_service::unauthorized;
use crate::config::AuthMode;

/// Puts every refusal, also those of the HTTP library, into the language of the caller.
///
/// # Errors
/// None of its own.
pub async fn tell(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let wants_json = wants_json(request.headers());
    let called = format!("{} {}", request.method(), request.path());
    let state = request.app_data::<web::Data<AppState>>();
    let asks_tokens = state.is_some_and(|state| state.settings.auth.mode == AuthMode::Token);
    let (scheme, host) = {
        let connection = request.connection_info();
        (connection.scheme().to_owned(), connection.host().to_owned())
    };
    let answer = next.call(request).await?;
    let allowed = answer.headers().get(ALLOW).cloned();
    let Some(problem) = problem(&answer, &called) else { return Ok(answer.map_into_boxed_body()) };
    let mut told = match answer.status() {
        _ if wants_json => problem.as_json(),
        StatusCode::UNAUTHORIZED if asks_tokens => unauthorized(&problem, &scheme, &host),
        _ => problem.as_text(),
    };
    if let Some(allowed) = allowed {
        told.headers_mut().insert(ALLOW, allowed);
    }
    Ok(answer.into_response(told))
}

fn problem<B>(answer: &ServiceResponse<B>, called: &str) -> Option<Problem> {
    let status = answer.status();
    if let Some(fault) = answer.response().error() {
        let ours = fault.as_error::<Problem>().cloned();
        return Some(ours.unwrap_or_else(|| Problem::new(status, fault.to_string())));
    }
    (status == StatusCode::METHOD_NOT_ALLOWED).then(|| {
        let methods = answer.headers().get(ALLOW).and_then(|value| value.to_str().ok()).unwrap_or("none");
        Problem::new(status, format!("{called} is not possible")).with_remedy(format!("use {methods} here"))
    })
}

/// Whether JSON is asked for by name; `*/*` is what old clients send too.
fn wants_json(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        let name = range.split(';').next().unwrap_or_default().trim();
        ["application/problem+json", "application/json"].iter().any(|json| name.eq_ignore_ascii_case(json))
    })
}
