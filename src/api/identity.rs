//! Who calls.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::future::{Ready, ready};
use std::sync::Arc;

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use cooperage_domain::access::{Denied, Role, Scope};
use cooperage_domain::cluster::Account;
use cooperage_schema::{SUPERADMIN, Token};
use sha2::{Digest, Sha256};

use super::audit::Caller;
use super::authorize::refusal;
use super::named::Named;
use super::operations::Port;
use super::problem::Problem;
use super::session;
use super::state::AppState;
use super::web_socket;
use crate::config::AuthMode;

/// The user id of a tenant's administrator, where callers are believed.
const ADMIN: &str = "admin";

/// Who calls, and for which tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The user; who visits is named with the tenant of its account before it.
    pub user: String,
    /// Internal id of the tenant.
    pub tenant: String,
    /// Whether the caller's account is in another tenant: a superadmin, who looks after this one.
    pub is_visiting: bool,
    /// What the user is there.
    pub role: Role,
    /// What the caller's token is limited to; none: nothing.
    pub scopes: BTreeSet<Scope>,
    /// How the caller is known.
    pub credential: Credential,
}

/// How a caller is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// Believed, by headers.
    Headers,
    /// By the token with this id.
    Token(String),
    /// By the session with this id, made at a login.
    Session(String),
}

impl Identity {
    /// Whether the caller administers the tenant.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.role.covers(Role::Admin)
    }

    /// Whether the caller runs the installation.
    #[must_use]
    pub fn is_superadmin(&self) -> bool {
        self.role == Role::Superadmin
    }

    /// The user whose clusters the caller sees, unless all of the tenant are seen.
    #[must_use]
    pub fn owner_seen(&self) -> Option<String> {
        (self.role == Role::User).then(|| self.user.clone())
    }

    /// Whether the caller sees what belongs to this user of the tenant.
    #[must_use]
    pub fn sees(&self, owner: &str) -> bool {
        self.owner_seen().is_none_or(|seen| seen == owner)
    }

    /// Lets only those pass whose account is in the tenant.
    ///
    /// # Errors
    /// 403 for visitors.
    pub(super) fn require_home(&self) -> Result<(), Problem> {
        if !self.is_visiting {
            return Ok(());
        }
        let detail = format!("{:?} visits this tenant, and has no account in it", self.user);
        Err(Problem::new(StatusCode::FORBIDDEN, detail)
            .with_remedy("do it in your own tenant: leave Coopr-TenantID out"))
    }

    /// As the owner of clusters.
    #[must_use]
    pub fn account(&self) -> Account {
        Account { user_id: self.user.clone(), tenant_id: self.tenant.clone() }
    }

    /// For the record.
    pub(super) fn caller(&self) -> Caller {
        let credential = match &self.credential {
            Credential::Headers => "headers".to_owned(),
            Credential::Token(id) => format!("token {id}"),
            Credential::Session(id) => format!("session {id}"),
        };
        Caller { tenant: self.tenant.clone(), user: self.user.clone(), credential }
    }

    /// Lets only administrators pass.
    ///
    /// # Errors
    /// 403.
    pub fn require_admin(&self) -> Result<(), Problem> {
        if self.is_admin() {
            return Ok(());
        }
        Err(refusal(self, &Denied::Role { role: self.role, needed: Role::Admin }))
    }
}

impl FromRequest for Identity {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        // `authorize` found it out; where it does not, nobody may ask for it.
        let found = request.extensions().get::<Self>().cloned();
        ready(found.ok_or_else(|| Problem::internal("a route without a caller")))
    }
}

/// What a caller said when something was opened that lasts, so that it can be asked later whether it still counts.
#[derive(Clone)]
pub(super) struct Standing {
    claim: Claim,
    named: Named,
}

impl Standing {
    /// Whether whoever was known as `before` is still let in, as the same. While nobody can tell, it counts.
    pub(super) async fn counts(&self, state: &Arc<AppState>, before: &Identity) -> bool {
        let Self { claim, named } = self.clone();
        match state.blocking(move |state| named.by(state, resolve(state, claim, &mut None)?)).await {
            Ok(identity) => identity == *before,
            Err(problem) => problem.status != StatusCode::UNAUTHORIZED.as_u16(),
        }
    }
}

/// What the caller says.
#[derive(Clone)]
pub(super) enum Claim {
    Named { user: String, tenant: String },
    Token(String),
    Session(String),
}

/// Who calls, to look or to change something; and leaves with the request, for the record, who it was, also where that is
/// refused.
///
/// # Errors
/// 401 for nobody, or one who is not known; 404 for a tenant that is not there.
pub(super) async fn identify(
    request: &ServiceRequest,
    state: &Arc<AppState>,
    port: Port,
    writes: bool,
) -> Result<Identity, Problem> {
    let headers = request.headers();
    let said = Named::of(request);
    let (claim, named) = match (state.settings.auth.mode, port) {
        (AuthMode::Headers, Port::User) => (said.believed()?, Named::default()),
        _ => (shown(request, writes)?, said.on(port)),
    };
    if web_socket::is_asked_for(headers) {
        request.extensions_mut().insert(Standing { claim: claim.clone(), named: named.clone() });
    }
    let (caller, identity) = state
        .blocking(move |state| {
            let mut caller = None;
            let identity = resolve(state, claim, &mut caller);
            let caller = identity.as_ref().map(Identity::caller).ok().or(caller);
            Ok((caller, identity.and_then(|identity| named.by(state, identity))))
        })
        .await?;
    // Who visits is on record as such.
    let caller = identity.as_ref().map(Identity::caller).ok().or(caller);
    if let Some(caller) = caller {
        request.extensions_mut().insert(caller);
    }
    identity
}

/// What a caller shows: the cookie of a session, or a token.
fn shown(request: &ServiceRequest, writes: bool) -> Result<Claim, Problem> {
    match session::cookie(request) {
        Some(secret) if !request.headers().contains_key(AUTHORIZATION) => {
            session::refuse_foreign_sites(request, writes)?;
            Ok(Claim::Session(secret))
        }
        _ => token(request.headers()),
    }
}

fn token(headers: &HeaderMap) -> Result<Claim, Problem> {
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    // What follows the first blank, whatever the scheme is called: old clients write `Bearer:`.
    let token = value.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim().to_owned());
    token.filter(|token| !token.is_empty()).map(Claim::Token).ok_or_else(|| {
        Problem::new(StatusCode::UNAUTHORIZED, "no token was sent").with_remedy(
            "send 'Authorization: Bearer TOKEN'; the first one is in data_dir/admin.token on the server",
        )
    })
}

/// Who calls. Whoever shows a token that counts no more is no caller, but `caller` says for the record whose it was.
fn resolve(state: &AppState, claim: Claim, caller: &mut Option<Caller>) -> Result<Identity, Problem> {
    let unauthorized = |detail| Problem::new(StatusCode::UNAUTHORIZED, detail);
    let now = state.clock.now();
    match claim {
        Claim::Named { user, tenant } => {
            let found = state.store.tenant(&tenant)?;
            let tenant = found.ok_or_else(|| {
                Problem::new(StatusCode::NOT_FOUND, format!("tenant {tenant:?} does not exist"))
            })?;
            let role = match (user.as_str(), tenant.id.as_str()) {
                (ADMIN, SUPERADMIN) => Role::Superadmin,
                (ADMIN, _) => Role::Admin,
                _ => Role::User,
            };
            let credential = Credential::Headers;
            let tenant = tenant.id;
            Ok(Identity { user, tenant, is_visiting: false, role, scopes: BTreeSet::new(), credential })
        }
        Claim::Token(token) => {
            let found = state.store.token_by_hash(&hash(&token))?;
            *caller = found.as_ref().map(|token| Caller {
                tenant: token.tenant.clone(),
                user: token.user.clone(),
                credential: format!("token {}", token.id),
            });
            let found = found.filter(|token| token.counts(now));
            let user = found.map(|token| with_user(state, token)).transpose()?.flatten();
            user.ok_or_else(|| unauthorized("the token is unknown, expired or revoked"))
        }
        Claim::Session(secret) => {
            let found = state.store.session(&hash(&secret), now)?;
            let (id, user) = found.ok_or_else(|| {
                unauthorized("the session has ended").with_remedy("log in again, or send a token")
            })?;
            let credential = Credential::Session(id);
            Ok(Identity {
                user: user.name,
                tenant: user.tenant,
                is_visiting: false,
                role: user.role,
                scopes: BTreeSet::new(),
                credential,
            })
        }
    }
}

/// The holder of a token: never more than the token was made for, nor than the user is by now.
fn with_user(state: &AppState, token: Token) -> Result<Option<Identity>, Problem> {
    let mut role = token.role;
    if role != Role::Provisioner {
        let Some(user) = state.store.user(&token.tenant, &token.user)?.filter(|user| !user.disabled) else {
            return Ok(None);
        };
        role = role.min(user.role);
    }
    let credential = Credential::Token(token.id);
    let Token { user, tenant, scopes, .. } = token;
    Ok(Some(Identity { user, tenant, is_visiting: false, role, scopes, credential }))
}

/// What is kept of a token.
#[must_use]
pub fn hash(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

/// Bytes as text, two digits each.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
