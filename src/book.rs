//! The book, carried in the program: what `make book` has printed in `docs/dist`. Without it the server is the same, and says at
//! `/docs` that it was left out.
//!
//! Only packed files are carried; whoever takes none gets them unpacked.

use std::io::Read;

use actix_web::http::Method;
use actix_web::http::header::ACCEPT_ENCODING;
use actix_web::{HttpRequest, HttpResponse};
use flate2::read::GzDecoder;
use rust_embed::RustEmbed;

use crate::carried::{Sent, left_out, takes};

#[derive(RustEmbed)]
#[folder = "docs/dist"]
struct Files;

/// Where the book is; `docs/press` writes links so.
const ROOT: &str = "/docs";
/// The chapter at the root.
const FIRST: &str = "introduction";
/// As strict as that of the web interface: nothing from elsewhere, and no text becomes markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";
/// What stands at `/docs` when the book was left out.
const LEFT_OUT: &str = include_str!("book/left_out.html");

/// The page or file at a path; nothing where there is none, and for all that is not the book's.
pub fn answer(request: &HttpRequest) -> Option<HttpResponse> {
    if request.method() != Method::GET {
        return None;
    }
    let name = file_at(request.path())?;
    let Some(file) = Files::get(&format!("{name}.gz")) else {
        let is_there = Files::get(&format!("{FIRST}.html.gz")).is_some();
        return (!is_there).then(|| left_out(LEFT_OUT));
    };
    let accepted = request.headers().get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let sent = if takes(accepted.unwrap_or_default(), "gzip") {
        Sent { content: file.data, encoding: Some("gzip") }
    } else {
        let mut content = Vec::new();
        // What is carried was packed by us.
        GzDecoder::new(&*file.data).read_to_end(&mut content).ok()?;
        Sent { content: content.into(), encoding: None }
    };
    Some(sent.told(&name, "no-cache", POLICY))
}

/// Which file a path asks for: a page has no end, everything else has one.
fn file_at(path: &str) -> Option<String> {
    let name = match path.strip_prefix(ROOT)? {
        "" | "/" => FIRST,
        rest => rest.strip_prefix('/')?,
    };
    let is_page = !name.rsplit('/').next().unwrap_or_default().contains('.');
    Some(if is_page { format!("{name}.html") } else { name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_have_no_end_and_nothing_else_is_the_books() {
        for (path, file) in [
            ("/docs", Some("introduction.html")),
            ("/docs/", Some("introduction.html")),
            ("/docs/concepts", Some("concepts.html")),
            ("/docs/reference/cli", Some("reference/cli.html")),
            ("/docs/search.json", Some("search.json")),
            ("/docsx", None),
            ("/v2/docs", None),
        ] {
            assert_eq!(file_at(path).as_deref(), file, "{path}");
        }
    }
}
