//! Tokens by which users of the API are known. Only hashes are stored.

use std::collections::BTreeSet;

use cooperage_domain::access::{Role, Scope};
use diesel::prelude::*;

use crate::error::StoreError;
use crate::store::Store;
use crate::tables::tokens;
use crate::users::read_role;

/// What a token gives its holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its id, which may be shown.
    pub id: String,
    /// Hash of the secret; unique.
    pub hash: String,
    /// Id of the holder's tenant.
    pub tenant: String,
    /// The holder.
    pub user: String,
    /// The most the holder may be with it.
    pub role: Role,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends, if ever.
    pub expires_ms: Option<i64>,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<i64>,
    /// What it is for, in the holder's words.
    pub label: String,
    /// What it is limited to; none: nothing.
    pub scopes: BTreeSet<Scope>,
}

impl Token {
    /// Whether it lets anybody in.
    #[must_use]
    pub fn counts(&self, now_ms: i64) -> bool {
        self.revoked_ms.is_none() && self.expires_ms.is_none_or(|expires| expires > now_ms)
    }
}

type Columns = (String, String, String, String, String, i64, Option<i64>, Option<i64>, String, String);

fn token(columns: Columns) -> Result<Token, StoreError> {
    let (id, hash, tenant, user, role, created_ms, expires_ms, revoked_ms, label, scopes) = columns;
    let scopes: Result<BTreeSet<Scope>, _> = scopes.split_whitespace().map(str::parse).collect();
    // A scope that is not understood must not become "no limit".
    let scopes =
        scopes.map_err(|fault| StoreError::Unreadable { what: "scope", cause: format!("{fault}") })?;
    let role = read_role(&role)?;
    Ok(Token { id, hash, tenant, user, role, created_ms, expires_ms, revoked_ms, label, scopes })
}

impl Store {
    /// Stores a new token.
    ///
    /// # Errors
    /// When its id or hash is there already, or the database cannot be written.
    pub fn add_token(&self, token: Token) -> Result<(), StoreError> {
        let scopes: Vec<String> = token.scopes.iter().map(Scope::to_string).collect();
        self.write(move |engine| {
            diesel::insert_into(tokens::table)
                .values((
                    tokens::id.eq(token.id),
                    tokens::hash.eq(token.hash),
                    tokens::tenant.eq(token.tenant),
                    tokens::username.eq(token.user),
                    tokens::role.eq(token.role.as_str()),
                    tokens::created_ms.eq(token.created_ms),
                    tokens::expires_ms.eq(token.expires_ms),
                    tokens::revoked_ms.eq(token.revoked_ms),
                    tokens::label.eq(token.label),
                    tokens::scopes.eq(scopes.join(" ")),
                ))
                .execute(engine)?;
            Ok(())
        })
    }

    /// The token whose secret has this hash, ended or revoked ones included: whether it counts now is the caller's to say.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn token_by_hash(&self, hash: &str) -> Result<Option<Token>, StoreError> {
        let row: Option<Columns> =
            self.read(|engine| Ok(tokens::table.filter(tokens::hash.eq(hash)).first(engine).optional()?))?;
        row.map(token).transpose()
    }

    /// The tokens of a tenant, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tokens(&self, tenant: &str) -> Result<Vec<Token>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            let mine = tokens::table.filter(tokens::tenant.eq(tenant));
            Ok(mine.order((tokens::created_ms, tokens::id)).load(engine)?)
        })?;
        rows.into_iter().map(token).collect()
    }

    /// Revokes a token at `now_ms`; one that is revoked already keeps its time.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or when the database cannot be written.
    pub fn revoke_token(&self, id: &str, now_ms: i64) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |engine| {
            let revoked: Option<Option<i64>> =
                tokens::table.find(&id).select(tokens::revoked_ms).first(engine).optional()?;
            match revoked {
                None => Err(StoreError::NotFound { what: "token", name: id }),
                Some(Some(_)) => Ok(()),
                Some(None) => {
                    diesel::update(tokens::table.find(&id))
                        .set(tokens::revoked_ms.eq(now_ms))
                        .execute(engine)?;
                    Ok(())
                }
            }
        })
    }
}
