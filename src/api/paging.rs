//! Long lists in parts: `?limit=N`, then `?limit=N&cursor=…` as the `Link` header says. Without either a list is whole.
//!
//! A cursor names the last thing that was listed, not how many were: what is inserted or removed meanwhile neither repeats
//! nor hides anything. What it says is nobody's business but ours; it gives no rights.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::LINK;
use actix_web::{FromRequest, HttpRequest, HttpResponseBuilder, web};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// Most items in one part.
pub const MAX_LIMIT: u32 = 1_000;
/// Items in one part when only a cursor is given.
const USUAL_LIMIT: u32 = 100;
/// Longest cursor that is looked at, in characters.
const MAX_CURSOR: usize = 2_048;

/// Which part of a list is asked for.
#[derive(Debug, Clone)]
pub struct Paging {
    /// At most so many items; `None`: the whole list.
    pub limit: Option<u32>,
    cursor: Option<String>,
    path: String,
    /// What else was asked, to be asked again for the next part.
    rest: Vec<(String, String)>,
}

impl FromRequest for Paging {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::read(request.path(), request.query_string()))
    }
}

impl Paging {
    fn read(path: &str, query: &str) -> Result<Self, Problem> {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(query).map_err(|fault| {
            let detail = format!("the query cannot be read: {fault}");
            Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("write it as name=value&name=value")
        })?;
        let (mut limit, mut cursor, mut rest) = (None, None, Vec::new());
        for (name, value) in pairs.into_inner() {
            match name.as_str() {
                "limit" => limit = Some(number(&value)?),
                "cursor" => cursor = Some(value),
                _ => rest.push((name, value)),
            }
        }
        if cursor.is_some() {
            limit = limit.or(Some(USUAL_LIMIT));
        }
        Ok(Self { limit, cursor, path: path.to_owned(), rest })
    }

    /// With a limit where none is given.
    #[must_use]
    pub fn at_most(self, limit: u32) -> Self {
        Self { limit: self.limit.or(Some(limit)), ..self }
    }

    /// Behind what the part begins; `None`: at the start. Each list has places of its own, told apart by `list`.
    ///
    /// # Errors
    /// 400 for a cursor that this list has not given.
    pub fn place<T: DeserializeOwned>(&self, list: &str) -> Result<Option<T>, Problem> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let read = || {
            let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
            let (of, place): (String, T) = serde_json::from_slice(&bytes).ok()?;
            (of == list).then_some(place)
        };
        let place = if cursor.len() > MAX_CURSOR { None } else { read() };
        place.map(Some).ok_or_else(|| {
            let shown: String = cursor.chars().take(64).collect();
            let detail = format!("cursor: {shown:?} was not given by this list");
            Problem::new(StatusCode::BAD_REQUEST, detail)
                .at("cursor", shown)
                .with_remedy("take it from the Link header of the part before, or leave it out to start anew")
        })
    }

    /// How many to look for: one more than asked, by which it is known whether there is more.
    #[must_use]
    pub fn wanted(&self) -> u32 {
        self.limit.map_or(u32::MAX, |limit| limit.saturating_add(1))
    }

    /// Leaves out what is more than asked for. Gives the last item that is left when there was more: the next part is behind
    /// it.
    pub fn cut<'a, T>(&self, items: &'a mut Vec<T>) -> Option<&'a T> {
        let limit = usize::try_from(self.limit?).unwrap_or(usize::MAX);
        let has_more = items.len() > limit;
        items.truncate(limit);
        items.last().filter(|_| has_more)
    }

    /// The `Link` to the next part, behind `place`.
    pub fn link<T: Serialize>(&self, answer: &mut HttpResponseBuilder, list: &str, place: Option<T>) {
        if let Some(next) = self.next(list, place) {
            answer.insert_header((LINK, format!("<{next}>; rel=\"next\"")));
        }
    }

    /// Path and query of the next part, behind `place`.
    pub fn next<T: Serialize>(&self, list: &str, place: Option<T>) -> Option<String> {
        let (place, limit) = (place?, self.limit?);
        let place = serde_json::to_vec(&(list, place)).ok()?;
        let mut pairs = self.rest.clone();
        pairs.push(("limit".to_owned(), limit.to_string()));
        pairs.push(("cursor".to_owned(), URL_SAFE_NO_PAD.encode(place)));
        let query: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(value))).collect();
        Some(format!("{}?{}", self.path, query.join("&")))
    }
}

fn number(text: &str) -> Result<u32, Problem> {
    let limit = text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
    limit.ok_or_else(|| {
        let shown: String = text.chars().take(64).collect();
        Problem::new(
            StatusCode::BAD_REQUEST,
            format!("limit: {shown:?} is not a number from 1 to {MAX_LIMIT}"),
        )
        .at("limit", shown)
        .with_remedy(format!("use a number from 1 to {MAX_LIMIT}"))
    })
}

/// As it may stand in a query.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use actix_web::HttpResponse;
    use proptest::prelude::*;

    use super::*;

    fn next(paging: &Paging, place: &(i64, String)) -> Option<String> {
        let mut answer = HttpResponse::Ok();
        paging.link(&mut answer, "things", Some(place));
        let answer = answer.finish();
        let link = answer.headers().get(LINK)?.to_str().ok()?.to_owned();
        Some(link.strip_prefix('<')?.strip_suffix(">; rel=\"next\"")?.to_owned())
    }

    #[test]
    fn without_limit_and_cursor_a_list_is_whole() {
        let paging = Paging::read("/v2/things", "status=active").unwrap();
        let mut items: Vec<u32> = (0..5000).collect();
        assert_eq!((paging.limit, paging.cut(&mut items), paging.wanted()), (None, None, u32::MAX));
        assert_eq!(items.len(), 5000);
    }

    #[test]
    fn bad_limits_and_cursors_are_named() {
        for limit in ["0", "1001", "-1", "x", "", "99999999999"] {
            let problem = Paging::read("/", &format!("limit={limit}")).unwrap_err();
            assert_eq!((problem.field.as_deref(), problem.value.as_deref()), (Some("limit"), Some(limit)));
        }
        for cursor in ["", "x", "eyJh", "W10", "WyJvdGhlciIsWzEsImEiXV0"] {
            let paging = Paging::read("/", &format!("cursor={cursor}")).unwrap();
            let problem = paging.place::<(i64, String)>("things").unwrap_err();
            assert_eq!((problem.status, problem.field.as_deref()), (400, Some("cursor")));
        }
    }

    proptest! {
        #[test]
        fn the_next_part_is_behind_the_last(number: i64, text: String, status in "[a-z&=,% ]{0,12}") {
            let query = format!("status={}&limit=7", escaped(&status));
            let paging = Paging::read("/v2/things", &query).unwrap();
            let place = (number, text);
            let link = next(&paging, &place).unwrap();
            let (path, query) = link.split_once('?').unwrap();
            let read = Paging::read(path, query).unwrap();
            prop_assert_eq!(read.limit, Some(7));
            prop_assert_eq!(&read.rest, &[("status".to_owned(), status)]);
            prop_assert_eq!(read.place::<(i64, String)>("things").unwrap(), Some(place));
        }

        #[test]
        fn no_query_makes_it_panic(query: String) {
            if let Ok(paging) = Paging::read("/", &query) {
                let _ = paging.place::<(i64, String)>("things");
            }
        }
    }
}
