//! Calls of callbacks: the record of those that were made, made again, and tried.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::callbacks::Look;
use cooperage_domain::callback::HookEvent;
use cooperage_domain::id::JobId;
use cooperage_schema::{Attempted, Delivery, DeliveryFilter, DeliveryStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::callbacks::find;
use super::identity::Identity;
use super::paging::Paging;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use super::users::TenantQuery;

/// Name of the list of calls in its cursors.
const LIST: &str = "deliveries";
/// Calls in a list when nothing is said.
const USUAL: u32 = 100;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of calls.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/callbacks/{name}/test", |on| on.post(test));
    routes.at("/v2/callbacks/{name}/deliveries", |on| on.get(list));
    routes.at("/v2/callbacks/{name}/deliveries/{id}", |on| on.get(get));
    routes.at("/v2/callbacks/{name}/deliveries/{id}/redeliver", |on| on.post(redeliver));
}

#[derive(Debug, Default, Deserialize)]
struct ListQuery {
    status: Option<String>,
}

fn shown(call: &Delivery) -> Value {
    json!({
        "id": call.id,
        "event": call.event,
        "action": call.action,
        "clusterId": call.cluster,
        "job": call.cluster.zip(call.job).map(|(cluster, number)| JobId { cluster, number }),
        "status": call.status.as_str(),
        "attempts": call.attempts,
        "triesLeft": call.tries_left,
        "created": call.created_ms,
        "next": call.next_ms,
    })
}

/// A call with what was sent and what was answered.
fn shown_whole(call: &Delivery, tried: &[Attempted]) -> Value {
    let mut shown = shown(call);
    shown["body"] = serde_json::from_str(&call.body).unwrap_or_default();
    shown["tries"] = tried.iter().map(shown_try).collect();
    shown
}

fn shown_try(tried: &Attempted) -> Value {
    json!({
        "time": tried.at_ms,
        "durationMs": tried.duration_ms,
        "code": tried.code,
        "answer": tried.answer,
        "fault": tried.fault,
    })
}

async fn list(
    state: State,
    identity: Identity,
    name: web::Path<String>,
    (tenant, query, part): (web::Query<TenantQuery>, web::Query<ListQuery>, Paging),
) -> Answer {
    let part = part.at_most(USUAL);
    let behind: Option<(i64, String)> = part.place(LIST)?;
    let status = query.status.as_deref().map(str::parse::<DeliveryStatus>).transpose()?;
    let filter = DeliveryFilter { status, behind, limit: part.wanted() };
    let mut found = state
        .blocking(move |state| {
            let hook = find(state, &identity, &tenant.of(state, &identity)?, &name)?;
            Ok(state.store.deliveries(&hook.id, &filter)?)
        })
        .await?;
    let last = part.cut(&mut found).map(|call| (call.created_ms, call.id.clone()));
    let mut answer = HttpResponse::Ok();
    part.link(&mut answer, LIST, last);
    Ok(answer.json(found.iter().map(shown).collect::<Vec<_>>()))
}

async fn get(
    state: State,
    identity: Identity,
    at: web::Path<(String, String)>,
    tenant: web::Query<TenantQuery>,
) -> Answer {
    let (name, id) = at.into_inner();
    let found = state
        .blocking(move |state| {
            let hook = find(state, &identity, &tenant.of(state, &identity)?, &name)?;
            let found = state.store.delivery(&hook.id, &id)?;
            let (call, tried) = found.ok_or_else(|| Problem::not_found("delivery", &id))?;
            Ok(shown_whole(&call, &tried))
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

/// Makes a call again, with the same body under the same id. What a start hook was asked is history.
async fn redeliver(
    state: State,
    identity: Identity,
    at: web::Path<(String, String)>,
    tenant: web::Query<TenantQuery>,
) -> Answer {
    let (name, id) = at.into_inner();
    let call = state
        .blocking(move |state| {
            let hook = find(state, &identity, &tenant.of(state, &identity)?, &name)?;
            if let Some((call, _)) = state.store.delivery(&hook.id, &id)?
                && matches!(call.event, HookEvent::Start | HookEvent::Test)
            {
                let detail = format!("delivery {id} is of the event {}, which is over", call.event);
                let remedy = "only what success, failure and lease-warning tell can be told again";
                return Err(Problem::new(StatusCode::CONFLICT, detail).with_remedy(remedy));
            }
            let tries = state.callbacks.rules.max_attempts;
            Ok(state.store.redeliver(&hook.id, &id, tries, state.clock.now())?)
        })
        .await?;
    state.calls.do_send(Look);
    Ok(HttpResponse::Ok().json(shown(&call)))
}

/// Makes a call of the event `test` now, and answers with what came of it.
async fn test(
    state: State,
    identity: Identity,
    name: web::Path<String>,
    tenant: web::Query<TenantQuery>,
) -> Answer {
    let user = identity.user.clone();
    let hook =
        state.blocking(move |state| find(state, &identity, &tenant.of(state, &identity)?, &name)).await?;
    let (call, tried) = state.callbacks.test(hook, &user).await?;
    Ok(HttpResponse::Ok().json(shown_whole(&call, &[tried])))
}
