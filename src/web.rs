//! The web interface, carried in the program: what `make web` has made in `web/dist`. Without it the server is the same, and
//! says at `/` that it was left out.
//!
//! Paths of pages are answered with `index.html`, which reads the path itself. Files are packed when the program is built.

use std::borrow::Cow;

use actix_web::http::Method;
use actix_web::http::header::ACCEPT_ENCODING;
use actix_web::{HttpRequest, HttpResponse};
use rust_embed::RustEmbed;

use crate::carried::{Sent, left_out, takes};

#[derive(RustEmbed)]
#[folder = "web/dist"]
#[allow_missing = true]
struct Files;

/// Pages of the interface by the first part of their path; `web/src/lib/route.ts` has the same.
const PAGES: [&str; 6] = ["clusters", "new", "catalog", "operations", "profile", "sign-in"];
/// Files with a hash in their names: never the same name for another content.
const ASSETS: &str = "assets/";
/// Only what comes from this server runs, is shown or is asked; no page of others frames it, and no text becomes markup but
/// what the interface's own templates make.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types svelte-trusted-html";
/// What stands at `/` when the interface was left out.
const LEFT_OUT: &str = include_str!("web/left_out.html");
/// How files are packed, the best first: what `Accept-Encoding` calls it, and how the names of such files end.
const PACKINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// The page or file at a path; nothing where there is neither.
pub fn answer(request: &HttpRequest) -> Option<HttpResponse> {
    if request.method() != Method::GET {
        return None;
    }
    let accepted = request.headers().get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let content = |path: &str| Files::get(path).map(|file| file.data);
    let name = file_at(request.path())?;
    match sent(name, accepted.unwrap_or_default(), content) {
        Some(sent) => Some(sent.told(name, kept(name), POLICY)),
        None => (name == "index.html").then(|| left_out(LEFT_OUT)),
    }
}

/// Which file a path asks for: `index.html` for each page.
fn file_at(path: &str) -> Option<&str> {
    let path = path.strip_prefix('/')?;
    let first = path.split('/').next().unwrap_or_default();
    if path.is_empty() || PAGES.contains(&first) {
        return Some("index.html");
    }
    // What is packed is part of the file it was made of.
    let is_plain = !PACKINGS.iter().any(|(_, end)| path.ends_with(end));
    (is_plain && !path.starts_with("v2/")).then_some(path)
}

/// A file in the best packing that the caller takes.
fn sent(name: &str, accepted: &str, content: impl Fn(&str) -> Option<Cow<'static, [u8]>>) -> Option<Sent> {
    let mut taken = PACKINGS.into_iter().filter(|(encoding, _)| takes(accepted, encoding));
    let packed = taken.find_map(|(encoding, end)| {
        let content = content(&format!("{name}{end}"))?;
        Some(Sent { content, encoding: Some(encoding) })
    });
    packed.or_else(|| Some(Sent { content: content(name)?, encoding: None }))
}

/// How long a file may be kept, as `Cache-Control` says it.
fn kept(name: &str) -> &'static str {
    if name.starts_with(ASSETS) { "public, max-age=31536000, immutable" } else { "no-cache" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_the_first_file_and_nothing_of_the_interface_for_programs_is() {
        for (path, file) in [
            ("/", Some("index.html")),
            ("/clusters/00000001/plan/00000001-002", Some("index.html")),
            ("/assets/index-a1.js", Some("assets/index-a1.js")),
            ("/assets/index-a1.js.br", None),
            ("/v2/clusters", None),
        ] {
            assert_eq!(file_at(path), file, "{path}");
        }
    }

    #[test]
    fn the_pages_are_those_that_the_interface_knows() {
        let routes = std::fs::read_to_string("web/src/lib/route.ts").unwrap();
        for page in PAGES {
            assert!(routes.contains(&format!("'{page}'")), "{page}");
        }
    }

    #[test]
    fn the_best_packing_that_is_taken_is_sent() {
        let content = |path: &str| {
            let known = ["a.js", "a.js.br", "a.js.gz", "b.woff2"];
            known.contains(&path).then(|| Cow::Owned(path.as_bytes().to_vec()))
        };
        for (name, accepted, expected) in [
            ("a.js", "gzip, br", Some(("a.js.br", Some("br")))),
            ("a.js", "gzip;q=0.5, br;q=0", Some(("a.js.gz", Some("gzip")))),
            ("a.js", "", Some(("a.js", None))),
            ("b.woff2", "br", Some(("b.woff2", None))),
            ("c.js", "br", None),
        ] {
            let sent = sent(name, accepted, content);
            let sent = sent.map(|it| (String::from_utf8(it.content.into_owned()).unwrap(), it.encoding));
            assert_eq!(
                sent,
                expected.map(|(name, encoding)| (name.to_owned(), encoding)),
                "{name} {accepted}"
            );
        }
    }
}
