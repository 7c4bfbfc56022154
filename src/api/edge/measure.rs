//! How many requests there are, and how long they take.

use std::time::Instant;

use actix_web::Error;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;

use super::{Answer, state_of};
use crate::api::operations::Port;
use crate::metrics::table;

/// Methods that have a name; whatever else a client makes up has none.
const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH];

/// Counts a request when its answer begins.
///
/// # Errors
/// Those of the layers below.
pub async fn request(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<Answer, Error> {
    let state = state_of(&request);
    let port = Port::of(&request).as_str();
    let method = METHODS.into_iter().find(|known| known == request.method());
    let begun = Instant::now();
    let answer: ServiceResponse<_> = next.call(request).await?;
    let answer: ServiceResponse<BoxBody> = answer.map_into_boxed_body();
    if let Some(state) = state {
        let method = method.as_ref().map_or("other", Method::as_str);
        let took = begun.elapsed().as_secs_f64();
        state.metrics.count(&table::REQUESTS, &[port, method, answer.status().as_str()]);
        state.metrics.observe(&table::REQUEST_SECONDS, &[port, method], took);
    }
    Ok(answer)
}
