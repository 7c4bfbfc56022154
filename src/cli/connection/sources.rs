//! Which of several sources decides where the server is and who we are to it.
//!
//! Sources come in order, the strongest first; each thing is taken from the first source that gives it. One rule stands
//! above that order: what a context says of its server's caller is used for that server only, so that no token is ever sent
//! to a server it was not given for.

use std::path::{Path, PathBuf};

/// The server when nobody says otherwise.
pub const LOCAL_SERVER: &str = "http://127.0.0.1:55054";
/// The user and tenant that servers which believe headers are told when nobody says otherwise.
const LOCAL_USER: (&str, &str) = ("admin", "superadmin");

/// The source of what nobody said.
pub const DEFAULT: &str = "default";

/// What a source may say.
#[derive(Clone, Default)]
pub struct Given {
    /// Address of a server.
    pub server: Option<String>,
    /// How we prove who we are.
    pub credential: Option<Credential>,
    /// The user, for servers that believe headers.
    pub user: Option<String>,
    /// The tenant, for servers that believe headers.
    pub tenant: Option<String>,
    /// File with the certificates of those who vouch for the server.
    pub ca_file: Option<PathBuf>,
}

/// How we prove who we are.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// By a token.
    Token(String),
    /// By a token that a file holds.
    File(PathBuf),
}

/// One place where settings come from.
#[derive(Clone)]
pub struct Source {
    /// What people call it.
    pub origin: String,
    /// Whether what it says of the caller is for its own server only.
    pub is_bound: bool,
    /// What it says.
    pub given: Given,
}

/// A thing and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<T> {
    /// The thing.
    pub value: T,
    /// The source, as people call it.
    pub origin: String,
}

/// What was decided.
pub struct Choice {
    /// Address of the server, as it was written.
    pub server: Chosen<String>,
    /// How we prove who we are; without it the files of a server on this host are looked at.
    pub credential: Option<Chosen<Credential>>,
    /// The user.
    pub user: Chosen<String>,
    /// The tenant.
    pub tenant: Chosen<String>,
    /// File with the certificates of those who vouch for the server.
    pub ca_file: Option<Chosen<PathBuf>>,
}

/// Decides, given the sources from the strongest on.
#[must_use]
pub fn choose(sources: &[Source]) -> Choice {
    let server = first(sources, |given| given.server.clone()).unwrap_or_else(|| by_default(LOCAL_SERVER));
    let is_for_it = |source: &&Source| {
        !source.is_bound || source.given.server.as_deref().is_some_and(|own| is_same(own, &server.value))
    };
    let usable: Vec<Source> = sources.iter().filter(is_for_it).cloned().collect();
    Choice {
        credential: first(&usable, |given| given.credential.clone()),
        user: first(&usable, |given| given.user.clone()).unwrap_or_else(|| by_default(LOCAL_USER.0)),
        tenant: first(&usable, |given| given.tenant.clone()).unwrap_or_else(|| by_default(LOCAL_USER.1)),
        ca_file: first(&usable, |given| given.ca_file.clone()),
        server,
    }
}

fn first<T>(sources: &[Source], get: impl Fn(&Given) -> Option<T>) -> Option<Chosen<T>> {
    sources
        .iter()
        .find_map(|source| get(&source.given).map(|value| Chosen { value, origin: source.origin.clone() }))
}

fn by_default(value: &str) -> Chosen<String> {
    Chosen { value: value.to_owned(), origin: DEFAULT.to_owned() }
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

impl Credential {
    /// What may be said of it.
    #[must_use]
    pub fn about(&self) -> String {
        match self {
            Self::Token(_) => "a token".to_owned(),
            Self::File(file) => format!("the token in {}", file.display()),
        }
    }

    /// From a token or a file, the token first.
    #[must_use]
    pub fn of(token: Option<String>, file: Option<&Path>) -> Option<Self> {
        token.map(Self::Token).or_else(|| file.map(|file| Self::File(file.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(origin: &str, server: &str, token: &str, user: &str) -> Source {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Source {
            origin: origin.to_owned(),
            is_bound: origin.starts_with("context"),
            given: Given {
                server: some(server),
                credential: some(token).map(Credential::Token),
                user: some(user),
                ..Given::default()
            },
        }
    }

    /// `server from origin, token, user`.
    fn chosen(sources: &[Source]) -> String {
        let choice = choose(sources);
        let token = choice.credential.map(|credential| match credential.value {
            Credential::Token(token) => token,
            Credential::File(_) => "file".to_owned(),
        });
        let (server, user) = (choice.server, choice.user.value);
        format!("{} from {}, {}, {user}", server.value, server.origin, token.unwrap_or_default())
    }

    #[test]
    fn the_strongest_source_decides_each_thing_by_itself() {
        let options = |server: &str| source("options", server, "", "");
        let environment = |server: &str, token: &str| source("environment", server, token, "");
        let context = source("context prod", "http://prod", "prod-token", "ann");
        let cases = [
            (vec![options("")], "http://127.0.0.1:55054 from default, , admin"),
            (
                vec![options(""), environment("", ""), context.clone()],
                "http://prod from context prod, prod-token, ann",
            ),
            (vec![options("http://prod/"), context.clone()], "http://prod/ from options, prod-token, ann"),
            (
                vec![environment("http://env", "env-token"), context.clone()],
                "http://env from environment, env-token, admin",
            ),
            (
                vec![environment("", "env-token"), context.clone()],
                "http://prod from context prod, env-token, ann",
            ),
            (
                vec![context.clone(), environment("http://env", "env-token")],
                "http://prod from context prod, prod-token, ann",
            ),
        ];
        for (sources, expected) in cases {
            assert_eq!(chosen(&sources), expected);
        }
    }

    #[test]
    fn a_context_s_token_goes_to_no_other_server() {
        let context = source("context prod", "http://prod", "prod-token", "ann");
        let other = source("options", "http://elsewhere", "", "");
        assert_eq!(chosen(&[other, context]), "http://elsewhere from options, , admin");
    }
}
