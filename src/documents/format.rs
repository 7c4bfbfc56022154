//! From text to values: YAML, JSON and TOML, each with its places.

use serde_json::Value;
use serde_saphyr::Spanned;

use super::bundle::Place;
use super::fault::DocumentFault;
use super::folder::SourceFile;

/// A value of a file, and where it begins.
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// The values in a file, by its ending; several only in YAML.
pub(super) fn read(source: &SourceFile) -> Result<Vec<Found>, DocumentFault> {
    let text = std::str::from_utf8(&source.content).map_err(|fault| {
        let before = source.content.get(..fault.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let place = Place { line: Some(number(line)), ..source.place() };
        DocumentFault::new(&place, "is not UTF-8 text", "store the file as UTF-8")
    })?;
    let ending = source.path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "json" => read_json(source, text),
        "toml" => read_toml(source, text),
        "yaml" | "yml" => read_yaml(source, text),
        _ => Err(DocumentFault::new(
            &source.place(),
            format!("the ending {ending:?} says nothing about what it holds"),
            "name it .yaml, .yml, .json or .toml",
        )),
    }
}

fn malformed(source: &SourceFile, text: &str, at: (usize, usize), format: &str, what: &str) -> DocumentFault {
    let (line, column) = (number(at.0).max(1), number(at.1).max(1));
    let place = Place { line: Some(line), column: Some(column), ..source.place() };
    let remedy = format!("correct the {format} there");
    DocumentFault::new(&place, format!("is not {format}: {what}"), remedy).within(text)
}

fn read_json(source: &SourceFile, text: &str) -> Result<Vec<Found>, DocumentFault> {
    let value = serde_json::from_str(text).map_err(|fault| {
        // serde_json repeats the place at the end of its sentence.
        let sentence = fault.to_string();
        let what = sentence.split(" at line ").next().unwrap_or_default();
        malformed(source, text, (fault.line(), fault.column()), "JSON", what)
    })?;
    Ok(vec![Found { value, place: source.place() }])
}

fn read_toml(source: &SourceFile, text: &str) -> Result<Vec<Found>, DocumentFault> {
    let value = toml::from_str(text).map_err(|fault| {
        let start = fault.span().map_or(0, |span| span.start);
        malformed(source, text, position(text, start), "TOML", fault.message())
    })?;
    Ok(vec![Found { value, place: source.place() }])
}

/// Line and column, from 1, of a byte.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    (line, column)
}

fn read_yaml(source: &SourceFile, text: &str) -> Result<Vec<Found>, DocumentFault> {
    // YAML 1.2: only true and false are booleans, so that a service may be called y, no or on.
    let options = serde_saphyr::options! { strict_booleans: true };
    let found: Vec<Spanned<Value>> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|fault| {
            let at = fault.location().map_or((1, 1), |at| (at.line() as usize, at.column() as usize));
            let sentence = fault.without_snippet().to_string();
            malformed(source, text, at, "YAML", first_sentence(&sentence))
        })?;
    let place = |found: &Spanned<Value>| {
        let line = Some(number(found.referenced.line())).filter(|line| *line > 0);
        Place { line, ..source.place() }
    };
    let found = found.into_iter().map(|found| Found { place: place(&found), value: found.value });
    // A separator at the beginning or the end makes an empty document.
    Ok(found.filter(|found| !found.value.is_null()).collect())
}

fn number(n: impl TryInto<u32>) -> u32 {
    n.try_into().unwrap_or(u32::MAX)
}

/// The parser's sentence without the place it repeats, the lines it adds, and its advice to programmers.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let end = [" at line ", ", set DuplicateKeyPolicy"].iter().filter_map(|mark| line.find(mark)).min();
    line.get(..end.unwrap_or(line.len())).unwrap_or(line).trim_start_matches("error: ")
}
