//! From the values of a file to documents: one, a list of them, or an export.

use cooperage_domain::entity::Kind;
use serde_json::{Map, Value};

use super::bundle::{Document, Place};
use super::fault::DocumentFault;
use super::folder::SourceFile;
use super::format::Found;

/// The documents in the values of a file.
pub(super) fn documents(source: &SourceFile, values: Vec<Found>) -> Result<Vec<Document>, DocumentFault> {
    let mut documents = Vec::new();
    for found in values {
        collect(found.value, &found.place, &mut documents)?;
    }
    let text = String::from_utf8_lossy(&source.content);
    if documents.is_empty() && !text.trim().is_empty() && !only_comments(&text) {
        return Err(DocumentFault::new(&source.place(), "holds no document", "write one with kind and name"));
    }
    Ok(documents)
}

fn only_comments(text: &str) -> bool {
    text.lines().all(|line| matches!(line.trim().chars().next(), None | Some('#')) || line.trim() == "---")
}

fn collect(value: Value, place: &Place, documents: &mut Vec<Document>) -> Result<(), DocumentFault> {
    match value {
        Value::Array(items) => items.into_iter().try_for_each(|item| collect(item, place, documents)),
        Value::Object(fields) if is_export(&fields) => {
            fields.into_iter().try_for_each(|(key, items)| collect_kind(&key, items, place, documents))
        }
        Value::Object(mut fields) => {
            let kind = fields.remove("kind");
            documents.push(Document {
                kind: kind_of(kind.as_ref(), &fields, place)?,
                fields,
                place: place.clone(),
            });
            Ok(())
        }
        other => Err(DocumentFault::new(
            place,
            format!("{} is not a document", shortened(&other)),
            "write an object with kind and name, a list of them, or an export",
        )),
    }
}

/// An export has no kind of its own, but lists by kind.
fn is_export(fields: &Map<String, Value>) -> bool {
    let lists = |(key, value): (&String, &Value)| Kind::from_plural(key).is_some() && value.is_array();
    !fields.contains_key("kind") && fields.iter().any(lists)
}

fn collect_kind(
    key: &str,
    items: Value,
    place: &Place,
    documents: &mut Vec<Document>,
) -> Result<(), DocumentFault> {
    let known = || "use providers, hardwaretypes, imagetypes, services, clustertemplates, partialtemplates";
    let kind = Kind::from_plural(key)
        .ok_or_else(|| DocumentFault::new(place, format!("there are no entities called {key:?}"), known()))?;
    let Value::Array(items) = items else {
        return Err(DocumentFault::new(place, format!("{key} is not a list"), "write a list of entities"));
    };
    for item in items {
        let Value::Object(fields) = item else {
            let detail = format!("{key}: {} is not an entity", shortened(&item));
            return Err(DocumentFault::new(place, detail, "write an object with name"));
        };
        documents.push(Document { kind, fields, place: place.clone() });
    }
    Ok(())
}

/// Kinds that people may write down.
const KINDS: [(&str, Kind); 6] = [
    ("provider", Kind::Provider),
    ("hardwaretype", Kind::HardwareType),
    ("imagetype", Kind::ImageType),
    ("service", Kind::Service),
    ("clustertemplate", Kind::ClusterTemplate),
    ("partialtemplate", Kind::PartialTemplate),
];

fn kind_of(kind: Option<&Value>, fields: &Map<String, Value>, place: &Place) -> Result<Kind, DocumentFault> {
    let name =
        fields.get("name").and_then(Value::as_str).map(|name| format!(" {name:?}")).unwrap_or_default();
    let known = KINDS.map(|(word, _)| word).join(", ");
    let Some(kind) = kind else {
        let detail = format!("the document{name} does not say what it is: kind is missing");
        return Err(DocumentFault::new(place, detail, format!("write kind: with one of {known}")));
    };
    let word = kind.as_str().unwrap_or_default();
    KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind).ok_or_else(|| {
        let detail = format!("the document{name} has an unknown kind: {}", shortened(kind));
        let remedy = match nearest(word) {
            Some(near) => format!("did you mean {near}? The kinds are {known}"),
            None => format!("use one of {known}"),
        };
        DocumentFault::new(place, detail, remedy)
    })
}

/// The kind that is written most like `word`, if one is anything like it.
fn nearest(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let likeness = |known: &str| similar::TextDiff::from_chars(word.as_str(), known).ratio();
    let best = KINDS.iter().map(|(known, _)| *known).max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.6).then_some(best)
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 { text } else { text.chars().take(40).chain("…".chars()).collect() }
}
