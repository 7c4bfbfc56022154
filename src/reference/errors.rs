//! What goes wrong, by status, by kind of failure, and by exit code.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use actix_web::http::StatusCode;
use cooperage_domain::error_kind::ErrorKind;

use super::{assert_page, cell};

const INTRODUCTION: &str = "# Errors

Every refusal says what is wrong, where, and what to do; the statuses and kinds here are for programs. [Exit
codes](commands.md#exit-codes) are those of the command line; [Troubleshooting](../troubleshooting.md) has single messages.

## Problems

Every refusal of the [interface for programs](../rest.md#problems) is `application/problem+json` (RFC 9457). There is no `type`: what it is about
says the status, with `field` and `value` where one is at fault.

| field | what it is |
|---|---|
| `status`, `title` | the status below |
| `detail` | what is wrong, a sentence |
| `field`, `value` | which field, and what was in it |
| `remedy` | what to do about it |
| `reasons` | each reason why there is no layout, with what would make it possible |
| `missingFields` | what a provider asks for beside: alternatives, each a set of fields with their schemas |
| `callback`, `reason` | who refused a job, and why |
| `id` | under which the cause of a fault of the server is in its log |

| status | title | when | what helps |
|---|---|---|---|
";

/// Every status that a refusal can have: when, and what helps.
const STATUSES: [(StatusCode, &str, &str); 19] = [
    (
        StatusCode::BAD_REQUEST,
        "the body is no JSON, or a value is wrong",
        "correct `field`, as `remedy` says",
    ),
    (
        StatusCode::UNAUTHORIZED,
        "no token, or one that is unknown, expired or revoked",
        "send a token that is valid",
    ),
    (
        StatusCode::FORBIDDEN,
        "the caller's role, or the token's scopes, do not reach so far",
        "have somebody do it who may",
    ),
    (
        StatusCode::NOT_FOUND,
        "there is no such thing, or none that the caller may see",
        "look at the name and the tenant",
    ),
    (
        StatusCode::METHOD_NOT_ALLOWED,
        "the path has no such method; `Allow` names those it has",
        "use one of them",
    ),
    (
        StatusCode::REQUEST_TIMEOUT,
        "the head or the body of a request came too slowly",
        "`http.request_timeout_seconds`, `http.body_timeout_seconds`",
    ),
    (
        StatusCode::CONFLICT,
        "it exists already, is in use, is above a quota, or the cluster is not in a state for it",
        "what `remedy` says; `Retry-After` when it passes by itself",
    ),
    (
        StatusCode::PRECONDITION_FAILED,
        "somebody else has changed it since",
        "get it again, and send the new `ETag`",
    ),
    (
        StatusCode::PAYLOAD_TOO_LARGE,
        "a body or an upload is larger than is allowed",
        "`resources.max_upload_mb`; bodies have 16 MiB at most",
    ),
    (
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "a body is packed in a way that is not known",
        "send it plain, or as gzip or deflate",
    ),
    (
        StatusCode::EXPECTATION_FAILED,
        "a report for an attempt that is not open any more (Coopr's status)",
        "nothing: the attempt is over",
    ),
    (
        StatusCode::UNPROCESSABLE_ENTITY,
        "there is no layout; or a key of idempotency was used for another request",
        "one of the `reasons`; a fresh key",
    ),
    (
        StatusCode::UPGRADE_REQUIRED,
        "what is there is talked with over a WebSocket",
        "open it with a client for those",
    ),
    (StatusCode::TOO_MANY_REQUESTS, "too many tries to log in", "wait as long as `Retry-After` says"),
    (
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "path and headers are larger than `http.max_header_bytes`",
        "shorten them",
    ),
    (StatusCode::INTERNAL_SERVER_ERROR, "a fault of the server", "look for `id` in its log"),
    (
        StatusCode::BAD_GATEWAY,
        "a node lets nobody in, or is not who it was",
        "look at its machine: the detail says how far the login came",
    ),
    (
        StatusCode::SERVICE_UNAVAILABLE,
        "the database or the bucket is away, or the server stops",
        "try again after `Retry-After`",
    ),
    (StatusCode::INSUFFICIENT_STORAGE, "no room for an upload", "free some space in `data_dir`"),
];

/// Statuses that are none of a refusal.
const OTHERS: [&str; 1] = ["OK"];

const KINDS: &str = "
## Kinds of failures

A failed attempt of a task has a kind, which decides [whether and when it is tried again](../tasks.md#kinds-of-failures). After the last attempt the
message ends with:

| kind | what the message adds |
|---|---|
";

#[test]
fn the_book_has_every_status_and_kind() {
    let mut page = INTRODUCTION.to_owned();
    for (status, when, helps) in STATUSES {
        let title = status.canonical_reason().unwrap_or_default();
        let _ = writeln!(page, "| {} | {title} | {} | {} |", status.as_u16(), cell(when), cell(helps));
    }
    page.push_str(KINDS);
    for kind in ErrorKind::ALL {
        let _ = writeln!(page, "| `{kind}` | {} |", kind.advice().map_or("nothing".to_owned(), cell));
    }
    assert_page("errors", &page);
}

#[test]
fn every_status_of_the_sources_is_among_them() {
    let mut used = BTreeMap::new();
    for folder in ["src/api", "src/server"] {
        find(Path::new(folder), &mut used);
    }
    // `StatusCode::NOT_FOUND` is "Not Found".
    let told: Vec<String> = STATUSES
        .iter()
        .filter_map(|(status, ..)| status.canonical_reason())
        .map(|title| title.to_uppercase().replace(' ', "_"))
        .collect();
    for (status, file) in used {
        assert!(told.contains(&status), "{file} answers {status}: say in the table when that is");
    }
}

/// Statuses that sources name, each with a file.
fn find(folder: &Path, used: &mut BTreeMap<String, String>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            find(&path, used);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for rest in text.split("StatusCode::").skip(1) {
            let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len());
            if end > 1 && !OTHERS.contains(&&rest[..end]) {
                used.insert(rest[..end].to_owned(), path.display().to_string());
            }
        }
    }
}
