//! The web interface: what is served beside the interface for programs, and what browsers are told about it.

use crate::caller::{Caller, Told};
use crate::lab::{Server, http};

/// Whether the program that is tested carries the interface.
const IS_BUILT: bool = matches!(env!("COOPERAGE_WEB").as_bytes(), b"built");

/// Somebody without a token, as a browser is.
fn nobody(server: &Server) -> Caller {
    Caller::new(&server.base(), "", http())
}

fn browse(caller: &Caller, path: &str, packing: &str) -> Told {
    caller.ask("GET", path, &[("Accept", "text/html,*/*;q=0.8"), ("Accept-Encoding", packing)], "")
}

#[test]
fn every_page_is_there_or_says_how_to_have_it() {
    let server = Server::start(&[]);
    let nobody = nobody(&server);
    for path in [
        "/",
        "/clusters",
        "/clusters/00000001/plan/00000001-002",
        "/catalog/services/nginx",
        "/operations/audit",
    ] {
        let page = browse(&nobody, path, "identity");
        assert!(page.header("content-type").starts_with("text/html"), "{path}: {page:?}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("x-frame-options"), "DENY");
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        if IS_BUILT {
            assert!(page.status == 200 && page.text.contains("<div id=\"app\">"), "{page:?}");
            assert!(policy.contains("script-src 'self'"), "{policy}");
            assert_eq!(
                (page.header("cache-control"), page.header("referrer-policy")),
                ("no-cache", "no-referrer")
            );
        } else {
            assert!(page.status == 404 && page.text.contains("make web"), "{page:?}");
        }
    }
}

#[test]
fn nothing_of_the_interface_for_programs_is_hidden_by_it() {
    let server = Server::start(&[]);
    let nobody = nobody(&server);
    browse(&nobody, "/status", "identity").is(200);
    for path in [
        "/v2/nothing",
        "/v2/clusters/1/nothing",
        "/nothing",
        "/metrics/nothing",
        "/assets/nothing.js",
        "/../etc/passwd",
    ] {
        let told = browse(&nobody, path, "identity").is(404);
        assert!(!told.header("content-type").contains("html"), "{path}: {told:?}");
    }
    nobody.ask("POST", "/clusters", &[], "").is(404);
    assert_eq!(browse(&nobody, "/v2/clusters", "identity").status, 401);
}

#[test]
fn files_are_packed_and_kept_for_ever_and_pages_are_asked_for_again() {
    if !IS_BUILT {
        eprintln!("NOT TESTED: files of the web interface, which was left out of this build (make web)");
        return;
    }
    let server = Server::start(&[]);
    let nobody = nobody(&server);
    let page = browse(&nobody, "/", "identity");
    let script =
        page.text.split('"').find(|part| part.starts_with("/assets/") && part.ends_with(".js")).unwrap();
    for (accepted, packed) in [("br, gzip", "br"), ("gzip", "gzip"), ("identity", "")] {
        let file = browse(&nobody, script, accepted).is(200);
        assert_eq!(file.header("content-encoding"), packed);
        assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
        assert!(file.header("content-type").starts_with("text/javascript"));
        assert!(file.header("vary").contains("ccept-"), "{file:?}");
    }
    assert_eq!(browse(&nobody, &format!("{script}.br"), "br").status, 404);
    let seen = nobody.ask("GET", "/", &[("If-None-Match", page.header("etag"))], "");
    assert_eq!((seen.status, seen.text.as_str()), (304, ""));
}
