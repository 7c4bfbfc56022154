//! Many entities at once: checked as a whole, stored in one transaction, unchanged ones left alone.

use std::collections::{BTreeMap, BTreeSet};

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::dependency_cycle::dependency_cycles;
use cooperage_domain::entity::{
    AutomatorType, ClusterTemplate, Entity, HardwareType, ImageType, Kind, PartialTemplate, Provider,
    ProviderType, Service,
};
use cooperage_domain::provider_fields::missing_fields;
use cooperage_schema::{Document, Put};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::audit::{about, only_shown};
use super::body;
use super::entities::for_kind;
use super::identity::Identity;
use super::problem::Problem;
use super::secret_fields::SecretFields;
use super::state::{AppState, owner_of};

/// What the caller wants of an apply.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Query {
    dry_run: bool,
}

/// One document of a request: an entity and its kind.
#[derive(Debug, Deserialize)]
struct Item {
    kind: Kind,
    #[serde(flatten)]
    entity: Value,
}

/// What became, or would become, of one document.
#[derive(Debug, Serialize)]
struct Change {
    kind: Kind,
    name: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    after: Value,
}

/// `POST /v2/apply[?dryRun=true]`: an array of entities, each with its `kind`.
pub async fn apply(
    state: web::Data<AppState>,
    identity: Identity,
    query: web::Query<Query>,
    body: web::Bytes,
) -> Result<HttpResponse, Problem> {
    let is_only_shown = query.dry_run;
    let changes = state
        .blocking(move |state| {
            let mut items: Vec<Item> = body::parse(&body)?;
            let secrets = SecretFields::load(state)?;
            for item in items.iter_mut().filter(|item| item.kind == Kind::Provider) {
                unmask(state, &identity.tenant, &secrets, &mut item.entity)?;
            }
            let documents = items.into_iter().enumerate().map(document).collect::<Result<Vec<_>, _>>()?;
            check_together(state, &identity.tenant, &documents)?;
            let before = documents
                .iter()
                .map(|document| stored(state, &identity.tenant, document))
                .collect::<Result<Vec<_>, _>>()?;
            let puts = if is_only_shown {
                None
            } else {
                Some(state.store.put_entities(&identity.tenant, documents.clone(), state.clock.now())?)
            };
            let describe = |(index, (document, before)): (usize, (&Document, Option<Value>))| {
                let put = puts.as_ref().and_then(|puts| puts.get(index).copied());
                change(document, before, put).map(|change| change.hiding(&secrets))
            };
            documents.iter().zip(before).enumerate().map(describe).collect::<Result<Vec<_>, Problem>>()
        })
        .await?;
    let changed = changes.iter().filter(|change| change.version.is_some() && change.change != "unchanged");
    let names: Vec<String> =
        changed.map(|change| format!("{}/{}", change.kind.plural(), change.name)).collect();
    let answer = HttpResponse::Ok().json(&changes);
    if is_only_shown {
        return Ok(only_shown(answer));
    }
    Ok(if names.is_empty() { answer } else { about(answer, format!("/v2/apply: {}", names.join(", "))) })
}

/// Takes back the secrets that stand behind masks in a provider.
fn unmask(
    state: &AppState,
    tenant: &str,
    secrets: &SecretFields,
    provider: &mut Value,
) -> Result<(), Problem> {
    let name = provider["name"].as_str().unwrap_or_default();
    let before = state.store.entity::<Provider>(tenant, name, None)?;
    let providertype = provider["providertype"].as_str().unwrap_or_default().to_owned();
    if let Some(Value::Object(values)) = provider.get_mut("provisioner") {
        secrets.restore(&providertype, values, before.as_ref())?;
    }
    Ok(())
}

impl Change {
    /// Without the secrets of a provider.
    fn hiding(mut self, secrets: &SecretFields) -> Self {
        if self.kind == Kind::Provider {
            for provider in self.before.iter_mut().chain([&mut self.after]) {
                secrets.hide_in(provider);
            }
        }
        self
    }
}

/// A document that keeps the rules of its kind.
fn document((index, item): (usize, Item)) -> Result<Document, Problem> {
    if matches!(item.kind, Kind::ProviderType | Kind::AutomatorType) {
        let detail = format!("document {}: plugin types come with their plugins", index + 1);
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("leave it out"));
    }
    let name = item.entity.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let parsed = for_kind!(item.kind, E => body::from_value::<E>(item.entity).and_then(|entity| {
        entity.check()?;
        Ok(Document::new(entity)?)
    }));
    parsed.map_err(|mut problem| {
        problem.detail = format!("{} {name:?}: {}", item.kind.noun(), problem.detail);
        problem
    })
}

/// Rules over several entities, those that are stored included.
fn check_together(state: &AppState, tenant: &str, documents: &[Document]) -> Result<(), Problem> {
    let mut services: BTreeMap<String, Service> =
        state.store.entities::<Service>(tenant)?.into_iter().map(|s| (s.name().to_owned(), s)).collect();
    let new = documents.iter().filter(|d| d.kind() == Kind::Service);
    for service in new.map(parse::<Service>).collect::<Result<Vec<_>, _>>()? {
        services.insert(service.name().to_owned(), service);
    }
    refuse_twice(documents)?;
    refuse_cycles(services.values())?;
    let types = state.store.entities::<ProviderType>(owner_of(Kind::ProviderType, tenant))?;
    for provider in documents.iter().filter(|d| d.kind() == Kind::Provider) {
        check_provider(&parse(provider)?, &types)?;
    }
    Ok(())
}

/// Which of two documents of one name is meant cannot be known.
fn refuse_twice(documents: &[Document]) -> Result<(), Problem> {
    let mut seen = BTreeSet::new();
    let twice = documents.iter().find(|document| !seen.insert((document.kind().noun(), document.name())));
    let Some(document) = twice else { return Ok(()) };
    let detail =
        format!("{} {:?}: there are two documents of this name", document.kind().noun(), document.name());
    let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail);
    problem.field = Some("name".to_owned());
    problem.value = Some(document.name().to_owned());
    Err(problem.with_remedy("leave one of them out, or give it another name"))
}

/// Services that wait for each other in a circle would never start.
///
/// # Errors
/// 400, naming them.
pub(super) fn refuse_cycles<'a>(services: impl IntoIterator<Item = &'a Service>) -> Result<(), Problem> {
    let cycles = dependency_cycles(services);
    let Some(cycle) = cycles.first() else { return Ok(()) };
    let mut problem = Problem::new(StatusCode::BAD_REQUEST, cycle.to_string());
    problem.field = Some("dependencies".to_owned());
    Err(problem.with_remedy("drop one of these dependencies"))
}

/// A provider's type exists, and its administrator has filled in what the type requires.
fn check_provider(provider: &Provider, types: &[ProviderType]) -> Result<(), Problem> {
    let name = &provider.base.name;
    let Some(kind) = types.iter().find(|kind| kind.base().name == provider.providertype) else {
        let known: Vec<&str> = types.iter().map(|kind| kind.base().name.as_str()).collect();
        let detail =
            format!("provider {name:?}: providertype: there is no provider type {:?}", provider.providertype);
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail);
        problem.field = Some("providertype".to_owned());
        problem.value = Some(provider.providertype.clone());
        return Err(problem.with_remedy(format!("use one of: {}", known.join(", "))));
    };
    let given =
        |field: &str| provider.provisioner.get(field).is_some_and(|value| !value.is_null() && value != "");
    let missing = missing_fields(&kind.0.parameters.admin, given);
    if missing.is_empty() {
        return Ok(());
    }
    let alternatives: Vec<String> =
        missing.iter().map(|fields| fields.keys().cloned().collect::<Vec<_>>().join(" and ")).collect();
    let wanted = alternatives.join(", or ");
    let detail =
        format!("provider {name:?}: provisioner: {wanted} of type {} is missing", provider.providertype);
    let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail);
    problem.field = Some(format!("provisioner.{}", alternatives.first().map_or("", String::as_str)));
    Err(problem.with_remedy(format!("give a value for {wanted} under provisioner")))
}

fn parse<E: Entity>(document: &Document) -> Result<E, Problem> {
    serde_json::from_str(document.json()).map_err(Problem::internal)
}

fn stored(state: &AppState, tenant: &str, document: &Document) -> Result<Option<Value>, Problem> {
    let without_version = |mut value: Value| {
        if let Value::Object(fields) = &mut value {
            fields.remove("version");
        }
        value
    };
    let found: Option<Value> = for_kind!(document.kind(), E => {
        let found = state.store.entity::<E>(tenant, document.name(), None)?;
        found.map(serde_json::to_value).transpose().map_err(Problem::internal)?
    });
    Ok(found.map(without_version))
}

fn change(document: &Document, before: Option<Value>, put: Option<Put>) -> Result<Change, Problem> {
    let after: Value = serde_json::from_str(document.json()).map_err(Problem::internal)?;
    let change = match (put, &before) {
        (Some(Put::Created(_)), _) | (None, None) => "created",
        (Some(Put::Unchanged(_)), _) => "unchanged",
        (None, Some(before)) if *before == after => "unchanged",
        (Some(Put::Changed(_)) | None, _) => "changed",
    };
    let (kind, name) = (document.kind(), document.name().to_owned());
    Ok(Change { kind, name, change, version: put.map(Put::version), before, after })
}
