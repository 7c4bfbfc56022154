//! Reading what callers send: any content type, JSON, and faults with line, column and field.

use actix_web::http::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::lenient_json;
use super::problem::Problem;

/// Reads a body as JSON. Its content type is not looked at: old clients send forms' types with JSON in them.
///
/// # Errors
/// 400 with the place and, where there is one, the field.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    from_value(value(body)?)
}

/// Reads a body that need not be there.
///
/// # Errors
/// As [`parse`], for one that is there.
pub fn parse_optional<T: DeserializeOwned + Default>(body: &[u8]) -> Result<T, Problem> {
    if is_blank(body) || body.trim_ascii() == b"null" { Ok(T::default()) } else { parse(body) }
}

/// Reads a body as any JSON but `null`. What is no strict JSON may still be what old clients write.
///
/// # Errors
/// 400 with the place where strict JSON ends.
pub fn value(body: &[u8]) -> Result<Value, Problem> {
    let strict = serde_json::from_slice(body).map_err(|fault| malformed(body, &fault));
    let value: Value = strict.or_else(|problem| {
        let text = std::str::from_utf8(body).ok();
        text.and_then(|text| lenient_json::read(text).ok()).ok_or(problem)
    })?;
    if value.is_null() { Err(missing()) } else { Ok(value) }
}

/// Reads a JSON value as a type.
///
/// # Errors
/// 400 naming the field.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|fault| {
        // An unknown key has no place of its own, only that of the map it is in.
        let field = fault.path().to_string().trim_end_matches(".?").to_owned();
        let detail = format!("invalid input: {field}: {}", fault.inner());
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("correct the field");
        problem.field = Some(field).filter(|field| field != ".");
        problem
    })
}

fn is_blank(body: &[u8]) -> bool {
    body.iter().all(u8::is_ascii_whitespace)
}

fn missing() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid input: the body is empty")
        .with_remedy("send a JSON object")
}

fn malformed(body: &[u8], fault: &serde_json::Error) -> Problem {
    if is_blank(body) {
        return missing();
    }
    let place = format!("line {}, column {}", fault.line(), fault.column());
    Problem::new(StatusCode::BAD_REQUEST, format!("invalid input: the body is not JSON at {place}: {fault}"))
        .with_remedy(format!("correct the JSON at {place}"))
}
