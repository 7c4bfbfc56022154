//! Tokens by which users of the API are known. Only hashes are stored.

use diesel::prelude::*;

use crate::error::StoreError;
use crate::store::Store;
use crate::tables::tokens;

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
    /// What the holder may do.
    pub role: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends, if ever.
    pub expires_ms: Option<i64>,
    /// When it was revoked, if it was.
    pub revoked_ms: Option<i64>,
}

type Columns = (String, String, String, String, String, i64, Option<i64>, Option<i64>);

fn token(columns: Columns) -> Token {
    let (id, hash, tenant, user, role, created_ms, expires_ms, revoked_ms) = columns;
    Token { id, hash, tenant, user, role, created_ms, expires_ms, revoked_ms }
}

impl Store {
    /// Stores a new token.
    ///
    /// # Errors
    /// When its id or hash is there already, or the database cannot be written.
    pub fn add_token(&self, token: Token) -> Result<(), StoreError> {
        self.write(move |engine| {
            diesel::insert_into(tokens::table)
                .values((
                    tokens::id.eq(token.id),
                    tokens::hash.eq(token.hash),
                    tokens::tenant.eq(token.tenant),
                    tokens::username.eq(token.user),
                    tokens::role.eq(token.role),
                    tokens::created_ms.eq(token.created_ms),
                    tokens::expires_ms.eq(token.expires_ms),
                    tokens::revoked_ms.eq(token.revoked_ms),
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
        Ok(row.map(token))
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
        Ok(rows.into_iter().map(token).collect())
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
