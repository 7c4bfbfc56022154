//! Lets callers in: who they are is found out once, before anything else, and held against the table of operations.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::middleware::Next;
use actix_web::{HttpMessage, web};
use cooperage_domain::access::{self, Denied, Role};

use super::identity::{Identity, identify};
use super::operations::{self, Operation, Port};
use super::problem::Problem;
use super::state::AppState;
use crate::config::ProvisionerAccess;

/// On the port for people.
///
/// # Errors
/// What the handler says.
pub async fn user<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let operation =
        request.match_pattern().and_then(|path| operations::find(Port::User, request.method(), &path));
    match operation {
        Some(operation) if operation.rule.role.is_some() => match let_in(&request, operation).await {
            Ok(identity) => _ = request.extensions_mut().insert(identity),
            Err(problem) => return Ok(request.error_response(problem).map_into_right_body()),
        },
        Some(_) => {}
        // There is nothing, or another method; who asked is found out for the record only.
        None => _ = who(&request, Port::User, false).await,
    }
    next.call(request).await.map(ServiceResponse::map_into_left_body)
}

/// On the port for provisioners: as the settings say, everybody who reaches it is let in, or only those with a token.
///
/// # Errors
/// What the handler says.
pub async fn tasks<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let asks_who = request
        .app_data::<web::Data<AppState>>()
        .is_none_or(|state| state.settings.auth.provisioners == ProvisionerAccess::Token);
    let operation =
        request.match_pattern().and_then(|path| operations::find(Port::Tasks, request.method(), &path));
    if let (true, Some(operation)) = (asks_who, operation) {
        match let_in(&request, operation).await {
            Ok(identity) => _ = request.extensions_mut().insert(identity),
            Err(problem) => return Ok(request.error_response(problem).map_into_right_body()),
        }
    }
    next.call(request).await.map(ServiceResponse::map_into_left_body)
}

async fn who(request: &ServiceRequest, port: Port, writes: bool) -> Result<Identity, Problem> {
    let state = request.app_data::<web::Data<AppState>>().cloned();
    let state = state.ok_or_else(|| Problem::internal("no state"))?;
    identify(request, &state, port, writes).await
}

async fn let_in(request: &ServiceRequest, operation: &Operation) -> Result<Identity, Problem> {
    let identity = who(request, operation.port, operation.rule.writes).await?;
    access::decide(identity.role, &identity.scopes, operation.rule)
        .map_err(|denied| refusal(&identity, &denied))?;
    Ok(identity)
}

/// Why a caller may not do something, with whom to ask.
pub(super) fn refusal(identity: &Identity, denied: &Denied) -> Problem {
    let forbidden = |detail: String| Problem::new(StatusCode::FORBIDDEN, detail);
    let user = &identity.user;
    match denied {
        Denied::Role { needed: Role::Superadmin, .. } => {
            forbidden(format!("user {user:?} is not superadmin, and only a superadmin may do this"))
                .with_remedy("ask the installation's admin")
                .silently()
        }
        Denied::Role { needed: Role::Admin, .. } => {
            forbidden(format!("user {user:?} is not admin of the tenant, and only an admin may do this"))
                .with_remedy("ask the tenant's admin")
        }
        Denied::Role { .. } => forbidden(format!("user {user:?} may not do this: {denied}"))
            .with_remedy("ask the tenant's admin"),
        Denied::Scope { .. } => forbidden(denied.to_string()).with_remedy("use another token"),
    }
}
