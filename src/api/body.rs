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
        let said = fault.inner().to_string();
        let missing = said.strip_prefix("missing field ").map(|name| name.trim_matches('`'));
        // An unknown key has no place of its own, only that of the map it is in; the body itself is ".".
        let path = fault.path().to_string();
        let within = Some(path.trim_end_matches(".?")).filter(|path| *path != ".");
        let field = match (within, missing) {
            (Some(path), Some(name)) => Some(format!("{path}.{name}")),
            (path, name) => path.or(name).map(str::to_owned),
        };
        let place = field.as_deref().unwrap_or("the body");
        let (said, remedy) = match missing {
            Some(_) => ("is missing", format!("add {place}")),
            None => (said.as_str(), format!("correct {place}")),
        };
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, format!("invalid input: {place}: {said}"));
        problem.field = field;
        problem.with_remedy(remedy)
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
