//! What browsers, caches and connections are told with every answer.

use actix_web::Error;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use actix_web::http::{ConnectionType, Method};
use actix_web::middleware::Next;

use super::conditional::tell_packing;
use super::{Answer, state_of};

/// Set unless the handler has set them: nothing is guessed, framed, or told to others.
const USUAL: [(HeaderName, &str); 3] =
    [(X_CONTENT_TYPE_OPTIONS, "nosniff"), (X_FRAME_OPTIONS, "DENY"), (REFERRER_POLICY, "no-referrer")];
/// What the interface for programs answers is no page, and loads nothing.
const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";

/// Adds them.
///
/// # Errors
/// Those of the layers below.
pub async fn add(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Result<Answer, Error> {
    let state = state_of(&request);
    let is_api = request.path().starts_with("/v2");
    let kept = request.method() == Method::GET && !request.query_string().contains("secrets");
    let answer: ServiceResponse<_> = next.call(request).await?;
    let mut answer: ServiceResponse<BoxBody> = answer.map_into_boxed_body();
    let headers = answer.headers_mut();
    let mut usual = USUAL.to_vec();
    if is_api {
        usual.push((CONTENT_SECURITY_POLICY, NO_PAGE));
        // Others must not get it from a cache; who asked may keep it, but asks whether it is still true.
        usual.push((CACHE_CONTROL, if kept { "private, no-cache" } else { "no-store" }));
    }
    for (name, value) in usual {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    tell_packing(headers);
    if state.is_some_and(|state| state.stopping.is_cancelled()) {
        answer.response_mut().head_mut().set_connection_type(ConnectionType::Close);
    }
    Ok(answer)
}
