//! Everything that can be asked for, in one table: which method on which path, who may, and what it is about. A route is
//! served by [`super::routes`] only if it stands here, callers are let in by [`super::authorize`] as it says here, and
//! [`super::openapi`] and the book tell what stands here.

mod access;
mod ancestry;
#[cfg(test)]
mod book;
mod care;
mod console;
mod living;
mod proposals;
mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use cooperage_domain::access::Rule;
use cooperage_domain::entity::Kind;

/// Stands in a path of the table for each kind of entity that tenants own.
const KIND: &str = "{kind}";
/// Stands in a path of the table for each side of plugins.
const TYPES: &str = "{types}";
/// What [`TYPES`] stands for.
const SIDES: [&str; 2] = ["providertypes", "automatortypes"];

/// What stands for the rest of a path, slashes and all, ends so.
const REST: &str = ":.*}";

/// Which port serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Port {
    /// For people and their programs.
    User,
    /// For provisioners.
    Tasks,
}

impl Port {
    /// The one a request came to.
    pub fn of(request: &ServiceRequest) -> Self {
        // Every port says which it is; where none does, nothing is open.
        request.app_data::<Self>().copied().unwrap_or(Self::User)
    }

    /// Its name in records and figures.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Tasks => "tasks",
        }
    }
}

/// One thing that can be asked for.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Where.
    pub port: Port,
    /// How.
    pub method: Method,
    /// The path, with names in braces for what varies.
    pub path: &'static str,
    /// Who may.
    pub rule: Rule,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Name of the shape of the body it takes; none: it takes no body that matters.
    pub takes: Option<&'static str>,
    /// Name of the shape of its answer, `[X]` for an array of X; none: an empty one.
    pub gives: Option<&'static str>,
    /// What may be said behind the `?`, with what it means.
    pub query: &'static [(&'static str, &'static str)],
    /// Statuses of refusals besides those that its rule brings along.
    pub refuses: &'static [u16],
}

impl Operation {
    const fn new(port: Port, method: Method, path: &'static str, rule: Rule, summary: &'static str) -> Self {
        Self { port, method, path, rule, summary, takes: None, gives: None, query: &[], refuses: &[] }
    }

    const fn takes(mut self, shape: &'static str) -> Self {
        self.takes = Some(shape);
        self
    }

    const fn gives(mut self, shape: &'static str) -> Self {
        self.gives = Some(shape);
        self
    }

    const fn query(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.query = names;
        self
    }

    /// It answers with events as they happen.
    const fn follows(self) -> Self {
        self.gives("FollowedEvents")
            .query(&[("after", "behind the event with this id; 0: all there ever were")])
            .refuses(&[400, 503])
    }

    const fn refuses(mut self, statuses: &'static [u16]) -> Self {
        self.refuses = statuses;
        self
    }

    /// The paths it is served at.
    pub fn paths(&self) -> Vec<String> {
        if self.path.contains(KIND) && !self.path.contains(TYPES) {
            return Kind::OWNED.map(|kind| self.path.replace(KIND, kind.plural())).into();
        }
        if self.path.contains(TYPES) {
            return SIDES.map(|side| self.path.replace(TYPES, side)).into();
        }
        vec![self.path.to_owned()]
    }

    /// A name for it at one of its paths, among all operations: `get.clusters.id`.
    pub fn id_at(&self, path: &str) -> String {
        let words = path.split(['/', '{', '}']).filter(|word| !matches!(*word, "" | "v2"));
        let port = if self.port == Port::Tasks { "tasks-port." } else { "" };
        let words: Vec<&str> = std::iter::once(self.method.as_str()).chain(words).collect();
        format!("{port}{}", words.join(".")).to_lowercase()
    }
}

/// A path as people write it: what stands for the rest of a path stands for one word there.
pub fn shown(path: &str) -> String {
    path.replace(REST, "}")
}

/// All operations, in the order of the book.
pub fn all() -> &'static [Operation] {
    static ALL: LazyLock<Vec<Operation>> = LazyLock::new(table::operations);
    &ALL
}

/// The operation of a method on a path that is served.
pub fn find(port: Port, method: &Method, path: &str) -> Option<&'static Operation> {
    type Places = HashMap<(Port, String), Vec<&'static Operation>>;
    static PLACES: LazyLock<Places> = LazyLock::new(|| {
        let mut places = Places::new();
        for operation in all() {
            for path in operation.paths() {
                places.entry((operation.port, path)).or_default().push(operation);
            }
        }
        places
    });
    // What asks only for the header of an answer asks for the answer.
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let here = PLACES.get(&(port, path.to_owned()))?;
    here.iter().copied().find(|operation| operation.method == method)
}
