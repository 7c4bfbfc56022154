//! WebSockets: opened by pages of this server and by programs only, and open no longer than their caller is let in.

use actix_web::http::StatusCode;
use actix_web::http::header::{HOST, HeaderMap, ORIGIN, UPGRADE};
use actix_web::{HttpRequest, HttpResponse, web};
use actix_ws::{MessageStream, Session};

use super::problem::Problem;

/// Whether a request asks for a WebSocket.
pub fn is_asked_for(headers: &HeaderMap) -> bool {
    let asked = headers.get(UPGRADE).and_then(|value| value.to_str().ok());
    asked.is_some_and(|asked| asked.eq_ignore_ascii_case("websocket"))
}

/// Makes a WebSocket of a request: the answer to it, and both directions.
///
/// # Errors
/// 403 for a page of another site, 426 for a request that asks for none.
pub fn open(
    request: &HttpRequest,
    body: web::Payload,
) -> Result<(HttpResponse, Session, MessageStream), Problem> {
    refuse_foreign_pages(request.headers())?;
    actix_ws::handle(request, body).map_err(|fault| {
        let detail = format!("this is talked with over a WebSocket: {fault}");
        Problem::new(StatusCode::UPGRADE_REQUIRED, detail)
            .with_remedy("open it with a WebSocket client, or in the web interface")
    })
}

/// A browser opens WebSockets for pages of any site, and says of which. Programs say nothing.
fn refuse_foreign_pages(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let site = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let own = headers.get(HOST).and_then(|host| host.to_str().ok());
    if site.is_some() && site == own {
        return Ok(());
    }
    Err(Problem::new(StatusCode::FORBIDDEN, "the request comes from a page of another site")
        .with_remedy("open it from the web interface of this server"))
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn only_own_pages_and_programs_may() {
        for (origin, may) in [
            (None, true),
            (Some("http://barrels.example:55054"), true),
            (Some("http://barrels.example"), false),
            (Some("http://evil.example"), false),
            (Some("null"), false),
        ] {
            let request = TestRequest::get().insert_header((HOST, "barrels.example:55054"));
            let request = match origin {
                Some(origin) => request.insert_header((ORIGIN, origin)),
                None => request,
            };
            let judged = refuse_foreign_pages(request.to_http_request().headers());
            assert_eq!(judged.is_ok(), may, "{origin:?}");
        }
    }

    #[test]
    fn what_asks_for_one_is_seen() {
        let request = |value| TestRequest::get().insert_header((UPGRADE, value)).to_http_request();
        assert!(is_asked_for(request("WebSocket").headers()));
        assert!(!is_asked_for(request("h2c").headers()));
        assert!(!is_asked_for(TestRequest::get().to_http_request().headers()));
    }
}
