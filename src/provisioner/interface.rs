//! What a provisioner is asked by its server, as in Coopr: workers and resources of tenants, and whether it lives.

use actix::Addr;
use actix_web::http::StatusCode;
use actix_web::{HttpResponse, HttpResponseBuilder, web};
use cooperage_actors::agent::{Agent, Assign, Dismiss, GetAgentState};
use cooperage_domain::worker_protocol::Assignment;
use serde_json::{Value, json};

/// Largest assignment, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;

type Of = web::Data<Addr<Agent>>;

/// All routes.
pub fn routes(config: &mut web::ServiceConfig) {
    config
        .app_data(web::PayloadConfig::new(MAX_BODY))
        .service(web::resource("/status").route(web::get().to(status)))
        .service(web::resource("/heartbeat").route(web::get().to(heartbeat)))
        .service(web::resource("/v2/tenants").route(web::post().to(post)))
        .service(web::resource("/v2/tenants/{id}").route(web::put().to(put)).route(web::delete().to(delete)));
}

/// `STARTING` until the server knows it, `OK`, or `DRAINING` when it takes no more.
async fn status(agent: Of) -> HttpResponse {
    let state = agent.send(GetAgentState).await;
    let word = match state {
        Ok(state) if state.leaving => "DRAINING",
        Ok(state) if state.registered => "OK",
        Ok(_) => "STARTING",
        Err(fault) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, fault),
    };
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body(word)
}

/// What it tells its server with every beat.
async fn heartbeat(agent: Of) -> HttpResponse {
    match agent.send(GetAgentState).await {
        Ok(state) => HttpResponse::Ok().json(json!({ "usage": state.usage })),
        Err(fault) => refusal(StatusCode::INTERNAL_SERVER_ERROR, fault),
    }
}

async fn post(agent: Of, body: web::Bytes) -> HttpResponse {
    assign(&agent, None, &body).await
}

async fn put(agent: Of, tenant: web::Path<String>, body: web::Bytes) -> HttpResponse {
    assign(&agent, Some(tenant.into_inner()), &body).await
}

/// Answers at once: getting resources may take longer than a server waits.
async fn assign(agent: &Addr<Agent>, tenant: Option<String>, body: &[u8]) -> HttpResponse {
    let read = serde_json::from_slice::<Value>(body)
        .and_then(|shown| Ok((serde_json::from_value::<Assignment>(shown.clone())?, shown)));
    let (assignment, mut shown) = match read {
        Ok(read) => read,
        Err(fault) => return refusal(StatusCode::BAD_REQUEST, format!("the body is no assignment: {fault}")),
    };
    let tenant = tenant.unwrap_or_else(|| assignment.id.clone());
    if tenant.is_empty() {
        return refusal(StatusCode::BAD_REQUEST, "id: say which tenant it is about");
    }
    let assign = Assign { tenant, workers: assignment.workers, resources: assignment.resources };
    if let Err(fault) = agent.send(assign).await {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, fault);
    }
    if let Value::Object(fields) = &mut shown {
        fields.insert("status".to_owned(), 0.into());
    }
    HttpResponse::Ok().json(shown)
}

async fn delete(agent: Of, tenant: web::Path<String>) -> HttpResponse {
    match agent.send(Dismiss { tenant: tenant.into_inner() }).await {
        Ok(true) => HttpResponse::Ok().body("OK"),
        Ok(false) => refusal(StatusCode::NOT_FOUND, "this provisioner brings no workers for that tenant"),
        Err(fault) => refusal(StatusCode::INTERNAL_SERVER_ERROR, fault),
    }
}

fn refusal(status: StatusCode, reason: impl std::fmt::Display) -> HttpResponse {
    HttpResponseBuilder::new(status).content_type("text/plain; charset=utf-8").body(format!("{reason}\n"))
}
