//! Users of a tenant, and the sessions of those who logged in.

use cooperage_domain::access::Role;
use diesel::prelude::*;

use crate::engine::Engine;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{sessions, tokens, users};

/// A user of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Id of the tenant.
    pub tenant: String,
    /// Unique in the tenant.
    pub name: String,
    /// What the user is there.
    pub role: Role,
    /// The password, hashed (PHC string format); without one nobody can log in as this user.
    pub password_hash: Option<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// Whether nothing of this user's is let in any more.
    pub disabled: bool,
}

/// What changes of a user; `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserChange {
    /// Another role.
    pub role: Option<Role>,
    /// Another password, hashed. All sessions of the user end with it.
    pub password_hash: Option<String>,
    /// Whether to let the user in. All sessions end when not.
    pub disabled: Option<bool>,
}

/// Somebody who logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, which may be shown.
    pub id: String,
    /// Hash of the secret; unique.
    pub hash: String,
    /// Id of the user's tenant.
    pub tenant: String,
    /// The user.
    pub user: String,
    /// When it began, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends.
    pub expires_ms: i64,
}

type Columns = (String, String, String, Option<String>, i64, Option<i64>);

fn user(columns: Columns) -> Result<User, StoreError> {
    let (tenant, name, role, password_hash, created_ms, disabled_ms) = columns;
    Ok(User {
        tenant,
        name,
        role: read_role(&role)?,
        password_hash,
        created_ms,
        disabled: disabled_ms.is_some(),
    })
}

/// A role as it is stored.
///
/// # Errors
/// When it is none.
pub(crate) fn read_role(text: &str) -> Result<Role, StoreError> {
    text.parse().map_err(|fault| StoreError::Unreadable { what: "role", cause: format!("{fault}") })
}

fn missing(name: &str) -> StoreError {
    StoreError::NotFound { what: "user", name: name.to_owned() }
}

fn end_sessions(engine: &mut Engine, tenant: &str, name: &str) -> QueryResult<usize> {
    let of_user = sessions::table.filter(sessions::tenant.eq(tenant)).filter(sessions::username.eq(name));
    diesel::delete(of_user).execute(engine)
}

/// Removes all users of a tenant, with their sessions.
pub(crate) fn clear(engine: &mut Engine, tenant: &str) -> QueryResult<()> {
    diesel::delete(sessions::table.filter(sessions::tenant.eq(tenant))).execute(engine)?;
    diesel::delete(users::table.filter(users::tenant.eq(tenant))).execute(engine)?;
    Ok(())
}

impl Store {
    /// The users of a tenant, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn users(&self, tenant: &str) -> Result<Vec<User>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            Ok(users::table.filter(users::tenant.eq(tenant)).order(users::name).load(engine)?)
        })?;
        rows.into_iter().map(user).collect()
    }

    /// A user of a tenant.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn user(&self, tenant: &str, name: &str) -> Result<Option<User>, StoreError> {
        let row: Option<Columns> =
            self.read(|engine| Ok(users::table.find((tenant, name)).first(engine).optional()?))?;
        row.map(user).transpose()
    }

    /// Stores a new user.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`], or when the database cannot be written.
    pub fn add_user(&self, user: User) -> Result<(), StoreError> {
        self.write(move |engine| {
            let taken: Option<String> =
                users::table.find((&user.tenant, &user.name)).select(users::name).first(engine).optional()?;
            if taken.is_some() {
                return Err(StoreError::AlreadyExists { what: "user", name: user.name });
            }
            diesel::insert_into(users::table)
                .values((
                    users::tenant.eq(user.tenant),
                    users::name.eq(user.name),
                    users::role.eq(user.role.as_str()),
                    users::password_hash.eq(user.password_hash),
                    users::created_ms.eq(user.created_ms),
                    users::disabled_ms.eq(user.disabled.then_some(user.created_ms)),
                ))
                .execute(engine)?;
            Ok(())
        })
    }

    /// Changes a user at `now_ms`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::InUse`] when nobody would be left who runs the installation; or when the
    /// database cannot be written.
    pub fn change_user(
        &self,
        tenant: &str,
        name: &str,
        change: UserChange,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let (tenant, name) = (tenant.to_owned(), name.to_owned());
        self.write(move |engine| {
            let one = users::table.find((&tenant, &name));
            let found: Option<Columns> = one.first(engine).optional()?;
            let found = user(found.ok_or_else(|| missing(&name))?)?;
            let loses_role = change.role.is_some_and(|role| role != Role::Superadmin);
            if loses_role || change.disabled == Some(true) {
                keep_a_superadmin(engine, &found)?;
            }
            if let Some(role) = change.role {
                diesel::update(one).set(users::role.eq(role.as_str())).execute(engine)?;
            }
            if let Some(disabled) = change.disabled {
                diesel::update(one).set(users::disabled_ms.eq(disabled.then_some(now_ms))).execute(engine)?;
            }
            if let Some(hash) = &change.password_hash {
                diesel::update(one).set(users::password_hash.eq(hash)).execute(engine)?;
            }
            if change.password_hash.is_some() || change.disabled == Some(true) {
                end_sessions(engine, &tenant, &name)?;
            }
            Ok(())
        })
    }

    /// Removes a user with sessions and tokens. Gives whether there was one.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when nobody would be left who runs the installation, or when the database cannot be written.
    pub fn delete_user(&self, tenant: &str, name: &str) -> Result<bool, StoreError> {
        let (tenant, name) = (tenant.to_owned(), name.to_owned());
        self.write(move |engine| {
            let found: Option<Columns> = users::table.find((&tenant, &name)).first(engine).optional()?;
            let Some(found) = found.map(user).transpose()? else { return Ok(false) };
            keep_a_superadmin(engine, &found)?;
            end_sessions(engine, &tenant, &name)?;
            let held = tokens::table.filter(tokens::tenant.eq(&tenant)).filter(tokens::username.eq(&name));
            diesel::delete(held).execute(engine)?;
            diesel::delete(users::table.find((&tenant, &name))).execute(engine)?;
            Ok(true)
        })
    }

    /// Stores a new session, and forgets those that ended before it began.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_session(&self, session: Session) -> Result<(), StoreError> {
        self.write(move |engine| {
            diesel::delete(sessions::table.filter(sessions::expires_ms.lt(session.created_ms)))
                .execute(engine)?;
            diesel::insert_into(sessions::table)
                .values((
                    sessions::id.eq(session.id),
                    sessions::hash.eq(session.hash),
                    sessions::tenant.eq(session.tenant),
                    sessions::username.eq(session.user),
                    sessions::created_ms.eq(session.created_ms),
                    sessions::expires_ms.eq(session.expires_ms),
                ))
                .execute(engine)?;
            Ok(())
        })
    }

    /// The id and the user of the session whose secret has this hash, if it has not ended and the user is let in.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session(&self, hash: &str, now_ms: i64) -> Result<Option<(String, User)>, StoreError> {
        let row: Option<(String, Columns)> = self.read(|engine| {
            let open =
                sessions::table.filter(sessions::hash.eq(hash)).filter(sessions::expires_ms.gt(now_ms));
            let of = users::tenant.eq(sessions::tenant).and(users::name.eq(sessions::username));
            let let_in = open.inner_join(users::table.on(of)).filter(users::disabled_ms.is_null());
            Ok(let_in.select((sessions::id, users::all_columns)).first(engine).optional()?)
        })?;
        row.map(|(id, columns)| Ok((id, user(columns)?))).transpose()
    }

    /// Ends a session; one that is not there has ended.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_session(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |engine| {
            diesel::delete(sessions::table.find(id)).execute(engine)?;
            Ok(())
        })
    }
}

/// Refuses what would leave nobody to run the installation, if this user is the last.
fn keep_a_superadmin(engine: &mut Engine, user: &User) -> Result<(), StoreError> {
    if user.role != Role::Superadmin || user.disabled {
        return Ok(());
    }
    let others = users::table
        .filter(users::role.eq(Role::Superadmin.as_str()))
        .filter(users::disabled_ms.is_null())
        .filter(users::name.ne(&user.name));
    let others: i64 = others.count().get_result(engine)?;
    if others > 0 {
        return Ok(());
    }
    Err(StoreError::InUse {
        what: "user",
        name: user.name.clone(),
        status: "the last superadmin".to_owned(),
        remedy: "make another superadmin first",
    })
}
