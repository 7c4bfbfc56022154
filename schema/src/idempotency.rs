//! Keys that callers give to requests, so that a request that is repeated is not carried out twice.
//!
//! A key is claimed before its request is carried out, and completed with the answer. Between the two the process may be
//! killed. What was created must not be created again then, so either the completion is in the transaction of the create
//! ([`Store::completing`]), or what is created is named by the key beforehand ([`Store::bind_cluster`]).

use std::sync::Arc;

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::keyring::{Keyring, Place};
use crate::store::Store;
use crate::tables::idempotency as keys;

/// Which key: callers choose theirs without knowing of each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// Internal id of the caller's tenant.
    pub tenant: String,
    /// The caller.
    pub user: String,
    /// What the caller chose.
    pub key: String,
}

/// An answer as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The type of the body.
    pub content_type: Option<String>,
    /// The body; sealed in the database, since it may hold secrets.
    pub body: String,
}

/// What a key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Nothing so far; from now on for this request.
    New,
    /// This request, which was begun and not answered; with the number of the cluster it may have created.
    Unanswered(Option<ClusterId>),
    /// This request, which was answered.
    Answered(KeptAnswer),
    /// Another request.
    OtherRequest,
}

/// A key and the answer to its request.
pub(crate) struct Completion {
    key: RequestKey,
    answer: KeptAnswer,
    keyring: Keyring,
}

/// Where a key's answer belongs.
fn place(RequestKey { tenant, user, key }: &RequestKey) -> Place<'_> {
    Place { tenant, kind: "answer", name: user, field: key }
}

impl Completion {
    /// Keeps the answer, inside the present transaction.
    ///
    /// # Errors
    /// When there is one already: somebody else carried the request out.
    pub(crate) fn run(&self, engine: &mut Engine) -> Result<(), StoreError> {
        let body = self.keyring.seal(engine, place(&self.key), &self.answer.body)?;
        let RequestKey { tenant, user, key } = &self.key;
        let open = keys::table.find((tenant, user, key)).filter(keys::status.is_null());
        let answer = &self.answer;
        let changed = diesel::update(open)
            .set((
                keys::status.eq(i64::from(answer.status)),
                keys::content_type.eq(answer.content_type.as_deref()),
                keys::answer.eq(body),
            ))
            .execute(engine)?;
        if changed == 1 {
            return Ok(());
        }
        Err(StoreError::Contended { cause: "the request was answered already".to_owned() })
    }
}

type Columns = (String, Option<i64>, Option<i64>, Option<String>, Option<String>);

fn find(engine: &mut Engine, key: &RequestKey) -> QueryResult<Option<Columns>> {
    keys::table
        .find((&key.tenant, &key.user, &key.key))
        .select((keys::request, keys::cluster, keys::status, keys::content_type, keys::answer))
        .first(engine)
        .optional()
}

fn insert(engine: &mut Engine, key: &RequestKey, request: &str, expires_ms: i64) -> QueryResult<()> {
    diesel::insert_into(keys::table)
        .values((
            keys::tenant.eq(&key.tenant),
            keys::username.eq(&key.user),
            keys::key.eq(&key.key),
            keys::request.eq(request),
            keys::expires_ms.eq(expires_ms),
        ))
        .execute(engine)?;
    Ok(())
}

impl Store {
    /// Says what a key stands for, and makes one that stands for nothing stand for the request with this hash until
    /// `expires_ms`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn claim_key(
        &self,
        key: RequestKey,
        request: String,
        now_ms: i64,
        expires_ms: i64,
    ) -> Result<Claim, StoreError> {
        let keyring = self.keyring();
        self.write(move |engine| {
            sweep(engine, Some(&key), now_ms)?;
            let Some((known, cluster, status, content_type, answer)) = find(engine, &key)? else {
                insert(engine, &key, &request, expires_ms)?;
                return Ok(Claim::New);
            };
            if known != request {
                return Ok(Claim::OtherRequest);
            }
            let Some(status) = status else {
                return Ok(Claim::Unanswered(cluster.map(|number| ClusterId(number.cast_unsigned()))));
            };
            let body = keyring.open(engine, place(&key), &answer.unwrap_or_default())?;
            Ok(Claim::Answered(KeptAnswer {
                status: u16::try_from(status)
                    .map_err(|fault| StoreError::corrupt("column idempotency.status", fault))?,
                content_type,
                body: body.to_string(),
            }))
        })
    }

    /// Notes which cluster the request is about to create. Whoever takes the request up again creates none but this one.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when it is about to create another one, or when the database cannot be written.
    pub fn bind_cluster(&self, key: RequestKey, cluster: ClusterId) -> Result<(), StoreError> {
        self.write(move |engine| {
            let open = keys::table.find((&key.tenant, &key.user, &key.key)).filter(keys::cluster.is_null());
            let changed =
                diesel::update(open).set(keys::cluster.eq(cluster.0.cast_signed())).execute(engine)?;
            if changed == 1 {
                return Ok(());
            }
            Err(StoreError::Contended { cause: "the request is carried out elsewhere".to_owned() })
        })
    }

    /// Keeps the answer to a request, unless one is kept.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn complete_key(&self, key: RequestKey, answer: KeptAnswer) -> Result<(), StoreError> {
        let completion = Completion { key, answer, keyring: self.keyring() };
        match self.write(move |engine| completion.run(engine)) {
            Err(StoreError::Contended { .. }) => Ok(()),
            other => other,
        }
    }

    /// This store; but whatever it writes next also keeps the answer, in the same transaction, and is refused when one is
    /// kept already. Only for a single write.
    #[must_use]
    pub fn completing(&self, key: RequestKey, answer: KeptAnswer) -> Self {
        self.with_completion(Arc::new(Completion { key, answer, keyring: self.keyring() }))
    }

    /// Makes a key without an answer stand for nothing: its request was refused, and nothing has happened.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn release_key(&self, key: RequestKey) -> Result<(), StoreError> {
        self.write(move |engine| {
            let open = keys::table.find((key.tenant, key.user, key.key)).filter(keys::status.is_null());
            diesel::delete(open).execute(engine)?;
            Ok(())
        })
    }

    /// Forgets the keys whose time is over, and gives how many there were.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn sweep_keys(&self, now_ms: i64) -> Result<usize, StoreError> {
        self.write(move |engine| Ok(sweep(engine, None, now_ms)?))
    }
}

/// Forgets keys whose time is over: all, or this one.
fn sweep(engine: &mut Engine, only: Option<&RequestKey>, now_ms: i64) -> QueryResult<usize> {
    let over = keys::expires_ms.le(now_ms);
    match only {
        None => diesel::delete(keys::table.filter(over)).execute(engine),
        Some(RequestKey { tenant, user, key }) => {
            diesel::delete(keys::table.find((tenant, user, key)).filter(over)).execute(engine)
        }
    }
}
