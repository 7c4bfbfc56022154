//! The audit log, as it is read and checked.

use actix_web::{HttpResponse, web};
use cooperage_domain::audit::{Entry, Outcome};
use cooperage_domain::invalid::Invalid;
use cooperage_schema::AuditFilter;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

/// Entries in an answer unless another number is asked for.
const PAGE: u32 = 100;
/// Most entries in an answer.
const LONGEST_PAGE: u32 = 1_000;

/// Routes of both.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/audit", |on| on.get(list));
    routes.at("/v2/audit/verify", |on| on.get(verify));
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Query {
    since: Option<String>,
    until: Option<String>,
    user: Option<String>,
    tenant: Option<String>,
    action: Option<String>,
    object: Option<String>,
    outcome: Option<Outcome>,
    /// Only entries with a smaller number: `next` of the page before.
    cursor: Option<u64>,
    limit: Option<u32>,
}

impl Query {
    /// What this caller may ask for: a tenant's admin sees that tenant's entries.
    fn filter(self, identity: Identity) -> Result<AuditFilter, Problem> {
        let tenant = if identity.is_superadmin() { self.tenant } else { Some(identity.tenant) };
        Ok(AuditFilter {
            tenant,
            user: self.user,
            action: self.action,
            object: self.object,
            outcome: self.outcome,
            since_ms: self.since.map(|text| moment("since", &text)).transpose()?,
            until_ms: self.until.map(|text| moment("until", &text)).transpose()?,
            before: self.cursor,
            limit: self.limit.unwrap_or(PAGE).clamp(1, LONGEST_PAGE),
        })
    }
}

/// A point in time: ms since 1970, or as RFC 3339 writes it.
fn moment(field: &str, text: &str) -> Result<i64, Invalid> {
    let read = text.parse().ok().or_else(|| Some(text.parse::<Timestamp>().ok()?.as_millisecond()));
    let remedy = "give ms since 1970, or a time like 2026-11-20T18:00:00Z";
    read.ok_or_else(|| Invalid::new(field, text, "is not a point in time", remedy))
}

/// `GET /v2/audit`: a page of entries, newest first, and the cursor of the next one.
async fn list(
    state: web::Data<AppState>,
    identity: Identity,
    query: web::Query<Query>,
) -> Result<HttpResponse, Problem> {
    let filter = query.into_inner().filter(identity)?;
    let limit = filter.limit as usize;
    let entries = state.blocking(move |state| Ok(state.store.audit(&filter)?)).await?;
    let next = entries.last().filter(|_| entries.len() == limit).map(|entry| entry.sequence);
    let shown: Vec<Value> = entries.iter().map(shown).collect();
    Ok(HttpResponse::Ok().json(json!({ "entries": shown, "next": next })))
}

fn shown(entry: &Entry) -> Value {
    let record = &entry.record;
    json!({
        "sequence": entry.sequence,
        "at": record.at_ms,
        "request": record.request,
        "tenant": record.tenant,
        "user": record.user,
        "credential": record.credential,
        "peer": record.peer,
        "forwarded": record.forwarded,
        "port": record.port,
        "action": record.action,
        "object": record.object,
        "status": record.status,
        "outcome": record.outcome(),
        "hash": entry.hash,
    })
}

/// `GET /v2/audit/verify`: whether the whole chain holds.
async fn verify(state: web::Data<AppState>, _: Identity) -> Result<HttpResponse, Problem> {
    let check = state.blocking(|state| Ok(state.store.check_audit()?)).await?;
    let (entries, broken) = match &check.outcome {
        Ok(entries) => (json!(entries), Value::Null),
        Err(broken) => (Value::Null, json!({ "sequence": broken.sequence(), "reason": broken.to_string() })),
    };
    let answer = json!({
        "intact": check.outcome.is_ok(),
        "entries": entries,
        "broken": broken,
        "anchor": check.anchor,
        "head": check.head,
    });
    Ok(HttpResponse::Ok().json(answer))
}
