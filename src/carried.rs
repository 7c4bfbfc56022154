//! Files that are carried in the program, as they are sent: the web interface ([`crate::web`]) and the book ([`crate::book`]).

use std::borrow::Cow;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, VARY,
};

/// A file as it is sent.
pub struct Sent {
    /// Its bytes, packed or not.
    pub content: Cow<'static, [u8]>,
    /// How they are packed, as `Content-Encoding` calls it.
    pub encoding: Option<&'static str>,
}

impl Sent {
    /// The answer with the file of this name: how long it may be kept (`Cache-Control`), and what its page may do
    /// (`Content-Security-Policy`).
    pub fn told(self, name: &str, kept: &'static str, policy: &'static str) -> HttpResponse {
        let mut answer = HttpResponse::Ok();
        answer
            .insert_header((CONTENT_TYPE, content_type(name)))
            .insert_header((CACHE_CONTROL, kept))
            .insert_header((VARY, "Accept-Encoding"))
            .insert_header((CONTENT_SECURITY_POLICY, policy))
            .insert_header(("Cross-Origin-Opener-Policy", "same-origin"));
        if let Some(encoding) = self.encoding {
            answer.insert_header((CONTENT_ENCODING, HeaderValue::from_static(encoding)));
        }
        answer.body(self.content.into_owned())
    }
}

/// The page that says what to do, in place of what was left out of the program.
pub fn left_out(page: &'static str) -> HttpResponse {
    HttpResponse::build(StatusCode::NOT_FOUND)
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"))
        .content_type("text/html; charset=utf-8")
        .body(page)
}

/// Whether a caller takes a packing, by its `Accept-Encoding`.
pub fn takes(accepted: &str, packing: &str) -> bool {
    accepted.split(',').any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        name.trim() == packing && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

/// What a file is, by the end of its name.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        "json" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
