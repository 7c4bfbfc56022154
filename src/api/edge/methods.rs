//! `HEAD` and `OPTIONS`, which every path answers.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{ALLOW, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse};

use super::Answer;

/// Answers them.
///
/// # Errors
/// Those of the layers below.
pub async fn method(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<Answer, Error> {
    let asked = request.method().clone();
    if asked == Method::HEAD {
        request.head_mut().method = Method::GET;
    }
    let answer: ServiceResponse<_> = next.call(request).await?;
    let mut answer: ServiceResponse<BoxBody> = answer.map_into_boxed_body();
    if answer.status() == StatusCode::METHOD_NOT_ALLOWED {
        allow_more(answer.headers_mut());
    }
    if asked == Method::OPTIONS && answer.status() == StatusCode::METHOD_NOT_ALLOWED {
        let mut told = HttpResponse::NoContent().finish();
        if let Some(allowed) = answer.headers().get(ALLOW) {
            told.headers_mut().insert(ALLOW, allowed.clone());
        }
        return Ok(answer.into_response(told));
    }
    if asked == Method::HEAD && matches!(answer.response().body().size(), BodySize::Stream) {
        // The library does not send what it has; what would go on for ever must not even be asked for.
        return Ok(answer.map_body(|_, _| BoxBody::new(())));
    }
    Ok(answer)
}

/// What every path can do beside what its routes say.
fn allow_more(headers: &mut HeaderMap) {
    let Some(routes) = headers.get(ALLOW).and_then(|value| value.to_str().ok()) else { return };
    let head = if routes.split(", ").any(|method| method == "GET") { ", HEAD" } else { "" };
    if let Ok(all) = HeaderValue::from_str(&format!("{routes}{head}, OPTIONS")) {
        headers.insert(ALLOW, all);
    }
}
