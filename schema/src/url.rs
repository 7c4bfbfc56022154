//! Where the database is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::StoreError;

/// Where the database is: a SQLite file, or a PostgreSQL server.
///
/// Read from text: `postgres://…` or `postgresql://…` is a server; `sqlite://PATH` and a bare path are a file. Printed
/// without the password.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file on this machine; it is made when it is not there.
    Sqlite(PathBuf),
    /// A URL as libpq takes it.
    Postgres(String),
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let refuse = |fault| Err(StoreError::BadUrl { url: without_password(text), fault });
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return match cfg!(feature = "postgres") {
                true => Ok(Self::Postgres(text.to_owned())),
                false => refuse("needs PostgreSQL, which this program was built without"),
            };
        }
        let path = text.strip_prefix("sqlite://").unwrap_or(text);
        if path.is_empty() {
            return refuse("names no file");
        }
        if path.contains("://") {
            return refuse("is of a kind that is not known");
        }
        if path.starts_with(":memory:") {
            return refuse("is a database in memory, which several connections cannot share");
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

impl DatabaseUrl {
    /// Another database of the same server.
    pub(crate) fn with_database(&self, name: &str) -> Result<Self, StoreError> {
        let Self::Postgres(text) = self else {
            let fault = "is a file, and a server is needed";
            return Err(StoreError::BadUrl { url: self.to_string(), fault });
        };
        let authority = text.find("://").map_or(0, |at| at + 3);
        let end = text[authority..].find(['/', '?']).map_or(text.len(), |at| authority + at);
        let options = text[end..].find('?').map_or("", |at| &text[end + at..]);
        Ok(Self::Postgres(format!("{}/{name}{options}", &text[..end])))
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite://{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The URL with what stands between the first `:` of its authority and the last `@` replaced, and the value of a
/// `password=` parameter too.
fn without_password(url: &str) -> String {
    let mut shown = url.to_owned();
    if let Some((scheme, rest)) = url.split_once("://") {
        let authority = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
        if let Some((login, host)) = authority.rsplit_once('@')
            && let Some((user, _)) = login.split_once(':')
        {
            shown = format!("{scheme}://{user}:***@{host}{}", &rest[authority.len()..]);
        }
    }
    if let Some(start) = shown.find("password=").map(|at| at + "password=".len()) {
        let end = shown[start..].find('&').map_or(shown.len(), |at| start + at);
        shown.replace_range(start..end, "***");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_schemes_are_told_apart() {
        for (text, path) in
            [("data/db", "data/db"), ("sqlite:///var/db", "/var/db"), ("sqlite://db.sqlite", "db.sqlite")]
        {
            assert_eq!(text.parse(), Ok(DatabaseUrl::Sqlite(path.into())), "{text}");
        }
        for text in ["", "sqlite://", "mysql://h/db", ":memory:"] {
            let fault = text.parse::<DatabaseUrl>().unwrap_err().to_string();
            assert!(fault.contains("postgres://") && fault.contains("path"), "{fault}");
        }
    }

    #[test]
    fn another_database_of_a_server_is_named_in_its_place() {
        for (url, other) in [
            ("postgres://ann:s3@db:5433/coop?x=/1", "postgres://ann:s3@db:5433/new?x=/1"),
            ("postgres://db", "postgres://db/new"),
            ("postgres://db?host=%2Ftmp", "postgres://db/new?host=%2Ftmp"),
            ("postgresql:///coop?user=a", "postgresql:///new?user=a"),
        ] {
            let url = DatabaseUrl::Postgres(url.to_owned());
            assert_eq!(url.with_database("new"), Ok(DatabaseUrl::Postgres(other.to_owned())));
        }
        assert!(DatabaseUrl::Sqlite("db".into()).with_database("new").is_err());
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn passwords_are_never_shown() {
        for (url, shown) in [
            ("postgres://ann:s3:cr@t@db/coop?x=1", "postgres://ann:***@db/coop?x=1"),
            ("postgres://ann@db/coop", "postgres://ann@db/coop"),
            ("postgresql:///coop?user=a&password=s3&x=1", "postgresql:///coop?user=a&password=***&x=1"),
        ] {
            let url: DatabaseUrl = url.parse().unwrap();
            assert_eq!((url.to_string(), format!("{url:?}")), (shown.to_owned(), shown.to_owned()));
        }
    }
}
