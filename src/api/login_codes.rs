//! Codes that let a browser in once: whoever has a token gets one for a page of this server, without typing a password.
//!
//! A code counts for a few minutes and for one login. It is kept as a hash, in memory only, and a page has it behind the `#` of
//! its address, which browsers send to nobody.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_schema::User;
use serde_json::json;

use super::identity::{Identity, hash};
use super::problem::Problem;
use super::routes::Routes;
use super::secret::new_secret;
use super::state::AppState;
use crate::config::AuthMode;

/// How long a code counts, in milliseconds.
const COUNTS_MS: i64 = 10 * 60 * 1000;
/// Codes that are kept at most; beyond it those that end first go.
const MOST: usize = 1000;

/// The route for asking for one.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/login-codes", |on| on.post(offer));
}

/// Codes that nobody has used yet, by their hashes.
#[derive(Debug, Default)]
pub struct LoginCodes {
    kept: Mutex<HashMap<String, Offered>>,
}

/// Whom a code lets in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Internal id of the tenant.
    pub tenant: String,
    /// The user's name.
    pub user: String,
    /// Until when: milliseconds since 1970.
    expires_ms: i64,
}

impl LoginCodes {
    fn kept(&self) -> MutexGuard<'_, HashMap<String, Offered>> {
        // Nobody panics while holding it: codes are only put in and taken out.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, code: &str, offered: Offered, now: i64) {
        let mut kept = self.kept();
        kept.retain(|_, other| other.expires_ms > now);
        if kept.len() >= MOST {
            let first = kept.iter().min_by_key(|(_, other)| other.expires_ms).map(|(hash, _)| hash.clone());
            first.map(|hash| kept.remove(&hash));
        }
        kept.insert(hash(code), offered);
    }

    /// Whom a code lets in; it counts no more after this.
    #[must_use]
    pub fn take(&self, code: &str, now: i64) -> Option<Offered> {
        self.kept().remove(&hash(code)).filter(|offered| offered.expires_ms > now)
    }
}

async fn offer(state: web::Data<AppState>, identity: Identity) -> Result<HttpResponse, Problem> {
    let conflict =
        |detail: &str, remedy: &str| Problem::new(StatusCode::CONFLICT, detail).with_remedy(remedy);
    if state.settings.auth.mode == AuthMode::Headers {
        let remedy = "open the page, and say there who you are";
        return Err(conflict("this server believes who callers say they are, and has no logins", remedy));
    }
    identity.require_home()?;
    let (tenant, name) = (identity.tenant.clone(), identity.user.clone());
    let user: Option<User> = state.blocking(move |state| Ok(state.store.user(&tenant, &name)?)).await?;
    // A session is everything its user is: no token that is less may become one.
    let is_whole = user.is_some_and(|user| user.role == identity.role) && identity.scopes.is_empty();
    if !is_whole {
        let detail = "the token stands for less than its user, and a login would be more";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail)
            .with_remedy("use a token without limits, or log in with a password"));
    }
    let (code, now) = (new_secret(), state.clock.now());
    let offered = Offered { tenant: identity.tenant, user: identity.user, expires_ms: now + COUNTS_MS };
    state.login_codes.keep(&code, offered, now);
    Ok(HttpResponse::Ok().json(json!({ "code": code, "expires": now + COUNTS_MS })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ann(expires_ms: i64) -> Offered {
        Offered { tenant: "t".to_owned(), user: "ann".to_owned(), expires_ms }
    }

    #[test]
    fn a_code_counts_once_and_not_for_long() {
        let codes = LoginCodes::default();
        codes.keep("first", ann(100), 0);
        codes.keep("late", ann(100), 0);
        assert_eq!(codes.take("other", 50), None);
        assert_eq!(codes.take("first", 50), Some(ann(100)));
        assert_eq!(codes.take("first", 50), None);
        assert_eq!(codes.take("late", 100), None);
        assert!(!format!("{codes:?}").contains("late"));
    }

    #[test]
    fn there_are_never_too_many() {
        let codes = LoginCodes::default();
        for n in 0..=MOST {
            codes.keep(&n.to_string(), ann(1000 + i64::try_from(n).unwrap()), 0);
        }
        assert_eq!(codes.take("0", 1), None, "the one that ends first has gone");
        assert!(codes.take("1", 1).is_some() && codes.kept().len() == MOST - 1);
    }
}
