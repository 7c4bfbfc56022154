//! Names that are said beside a token or a session. Clients of Coopr send them along, and they must be those that the token stands
//! for. Whoever runs the installation may name another tenant: it is looked after in the role of superadmin, and everything done
//! there is on record as the visitor's.

use actix_web::dev::ServiceRequest;
use actix_web::http::StatusCode;
use cooperage_schema::SUPERADMIN;

use super::identity::{Claim, Identity};
use super::operations::Port;
use super::problem::Problem;
use super::state::AppState;
use super::web_socket;

/// The headers that name user and tenant.
const USER: &str = "Coopr-UserID";
const TENANT: &str = "Coopr-TenantID";
/// Names the tenant where a browser asks by itself, and sends no headers of a page: for a WebSocket, or for a file to keep.
const IN_ADDRESS: &str = "tenant";

/// Who a request says it comes from.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    user: Option<String>,
    tenant: Option<String>,
}

impl Named {
    /// As the request has it.
    pub(super) fn of(request: &ServiceRequest) -> Self {
        let headers = request.headers();
        let header = |name: &str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        };
        let in_address = || {
            let query = url::form_urlencoded::parse(request.query_string().as_bytes());
            query.filter(|(name, _)| name == IN_ADDRESS).map(|(_, value)| value.into_owned()).next()
        };
        let by_itself =
            web_socket::is_asked_for(headers) || header("Sec-Fetch-Mode").as_deref() == Some("navigate");
        let tenant = header(TENANT).or_else(|| in_address().filter(|_| by_itself));
        Self { user: header(USER), tenant }
    }

    /// Where callers are believed.
    ///
    /// # Errors
    /// 401 when a name is missing.
    pub(super) fn believed(self) -> Result<Claim, Problem> {
        let missing = |name: &str| {
            Problem::new(StatusCode::UNAUTHORIZED, format!("the header {name} is missing"))
                .with_remedy("say who you are with Coopr-UserID and Coopr-TenantID")
        };
        let user = self.user.ok_or_else(|| missing(USER))?;
        Ok(Claim::Named { user, tenant: self.tenant.ok_or_else(|| missing(TENANT))? })
    }

    /// Provisioners say which tenant they work for, and nothing about themselves.
    pub(super) fn on(self, port: Port) -> Self {
        match (&self.user, port) {
            (None, Port::Tasks) => Self::default(),
            _ => self,
        }
    }

    /// Whose credential it was, in the tenant that was named. Waits for the database.
    ///
    /// # Errors
    /// 401 for names that are not the caller's, 404 for a tenant that is not there.
    pub(super) fn by(self, state: &AppState, caller: Identity) -> Result<Identity, Problem> {
        let Some(name) = self.tenant else { return Ok(caller) };
        let is_caller = self.user.as_ref().is_none_or(|user| *user == caller.user);
        let found = state.store.tenant(&name)?;
        match found {
            Some(tenant) if is_caller && tenant.id == caller.tenant => Ok(caller),
            Some(tenant) if is_caller && caller.is_superadmin() => {
                let user = format!("{SUPERADMIN}/{}", caller.user);
                Ok(Identity { user, tenant: tenant.id, is_visiting: true, ..caller })
            }
            None if is_caller && caller.is_superadmin() => Err(Problem::not_found("tenant", &name)),
            _ => Err(not_the_callers(self.user.as_deref(), &name)),
        }
    }
}

fn not_the_callers(user: Option<&str>, tenant: &str) -> Problem {
    let of_user = user.map(|user| format!("user {user:?} of ")).unwrap_or_default();
    let detail = format!("the token is not that of {of_user}tenant {tenant:?}, whom the headers name");
    Problem::new(StatusCode::UNAUTHORIZED, detail)
        .with_remedy("leave Coopr-UserID and Coopr-TenantID out, or send the token of that user")
}
