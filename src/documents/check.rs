//! The rules of each kind, asked before anything is sent: so each fault can be shown with its file.

use cooperage_domain::entity::{
    ClusterTemplate, Entity, HardwareType, ImageType, Kind, PartialTemplate, Provider, Service,
};
use serde_json::{Map, Value};

use super::bundle::Document;
use super::fault::DocumentFault;

/// What is wrong with a document by the rules of its kind, if anything is.
pub(super) fn fault(document: &Document) -> Option<DocumentFault> {
    let found = match document.kind {
        Kind::Provider => check::<Provider>(&document.fields),
        Kind::HardwareType => check::<HardwareType>(&document.fields),
        Kind::ImageType => check::<ImageType>(&document.fields),
        Kind::Service => check::<Service>(&document.fields),
        Kind::ClusterTemplate => check::<ClusterTemplate>(&document.fields),
        Kind::PartialTemplate => check::<PartialTemplate>(&document.fields),
        Kind::ProviderType | Kind::AutomatorType => {
            Err(("plugin types come with their plugins".to_owned(), "leave it out".to_owned()))
        }
    };
    let (detail, remedy) = found.err()?;
    let detail = format!("{} {:?}: {detail}", document.kind.noun(), document.name());
    Some(DocumentFault::new(&document.place, detail, remedy))
}

/// What is wrong and what to do about it.
type Wrong = (String, String);

fn check<E: Entity>(fields: &Map<String, Value>) -> Result<(), Wrong> {
    let entity: E = serde_path_to_error::deserialize(Value::Object(fields.clone())).map_err(|fault| {
        let field = fault.path().to_string();
        let detail = fault.inner().to_string();
        match detail.strip_prefix("missing field ").map(|name| name.trim_matches('`')) {
            Some(name) => {
                let whole = if field == "." { name.to_owned() } else { format!("{field}.{name}") };
                (format!("{whole} is missing"), format!("add {whole}"))
            }
            None => (format!("{field}: {detail}"), format!("correct {field}")),
        }
    })?;
    entity
        .check()
        .map_err(|fault| (format!("{}: {:?} {}", fault.field, fault.value, fault.fault), fault.remedy))
}
