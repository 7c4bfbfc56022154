//! `ETag`: who has an answer already is told so (304), and who changes something says what the change is based on.
//!
//! A tag is `"STATE-HASH"`: the state of what was asked for, where the handler names it ([`StateTag`]), and a hash of the
//! body. What is asked for again is compared by hash; a change by state, in the same step as the change is made
//! ([`IfMatch`]): nobody looks first and changes then.

use std::future::{Ready, ready};

use actix_web::body::{BodySize, BoxBody, MessageBody, to_bytes};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH,
};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, FromRequest, HttpRequest, HttpResponse, HttpResponseBuilder};
use cooperage_schema::Expected;
use sha2::{Digest, Sha256};

use super::Answer;
use crate::api::identity::hex;

/// Bytes of a body's hash that are part of its tag.
const HASH_BYTES: usize = 12;

/// The state of what is answered. Handlers put it among the extensions of their answer.
#[derive(Debug, Clone)]
pub struct StateTag(pub String);

impl StateTag {
    /// With this state of what is answered.
    pub fn on(self, builder: &mut HttpResponseBuilder) -> &mut HttpResponseBuilder {
        builder.extensions_mut().insert(self);
        builder
    }
}

/// What must be there for a change to be made, as the caller says it: `If-Match`, or `If-None-Match: *`.
#[derive(Debug, Clone)]
pub struct IfMatch(pub Expected);

impl FromRequest for IfMatch {
    type Error = Error;
    type Future = Ready<Result<Self, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(expected(request.headers()))))
    }
}

/// Numbers of a cluster's last event, one of which it must have; `None`: any.
#[must_use]
pub fn expected_sequences(expected: &Expected) -> Option<Vec<u64>> {
    match expected {
        Expected::Anything | Expected::Something => None,
        // A cluster that is told something is there.
        Expected::Nothing => Some(Vec::new()),
        Expected::OneOf(states) => Some(states.iter().filter_map(|state| state.parse().ok()).collect()),
    }
}

fn expected(headers: &HeaderMap) -> Expected {
    let tags = listed(headers, IF_MATCH);
    if tags.contains(&"*") {
        return Expected::Something;
    }
    if !tags.is_empty() {
        // A weak tag is never the same as another.
        let strong = tags.into_iter().filter(|tag| !tag.starts_with("W/"));
        return Expected::OneOf(strong.map(|tag| halves(tag).0.to_owned()).collect());
    }
    match listed(headers, IF_NONE_MATCH).contains(&"*") {
        true => Expected::Nothing,
        false => Expected::Anything,
    }
}

fn listed(headers: &HeaderMap, name: HeaderName) -> Vec<&str> {
    let values = headers.get_all(name).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|tag| !tag.is_empty()).collect()
}

/// State and hash of a tag, without what tells of its form: a weak one's `W/`, quotes, and how the body was packed.
fn halves(tag: &str) -> (&str, &str) {
    let plain = tag.trim_start_matches("W/").trim_matches('"');
    let plain = plain.strip_suffix("-gzip").unwrap_or(plain);
    plain.rsplit_once('-').unwrap_or(("", plain))
}

/// Gives whole bodies of `GET` a tag, and leaves those out that the caller has.
///
/// # Errors
/// Those of the layers below.
pub async fn tag(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Result<Answer, Error> {
    let is_get = request.method() == Method::GET;
    let known: Vec<String> =
        listed(request.headers(), IF_NONE_MATCH).into_iter().map(str::to_owned).collect();
    let answer: ServiceResponse<_> = next.call(request).await?;
    let answer: ServiceResponse<BoxBody> = answer.map_into_boxed_body();
    let whole = matches!(answer.response().body().size(), BodySize::Sized(_));
    if !is_get || answer.status() != StatusCode::OK || answer.headers().contains_key(ETAG) || !whole {
        return Ok(answer);
    }
    let state = answer.response().extensions().get::<StateTag>().cloned();
    let (request, response) = answer.into_parts();
    let (response, body) = response.into_parts();
    let bytes = to_bytes(body).await.map_err(|_| actix_web::error::ErrorInternalServerError("no body"))?;
    let hash = Sha256::digest(&bytes);
    let hash = hex(hash.get(..HASH_BYTES).unwrap_or(&hash));
    let seen = known.into_iter().find(|tag| tag == "*" || halves(tag).1 == hash);
    let state = state.map(|StateTag(state)| format!("{state}-")).unwrap_or_default();
    let own = format!("\"{state}{hash}\"");
    let told = match seen {
        None => {
            let mut told = response.set_body(BoxBody::new(bytes));
            insert_tag(told.headers_mut(), &own);
            told
        }
        Some(seen) => {
            let mut told = HttpResponse::NotModified().finish();
            let kept = [CACHE_CONTROL]
                .into_iter()
                .filter_map(|name| response.headers().get(&name).map(|value| (name.clone(), value.clone())));
            for (name, value) in kept {
                told.headers_mut().insert(name, value);
            }
            told.headers_mut().remove(CONTENT_TYPE);
            insert_tag(told.headers_mut(), if seen == "*" { &own } else { &seen });
            told
        }
    };
    Ok(ServiceResponse::new(request, told))
}

fn insert_tag(headers: &mut HeaderMap, tag: &str) {
    if let Ok(value) = HeaderValue::from_str(tag) {
        headers.insert(ETAG, value);
    }
}

/// A packed body is another one than the same unpacked, and so is its tag.
pub fn tell_packing(headers: &mut HeaderMap) {
    let is_packed =
        headers.get(actix_web::http::header::CONTENT_ENCODING).is_some_and(|value| value == "gzip");
    let tag = headers.get(ETAG).and_then(|value| value.to_str().ok());
    let packed =
        tag.filter(|_| is_packed).and_then(|tag| tag.strip_suffix('"')).map(|tag| format!("{tag}-gzip\""));
    if let Some(tag) = packed {
        insert_tag(headers, &tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn what_a_change_is_based_on_is_read() {
        let one_of = |states: &[&str]| Expected::OneOf(states.iter().map(ToString::to_string).collect());
        for (value, expected_state) in [
            ("\"3.ab-cd\"", one_of(&["3.ab"])),
            ("\"3.ab-cd-gzip\", \"4.ef-01\"", one_of(&["3.ab", "4.ef"])),
            ("*", Expected::Something),
            // Compared strongly, a weak tag is none.
            ("W/\"3.ab-cd\"", one_of(&[])),
            ("\"nonsense\"", one_of(&[""])),
        ] {
            assert_eq!(expected(&with(IF_MATCH, value)), expected_state, "{value}");
        }
        assert_eq!(expected(&HeaderMap::new()), Expected::Anything);
        assert_eq!(expected(&with(IF_NONE_MATCH, "*")), Expected::Nothing);
        assert_eq!(expected(&with(IF_NONE_MATCH, "\"a-b\"")), Expected::Anything);
    }

    #[test]
    fn clusters_are_in_states_by_number() {
        assert_eq!(expected_sequences(&Expected::Anything), None);
        assert_eq!(expected_sequences(&expected(&with(IF_MATCH, "\"17-ab\""))), Some(vec![17]));
        assert_eq!(expected_sequences(&expected(&with(IF_MATCH, "\"x-ab\""))), Some(vec![]));
    }
}
