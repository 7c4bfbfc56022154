//! Callbacks of a tenant: made, changed and tried by its admin. Those of the settings are shown to superadmins.

use std::collections::BTreeSet;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::callback::{Hook, HookEvent, LONGEST_TIMEOUT, OnError, action};
use cooperage_domain::entity::check_name;
use cooperage_domain::invalid::Invalid;
use cooperage_domain::plan::ClusterAction;
use cooperage_schema::{HookChange, SUPERADMIN, StoredHook};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::audit::about;
use super::body;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::secret::new_secret;
use super::state::AppState;
use super::users::TenantQuery;
use crate::config::SETTINGS_PREFIX;
use crate::server::courier::target;

/// How long a target may take when nothing is said, in ms.
const USUAL_TIMEOUT: u32 = 10_000;
/// Shortest secret that is taken, in characters.
const SHORTEST_SECRET: usize = 16;
/// Longest one.
const LONGEST_SECRET: usize = 1_000;
/// Longest URL, in characters.
const LONGEST_URL: usize = 2_000;
/// Most callbacks of a tenant.
const MOST: usize = 100;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of callbacks; those of their calls are in [`super::deliveries`].
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/callbacks", |on| on.get(list).post(post));
    routes.at("/v2/callbacks/{name}", |on| on.get(get).put(put).delete(delete));
}

/// A callback as one is sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    name: Option<String>,
    url: Option<String>,
    events: Option<Vec<String>>,
    actions: Option<Vec<String>>,
    secret: Option<String>,
    #[serde(default, deserialize_with = "cooperage_domain::lenient::optional_number")]
    timeout_ms: Option<i64>,
    on_error: Option<String>,
}

impl Sent {
    fn change(&self, state: &AppState) -> Result<HookChange, Problem> {
        if let Some(url) = &self.url {
            if url.chars().count() > LONGEST_URL {
                let remedy = format!("use at most {LONGEST_URL} characters");
                return Err(Invalid::new("url", "(not shown)", "is too long", remedy).into());
            }
            target(url, Some(&state.settings.callbacks.networks()?))?;
        }
        Ok(HookChange {
            url: self.url.clone(),
            events: self.events.as_deref().map(events).transpose()?,
            actions: self.actions.as_deref().map(actions).transpose()?,
            timeout: self.timeout_ms.map(timeout).transpose()?,
            on_error: self.on_error.as_deref().map(str::parse::<OnError>).transpose()?,
            secret: self.secret.as_deref().map(secret).transpose()?,
        })
    }
}

fn events(words: &[String]) -> Result<BTreeSet<HookEvent>, Invalid> {
    let known = |word: &String| {
        word.parse().and_then(|event| match event {
            HookEvent::Test => Err(Invalid::new("events", word, "is only for trying", "leave it out")),
            event => Ok(event),
        })
    };
    let events: BTreeSet<HookEvent> = words.iter().map(known).collect::<Result<_, _>>()?;
    if events.is_empty() {
        let all = HookEvent::ALL.map(HookEvent::as_str).join(", ");
        return Err(Invalid::new("events", "[]", "names no event", format!("name some of {all}")));
    }
    Ok(events)
}

fn actions(words: &[String]) -> Result<BTreeSet<ClusterAction>, Invalid> {
    words.iter().map(|word| action(word)).collect()
}

fn timeout(ms: i64) -> Result<u32, Invalid> {
    let refused = || {
        let remedy = format!("use 1 to {LONGEST_TIMEOUT} milliseconds");
        Invalid::new("timeoutMs", ms, "is no time a target may take", remedy)
    };
    u32::try_from(ms).ok().filter(|ms| (1..=LONGEST_TIMEOUT).contains(ms)).ok_or_else(refused)
}

fn secret(text: &str) -> Result<Zeroizing<String>, Invalid> {
    if (SHORTEST_SECRET..=LONGEST_SECRET).contains(&text.chars().count()) {
        return Ok(Zeroizing::new(text.to_owned()));
    }
    let remedy =
        format!("use {SHORTEST_SECRET} to {LONGEST_SECRET} characters, or leave it out: one is made");
    Err(Invalid::new("secret", "(not shown)", "is too short or too long", remedy))
}

/// A callback as it is shown, never with its secret.
fn shown(stored: &StoredHook) -> Value {
    let mut shown = shown_hook(&stored.hook);
    shown["created"] = stored.created_ms.into();
    shown["createdBy"] = stored.created_by.as_str().into();
    shown
}

fn shown_hook(hook: &Hook) -> Value {
    json!({
        "name": hook.name,
        "url": hook.url,
        "events": hook.events,
        "actions": hook.actions,
        "timeoutMs": hook.timeout,
        "onError": hook.on_error,
        "source": if hook.is_of_settings() { "settings" } else { "tenant" },
        "created": null,
        "createdBy": null,
    })
}

/// The callback of this name that the caller may see: one of the tenant, or for superadmins one of the settings.
pub(super) fn find(state: &AppState, identity: &Identity, tenant: &str, name: &str) -> Result<Hook, Problem> {
    if let Some(hook) = of_settings(state, identity, tenant).iter().find(|hook| hook.name == name) {
        return Ok(hook.clone());
    }
    let found = state.store.hook(tenant, name)?;
    found.map(|stored| stored.hook).ok_or_else(|| Problem::not_found("callback", name))
}

fn of_settings<'a>(state: &'a AppState, identity: &Identity, tenant: &str) -> &'a [Hook] {
    let seen = identity.is_superadmin() && tenant == SUPERADMIN;
    if seen { &state.callbacks.settings_hooks } else { &[] }
}

async fn list(state: State, identity: Identity, query: web::Query<TenantQuery>) -> Answer {
    let found: Vec<Value> = state
        .blocking(move |state| {
            let tenant = query.of(state, &identity)?;
            let stored = state.store.hooks(Some(&tenant))?;
            let fixed = of_settings(state, &identity, &tenant).iter().map(shown_hook);
            Ok(fixed.chain(stored.iter().map(shown)).collect())
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn get(
    state: State,
    identity: Identity,
    name: web::Path<String>,
    query: web::Query<TenantQuery>,
) -> Answer {
    let found = state
        .blocking(move |state| {
            let tenant = query.of(state, &identity)?;
            if let Some(stored) = state.store.hook(&tenant, &name)? {
                return Ok(shown(&stored));
            }
            Ok(shown_hook(&find(state, &identity, &tenant, &name)?))
        })
        .await?;
    Ok(HttpResponse::Ok().json(found))
}

async fn post(state: State, identity: Identity, query: web::Query<TenantQuery>, body: web::Bytes) -> Answer {
    let sent: Sent = body::parse(&body)?;
    let (name, made) = state
        .blocking(move |state| {
            let tenant = query.of(state, &identity)?;
            let change = sent.change(state)?;
            let hook = wanted(state, tenant, sent.name, &change)?;
            // A secret that is made here is shown this once; one that was given never.
            let is_made = change.secret.is_none();
            let secret = change.secret.unwrap_or_else(|| Zeroizing::new(new_secret()));
            let stored = StoredHook { hook, created_ms: state.clock.now(), created_by: identity.user };
            state.store.add_hook(stored.clone(), secret.clone())?;
            let mut shown = shown(&stored);
            if is_made {
                shown["secret"] = secret.as_str().into();
            }
            Ok((stored.hook.name, shown))
        })
        .await?;
    let answer = HttpResponse::Ok().insert_header(("Cache-Control", "no-store")).json(made);
    Ok(about(answer, format!("/v2/callbacks/{name}")))
}

/// The callback that is asked for.
fn wanted(
    state: &AppState,
    tenant: String,
    name: Option<String>,
    change: &HookChange,
) -> Result<Hook, Problem> {
    let missing = |field: &str, remedy: &str| Invalid::new(field, "", "is missing", remedy);
    let name = name.ok_or_else(|| missing("name", "give the callback a name"))?;
    check_name("name", &name)?;
    if name.starts_with(SETTINGS_PREFIX) {
        let remedy = "choose another one: these are callbacks of the server's settings";
        return Err(Invalid::new("name", name, format!("begins with {SETTINGS_PREFIX}"), remedy).into());
    }
    if state.store.hooks(Some(&tenant))?.len() >= MOST {
        let detail = format!("the tenant has {MOST} callbacks, and may have no more");
        return Err(Problem::new(StatusCode::CONFLICT, detail).with_remedy("delete one that is not needed"));
    }
    let words = HookEvent::ALL.map(HookEvent::as_str).join(", ");
    Ok(Hook {
        id: Uuid::new_v4().to_string(),
        tenant: Some(tenant),
        name,
        url: change.url.clone().ok_or_else(|| missing("url", "say where it is called"))?,
        events: change
            .events
            .clone()
            .ok_or_else(|| missing("events", &format!("say what it is called for: {words}")))?,
        actions: change.actions.clone().unwrap_or_default(),
        timeout: change.timeout.unwrap_or(USUAL_TIMEOUT),
        on_error: change.on_error.unwrap_or_default(),
    })
}

async fn put(
    state: State,
    identity: Identity,
    name: web::Path<String>,
    query: web::Query<TenantQuery>,
    body: web::Bytes,
) -> Answer {
    let sent: Sent = body::parse(&body)?;
    let changed = state
        .blocking(move |state| {
            let tenant = query.of(state, &identity)?;
            if find(state, &identity, &tenant, &name)?.is_of_settings() {
                return Err(fixed(&name));
            }
            Ok(state.store.change_hook(&tenant, &name, sent.change(state)?)?)
        })
        .await?;
    Ok(HttpResponse::Ok().json(shown(&changed)))
}

fn fixed(name: &str) -> Problem {
    let detail = format!("callback {name} stands in the server's settings");
    Problem::new(StatusCode::CONFLICT, detail)
        .with_remedy("change callbacks.http.* there, and start the server again")
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
            if of_settings(state, &identity, &tenant).iter().any(|hook| hook.name == *name) {
                return Err(fixed(&name));
            }
            Ok(state.store.delete_hook(&tenant, &name)?)
        })
        .await?;
    Ok(HttpResponse::Ok().finish())
}
