//! Users: made, changed and removed by their tenant's admin; by the superadmin in every tenant.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::access::{Role, UnknownWord};
use cooperage_domain::entity::check_name;
use cooperage_domain::invalid::Invalid;
use cooperage_schema::{SUPERADMIN, User, UserChange};
use serde::Deserialize;
use serde_json::{Value, json};

use super::body;
use super::identity::{Credential, Identity};
use super::password;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of users.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/users", |on| on.get(list).post(post));
    routes.at("/v2/users/{name}", |on| on.get(get).put(put).delete(delete));
    routes.at("/v2/me/password", |on| on.put(own_password));
}

/// In which tenant; others than the own are for the superadmin.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TenantQuery {
    tenant: Option<String>,
}

impl TenantQuery {
    /// The id of the tenant that is meant. Waits for the database.
    ///
    /// # Errors
    /// 403 for another tenant than the own; 404 when it is not there.
    pub(super) fn of(&self, state: &AppState, identity: &Identity) -> Result<String, Problem> {
        let Some(name) = &self.tenant else { return Ok(identity.tenant.clone()) };
        let found = state.store.tenant(name)?;
        if found.as_ref().is_some_and(|found| found.id == identity.tenant) {
            return Ok(identity.tenant.clone());
        }
        if !identity.is_superadmin() {
            let detail = format!("tenant {name:?} is not the caller's");
            let problem = Problem::new(StatusCode::FORBIDDEN, detail).at("tenant", name);
            return Err(problem.with_remedy("leave the tenant out"));
        }
        found.map(|found| found.id).ok_or_else(|| Problem::not_found("tenant", name))
    }
}

/// A user as one is sent.
#[derive(Deserialize)]
struct Sent {
    name: Option<String>,
    role: Option<String>,
    password: Option<String>,
    disabled: Option<bool>,
}

impl Sent {
    /// The role, if it may be given in the tenant by the caller.
    fn role(&self, tenant: &str, identity: &Identity) -> Result<Option<Role>, Problem> {
        let Some(word) = &self.role else { return Ok(None) };
        let refused = |fault: String, remedy: &str| Invalid::new("role", word, fault, remedy);
        let unknown =
            |fault: UnknownWord| refused("is no role".to_owned(), &format!("use one of: {}", fault.known()));
        let role: Role = word.parse().map_err(unknown)?;
        if role == Role::Provisioner {
            let remedy = "make a token of the role provisioner instead";
            return Err(refused("is for programs, which need no user".to_owned(), remedy).into());
        }
        if role == Role::Superadmin && tenant != SUPERADMIN {
            let remedy = "make the user in the tenant superadmin, or an admin here";
            return Err(refused("is in the tenant superadmin only".to_owned(), remedy).into());
        }
        if !identity.role.covers(role) {
            let detail = format!("role: {role} is more than the caller's, {}", identity.role);
            return Err(Problem::new(StatusCode::FORBIDDEN, detail).at("role", word));
        }
        Ok(Some(role))
    }

    fn hashed(&self) -> Result<Option<String>, Problem> {
        self.password.as_deref().map(password::hash).transpose()
    }
}

fn shown(user: &User) -> Value {
    json!({
        "name": user.name,
        "role": user.role,
        "disabled": user.disabled,
        "hasPassword": user.password_hash.is_some(),
        "created": user.created_ms,
    })
}

async fn list(state: State, identity: Identity, query: web::Query<TenantQuery>) -> Answer {
    let users = state.blocking(move |state| Ok(state.store.users(&query.of(state, &identity)?)?)).await?;
    Ok(HttpResponse::Ok().json(users.iter().map(shown).collect::<Vec<_>>()))
}

fn find(state: &AppState, tenant: &str, name: &str) -> Result<User, Problem> {
    state.store.user(tenant, name)?.ok_or_else(|| Problem::not_found("user", name))
}

async fn get(
    state: State,
    identity: Identity,
    name: web::Path<String>,
    query: web::Query<TenantQuery>,
) -> Answer {
    let user = state.blocking(move |state| find(state, &query.of(state, &identity)?, &name)).await?;
    Ok(HttpResponse::Ok().json(shown(&user)))
}

async fn post(state: State, identity: Identity, query: web::Query<TenantQuery>, body: web::Bytes) -> Answer {
    let sent: Sent = body::parse(&body)?;
    let _turn = state.login_limit.turn().await?;
    let user = state
        .blocking(move |state| {
            let tenant = query.of(state, &identity)?;
            let missing = || Invalid::new("name", "", "is missing", "name the user as in 'Coopr-UserID'");
            let name = sent.name.clone().ok_or_else(missing)?;
            check_name("name", &name)?;
            let user = User {
                role: sent.role(&tenant, &identity)?.unwrap_or(Role::User),
                tenant,
                name,
                password_hash: sent.hashed()?,
                created_ms: state.clock.now(),
                disabled: sent.disabled.unwrap_or(false),
            };
            state.store.add_user(user.clone())?;
            Ok(user)
        })
        .await?;
    Ok(HttpResponse::Ok().json(shown(&user)))
}

async fn put(
    state: State,
    identity: Identity,
    name: web::Path<String>,
    query: web::Query<TenantQuery>,
    body: web::Bytes,
) -> Answer {
    let sent: Sent = body::parse(&body)?;
    let _turn = state.login_limit.turn().await?;
    let user = state
        .blocking(move |state| {
            let tenant = query.of(state, &identity)?;
            may_change(&identity, &find(state, &tenant, &name)?)?;
            let change = UserChange {
                role: sent.role(&tenant, &identity)?,
                password_hash: sent.hashed()?,
                disabled: sent.disabled,
            };
            state.store.change_user(&tenant, &name, change, state.clock.now())?;
            find(state, &tenant, &name)
        })
        .await?;
    Ok(HttpResponse::Ok().json(shown(&user)))
}

/// Nobody changes, or takes over, somebody of a greater role.
fn may_change(identity: &Identity, user: &User) -> Result<(), Problem> {
    if identity.role.covers(user.role) {
        return Ok(());
    }
    let detail = format!("user {:?} is {}, which is more than the caller is", user.name, user.role);
    Err(Problem::new(StatusCode::FORBIDDEN, detail).with_remedy("ask a superadmin"))
}

/// One that is not there is no fault.
async fn delete(
    state: State,
    identity: Identity,
    name: web::Path<String>,
    query: web::Query<TenantQuery>,
) -> Answer {
    state
        .blocking(move |state| {
            let tenant = query.of(state, &identity)?;
            if let Some(user) = state.store.user(&tenant, &name)? {
                may_change(&identity, &user)?;
            }
            Ok(state.store.delete_user(&tenant, &name)?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}

#[derive(Deserialize)]
struct NewPassword {
    old: String,
    new: String,
}

/// Another password for the caller, who must know the old one: a browser left alone, or a token found, is not enough.
async fn own_password(state: State, identity: Identity, body: web::Bytes) -> Answer {
    identity.require_home()?;
    let NewPassword { old, new } = body::parse(&body)?;
    if identity.credential == Credential::Headers {
        let detail = "users have no passwords here: callers are believed (auth.mode is headers)";
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    state.login_limit.count(&format!("{}/{}", identity.tenant, identity.user), "")?;
    let _turn = state.login_limit.turn().await?;
    state
        .blocking(move |state| {
            let user = find(state, &identity.tenant, &identity.user)?;
            if !password::is_right(&old, user.password_hash.as_deref()) {
                let problem = Problem::new(StatusCode::FORBIDDEN, "old: the password is wrong");
                return Err(problem
                    .at("old", "(not shown)")
                    .with_remedy("ask the tenant's admin for a new one"));
            }
            let change = UserChange { password_hash: Some(password::hash(&new)?), ..UserChange::default() };
            Ok(state.store.change_user(&identity.tenant, &identity.user, change, state.clock.now())?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}
