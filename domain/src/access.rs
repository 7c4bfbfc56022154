//! Who may do what: roles, the scopes of tokens, and the one decision over both.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What somebody is in a tenant. All but [`Role::Provisioner`] are in order: the later may do all that the earlier may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A program that carries out tasks. It may do nothing else.
    Provisioner,
    /// Sees what the tenant has, but for secrets, and changes nothing.
    Reader,
    /// Has clusters, and sees and changes only these.
    User,
    /// Describes what is on offer, and sees and changes all clusters of the tenant.
    Admin,
    /// Runs the installation: tenants, provisioners, plugins.
    Superadmin,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [Self::Provisioner, Self::Reader, Self::User, Self::Admin, Self::Superadmin];

    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provisioner => "provisioner",
            Self::Reader => "reader",
            Self::User => "user",
            Self::Admin => "admin",
            Self::Superadmin => "superadmin",
        }
    }

    /// Whether the caller may do what asks for `needed`.
    #[must_use]
    pub fn covers(self, needed: Self) -> bool {
        match (self, needed) {
            (Self::Superadmin, Self::Provisioner) => true,
            (Self::Provisioner, _) | (_, Self::Provisioner) => self == needed,
            _ => self >= needed,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no role, or no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no {what}; use one of: {known}")]
pub struct UnknownWord {
    what: &'static str,
    word: String,
    known: String,
}

impl UnknownWord {
    /// The words there are.
    #[must_use]
    pub fn known(&self) -> &str {
        &self.known
    }
}

impl FromStr for Role {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|role| role.as_str() == word).ok_or_else(|| UnknownWord {
            what: "role",
            word: word.to_owned(),
            known: Self::ALL.map(Self::as_str).join(", "),
        })
    }
}

/// A part of the interface, for the scopes of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// Clusters and their nodes.
    Clusters,
    /// Providers, hardware, images, services and templates.
    Catalog,
    /// Plugins and their resources.
    Plugins,
    /// Tenants, users and tokens.
    Access,
    /// Provisioners, queues, usage, audit: how the installation does.
    Operation,
    /// What callers keep for themselves.
    Own,
    /// Tasks, for provisioners.
    Tasks,
}

impl Area {
    /// All areas.
    pub const ALL: [Self; 7] =
        [Self::Clusters, Self::Catalog, Self::Plugins, Self::Access, Self::Operation, Self::Own, Self::Tasks];

    /// As scopes name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::Catalog => "catalog",
            Self::Plugins => "plugins",
            Self::Access => "access",
            Self::Operation => "operation",
            Self::Own => "own",
            Self::Tasks => "tasks",
        }
    }
}

/// What a token is limited to, besides the role it carries: `clusters` (all of an area), `clusters:read` or `read` (all areas).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// Where; everywhere if there is none.
    area: Option<Area>,
    /// Whether it is for looking only.
    read_only: bool,
}

impl Scope {
    /// Whether everything the other reaches is reached.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        (self.area.is_none() || self.area == other.area) && (!self.read_only || other.read_only)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.area, self.read_only) {
            (None, true) => f.write_str("read"),
            (None, false) => f.write_str("*"),
            (Some(area), true) => write!(f, "{}:read", area.as_str()),
            (Some(area), false) => f.write_str(area.as_str()),
        }
    }
}

impl FromStr for Scope {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let (place, read_only) = match word.strip_suffix(":read") {
            Some(place) => (place, true),
            None => (word, word == "read"),
        };
        let everywhere = matches!(word, "read" | "*");
        let area = Area::ALL.into_iter().find(|area| area.as_str() == place);
        if !everywhere && area.is_none() {
            let areas = Area::ALL.map(Area::as_str).join(", ");
            let known = format!("*, read, {areas}, or one of these with ':read'");
            return Err(UnknownWord { what: "scope", word: word.to_owned(), known });
        }
        Ok(Self { area, read_only })
    }
}

/// What an operation asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The least role; `None`: nobody is asked who they are.
    pub role: Option<Role>,
    /// Where it belongs.
    pub area: Area,
    /// Whether it changes anything.
    pub writes: bool,
}

impl Rule {
    /// For everybody, known or not.
    #[must_use]
    pub const fn public(area: Area) -> Self {
        Self { role: None, area, writes: false }
    }

    /// For looking, from this role on.
    #[must_use]
    pub const fn read(role: Role, area: Area) -> Self {
        Self { role: Some(role), area, writes: false }
    }

    /// For changing, from this role on.
    #[must_use]
    pub const fn write(role: Role, area: Area) -> Self {
        Self { role: Some(role), area, writes: true }
    }
}

/// Why somebody may not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The role is too small.
    #[error("this needs the role {needed}, and the caller's is {role}")]
    Role {
        /// What the caller is.
        role: Role,
        /// What is asked for.
        needed: Role,
    },
    /// The token is limited to other things.
    #[error("the token's scopes do not cover this; it needs {}", Scope { area: Some(*.area), read_only: !.writes })]
    Scope {
        /// Where it would have to reach.
        area: Area,
        /// Whether it would have to be more than looking.
        writes: bool,
    },
}

/// Whether a caller of a role, with a token of these scopes (none: unlimited), may do what has the rule.
///
/// # Errors
/// Why not.
pub fn decide(role: Role, scopes: &BTreeSet<Scope>, rule: Rule) -> Result<(), Denied> {
    let Some(needed) = rule.role else { return Ok(()) };
    if !role.covers(needed) {
        return Err(Denied::Role { role, needed });
    }
    let reaches =
        |scope: &Scope| scope.area.is_none_or(|area| area == rule.area) && !(rule.writes && scope.read_only);
    if scopes.is_empty() || scopes.iter().any(reaches) {
        return Ok(());
    }
    Err(Denied::Scope { area: rule.area, writes: rule.writes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(words: &[&str]) -> BTreeSet<Scope> {
        words.iter().map(|word| word.parse().unwrap()).collect()
    }

    #[test]
    fn a_role_covers_itself_and_the_smaller_ones() {
        let covered = |role: Role| -> Vec<&str> {
            Role::ALL.into_iter().filter(|needed| role.covers(*needed)).map(Role::as_str).collect()
        };
        assert_eq!(covered(Role::Provisioner), ["provisioner"]);
        assert_eq!(covered(Role::Reader), ["reader"]);
        assert_eq!(covered(Role::User), ["reader", "user"]);
        assert_eq!(covered(Role::Admin), ["reader", "user", "admin"]);
        assert_eq!(covered(Role::Superadmin), ["provisioner", "reader", "user", "admin", "superadmin"]);
    }

    #[test]
    fn scopes_limit_a_role_and_never_widen_it() {
        let write = Rule::write(Role::Admin, Area::Catalog);
        let read = Rule::read(Role::Reader, Area::Catalog);
        for (words, reads, writes) in [
            (&[][..], true, true),
            (&["*"], true, true),
            (&["read"], true, false),
            (&["catalog"], true, true),
            (&["catalog:read"], true, false),
            (&["clusters", "own"], false, false),
            (&["clusters", "catalog:read"], true, false),
        ] {
            let scopes = scopes(words);
            assert_eq!(decide(Role::Admin, &scopes, read).is_ok(), reads, "{words:?}");
            assert_eq!(decide(Role::Admin, &scopes, write).is_ok(), writes, "{words:?}");
            assert_eq!(
                decide(Role::User, &scopes, write),
                Err(Denied::Role { role: Role::User, needed: Role::Admin })
            );
        }
        assert_eq!(decide(Role::Reader, &scopes(&["own"]), Rule::public(Area::Tasks)), Ok(()));
    }

    #[test]
    fn words_come_back_as_they_are_and_others_are_named() {
        for area in Area::ALL {
            for word in [area.as_str().to_owned(), format!("{}:read", area.as_str())] {
                assert_eq!(word.parse::<Scope>().unwrap().to_string(), word);
            }
        }
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        for word in ["*", "read"] {
            assert_eq!(word.parse::<Scope>().unwrap().to_string(), word);
        }
        for word in ["", ":read", "cluster", "*:read", "clusters:write"] {
            assert!(word.parse::<Scope>().unwrap_err().to_string().contains("clusters"), "{word}");
        }
        assert!("root".parse::<Role>().unwrap_err().to_string().contains("superadmin"));
        let denied = decide(Role::User, &scopes(&["own"]), Rule::read(Role::User, Area::Clusters));
        assert!(denied.unwrap_err().to_string().ends_with("it needs clusters:read"));
    }
}
