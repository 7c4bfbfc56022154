//! What is refused before anything is done for it: heads that are too large, encodings nobody here reads, bodies that take
//! too long.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, HttpMessage};
use futures::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Answer, state_of};
use crate::api::problem::Problem;
use crate::api::web_socket;

/// Encodings of bodies that are read.
const READ: [&str; 3] = ["identity", "gzip", "deflate"];
/// A body must come at least this fast on the whole, in bytes a second.
const SLOWEST: u64 = 1024;

/// Refuses them.
///
/// # Errors
/// Those of the layers below, and 400, 415 and 431.
pub async fn check(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<Answer, Error> {
    let refused = match state_of(&request) {
        Some(state) => {
            // What comes over a WebSocket comes when there is something to say.
            if !web_socket::is_asked_for(request.headers()) {
                let payload = request.take_payload();
                request.set_payload(paced(payload, state.settings.http.body_timeout()));
            }
            refusal(&request, state.settings.http.max_header_bytes)
        }
        None => Some(Problem::internal("no state")),
    };
    if let Some(problem) = refused {
        let is_encoding = problem.status == StatusCode::UNSUPPORTED_MEDIA_TYPE.as_u16();
        let mut answer: ServiceResponse<_> = request.error_response(problem);
        if is_encoding {
            answer.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate"));
        }
        return Ok(answer);
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

fn refusal(request: &ServiceRequest, limit: usize) -> Option<Problem> {
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let size = headers + request.uri().to_string().len();
    if size > limit {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let detail = format!("path and headers have {size} bytes, and at most {limit} are read");
        return Some(Problem::new(status, detail).with_remedy("send less in headers and query"));
    }
    // PostgreSQL stores no text with it.
    if request.uri().to_string().contains("%00") {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "path or query hold a NUL, which no name has");
        return Some(problem.with_remedy("leave %00 out"));
    }
    let encoding = request.headers().get(CONTENT_ENCODING)?;
    let named = encoding.to_str().unwrap_or("(no text)").trim();
    if named.is_empty() || READ.iter().any(|known| named.eq_ignore_ascii_case(known)) {
        return None;
    }
    let detail = format!("Content-Encoding: {named:?} is not read here");
    let problem = Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail).at("Content-Encoding", named);
    Some(problem.with_remedy("send the body as it is, or as gzip"))
}

/// A body that ends with a fault when it takes too long.
fn paced(body: Payload, pause: Duration) -> Payload {
    if matches!(body, Payload::None) || pause.is_zero() {
        return body;
    }
    let now = Instant::now();
    Payload::Stream {
        payload: Box::pin(Paced {
            body,
            begun: now,
            received: 0,
            pause,
            alarm: Box::pin(sleep_until(now + pause)),
        }),
    }
}

struct Paced {
    body: Payload,
    begun: Instant,
    received: u64,
    /// Longest pause between two pieces.
    pause: Duration,
    alarm: Pin<Box<Sleep>>,
}

impl Stream for Paced {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(piece) = Pin::new(&mut self.body).poll_next(cx) {
            if let Some(Ok(bytes)) = &piece {
                self.received += bytes.len() as u64;
                // The next piece within the pause; and never slower than the slowest on the whole.
                let on_the_whole = self.begun + self.pause + Duration::from_secs(self.received / SLOWEST);
                let alarm = (Instant::now() + self.pause).min(on_the_whole);
                self.alarm.as_mut().reset(alarm);
            }
            return Poll::Ready(piece);
        }
        match self.alarm.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let late = std::io::Error::new(std::io::ErrorKind::TimedOut, "the body came too slowly");
                Poll::Ready(Some(Err(PayloadError::Io(late))))
            }
        }
    }
}
