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

/// Lets a request pass, or refuses it. On the port for provisioners everybody passes who reaches it, or only those with a
/// token, as the settings say.
///
/// # Errors
/// What the handler says.
pub async fn let_in<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let port = Port::of(&request);
    let operation = request.match_pattern().and_then(|path| operations::find(port, request.method(), &path));
    match operation {
        Some(operation) if asks_who(&request, operation) => match identified(&request, operation).await {
            Ok(identity) => _ = request.extensions_mut().insert(identity),
            Err(problem) => return Ok(request.error_response(problem).map_into_right_body()),
        },
        // There is nothing, or another method; who asked is found out for the record only.
        None if port == Port::User => _ = who(&request, port, false).await,
        _ => {}
    }
    next.call(request).await.map(ServiceResponse::map_into_left_body)
}

fn asks_who(request: &ServiceRequest, operation: &Operation) -> bool {
    let is_open = || {
        let state = request.app_data::<web::Data<AppState>>();
        state.is_some_and(|state| state.settings.auth.provisioners == ProvisionerAccess::Open)
    };
    operation.rule.role.is_some() && !(operation.port == Port::Tasks && is_open())
}

async fn who(request: &ServiceRequest, port: Port, writes: bool) -> Result<Identity, Problem> {
    let state = request.app_data::<web::Data<AppState>>().cloned();
    let state = state.ok_or_else(|| Problem::internal("no state"))?;
    identify(request, &state, port, writes).await
}

async fn identified(request: &ServiceRequest, operation: &Operation) -> Result<Identity, Problem> {
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
