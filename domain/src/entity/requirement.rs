//! What a service requires: by name, where it is looked for, and how many of those who answer count.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// Where a required service is looked for.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// On the same machine.
    Node,
    /// On the same cluster.
    #[default]
    Cluster,
    /// On the same cluster, or else on one that it is built on, the nearest first.
    Ancestors,
}

/// How many of the nodes with a required service count.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Members {
    /// That there is one.
    #[default]
    One,
    /// All of them: who requires them is told of each that comes or goes.
    All,
}

/// A service that another requires.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct Requirement {
    /// What it is called, or provides.
    pub name: String,
    /// Where it is looked for.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub scope: Scope,
    /// How many of the nodes that carry it count.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub members: Members,
}

impl Requirement {
    /// One on the same cluster of which one member counts, as Coopr knows them.
    #[must_use]
    pub fn plain(name: impl Into<String>) -> Self {
        Self { name: name.into(), scope: Scope::Cluster, members: Members::One }
    }

    /// Whether its name says everything.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.scope == Scope::Cluster && self.members == Members::One
    }
}

/// What a service requires in one phase, in alphabetical order, each name once.
///
/// In JSON a list, as Coopr has it: what only has a name is that name, everything else an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements(BTreeMap<String, Requirement>);

/// A requirement as it is written down: its name, or a whole one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = RequirementOrName)]
pub(super) enum Written {
    /// On the same cluster; one member counts.
    Name(String),
    /// Anything else.
    Whole(Requirement),
}

impl Requirements {
    /// The names, in alphabetical order.
    pub fn iter(&self) -> btree_map::Keys<'_, String, Requirement> {
        self.0.keys()
    }

    /// The requirements, by name.
    pub fn each(&self) -> impl Iterator<Item = &Requirement> {
        self.0.values()
    }

    /// The requirement of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Requirement> {
        self.0.get(name)
    }

    /// Whether that name is required.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether nothing is required.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a requirement, in place of one of the same name; a name alone is a plain one.
    pub fn insert(&mut self, requirement: impl Into<Requirement>) {
        let requirement = requirement.into();
        self.0.insert(requirement.name.clone(), requirement);
    }
}

impl From<String> for Requirement {
    fn from(name: String) -> Self {
        Self::plain(name)
    }
}

impl<R: Into<Requirement>> Extend<R> for Requirements {
    fn extend<I: IntoIterator<Item = R>>(&mut self, requirements: I) {
        for requirement in requirements {
            self.insert(requirement);
        }
    }
}

impl<R: Into<Requirement>> FromIterator<R> for Requirements {
    fn from_iter<I: IntoIterator<Item = R>>(requirements: I) -> Self {
        let mut all = Self::default();
        all.extend(requirements);
        all
    }
}

impl<R: Into<Requirement>, const N: usize> From<[R; N]> for Requirements {
    fn from(requirements: [R; N]) -> Self {
        requirements.into_iter().collect()
    }
}

impl From<BTreeSet<String>> for Requirements {
    fn from(names: BTreeSet<String>) -> Self {
        names.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Requirements {
    type Item = &'a String;
    type IntoIter = btree_map::Keys<'a, String, Requirement>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Serialize for Requirements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.each().map(|requirement| {
            if requirement.is_plain() {
                Written::Name(requirement.name.clone())
            } else {
                Written::Whole(requirement.clone())
            }
        }))
    }
}

impl<'de> Deserialize<'de> for Requirements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List)
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Element)
    }
}

impl From<Written> for Requirement {
    fn from(written: Written) -> Self {
        match written {
            Written::Name(name) => Self::plain(name),
            Written::Whole(requirement) => requirement,
        }
    }
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Requirements;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of names of services, or of objects with name, scope and members")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Requirements, A::Error> {
        let mut all = Requirements::default();
        while let Some(written) = list.next_element::<Written>()? {
            let requirement = Requirement::from(written);
            if let Some(other) = all.get(&requirement.name).filter(|other| **other != requirement) {
                return Err(A::Error::custom(format!(
                    "{} is required twice, {} and {}: keep one of them",
                    other.name,
                    manner(other),
                    manner(&requirement)
                )));
            }
            all.insert(requirement);
        }
        Ok(all)
    }
}

fn manner(requirement: &Requirement) -> String {
    let (scope, members) = (requirement.scope, requirement.members);
    format!("with scope {scope:?} and members {members:?}").to_lowercase()
}

/// Reads an element so that faults are told at their place: an untagged one would only say that nothing fits.
struct Element;

impl<'de> Visitor<'de> for Element {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a service, or an object with name, scope and members")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Written, E> {
        Ok(Written::Name(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Written, A::Error> {
        Requirement::deserialize(MapAccessDeserializer::new(fields)).map(Written::Whole)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::entity::{Entity, Service};

    #[test]
    fn what_only_has_a_name_is_written_as_coopr_does() {
        let written = json!(["b", {"name": "a", "scope": "node"}, {"name": "c", "members": "one"},
            {"name": "d", "scope": null, "members": "all"}]);
        let read: Requirements = serde_json::from_value(written).unwrap();
        assert_eq!(read.iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            json!([{"name": "a", "scope": "node", "members": "one"}, "b", "c",
                {"name": "d", "scope": "cluster", "members": "all"}])
        );
    }

    #[test]
    fn faults_name_what_was_written_and_what_could_be() {
        for (written, words) in [
            (json!([{"name": "a", "scope": "rack"}]), "unknown variant `rack`, expected one of `node`"),
            (json!([{"name": "a", "members": 3}]), "invalid type"),
            (json!([{"scope": "node"}]), "missing field `name`"),
            (json!(["a", 7]), "the name of a service, or an object"),
            (
                json!(["a", {"name": "a", "scope": "node"}]),
                "a is required twice, with scope cluster and members one and with scope node and members one",
            ),
        ] {
            let fault = serde_json::from_value::<Requirements>(written).unwrap_err().to_string();
            assert!(fault.contains(words), "{fault}");
        }
        assert!(serde_json::from_value::<Requirements>(json!(["a", "a"])).is_ok());
    }

    #[test]
    fn a_service_is_looked_for_in_one_place() {
        let checked = |install: &str| {
            let requires = |scope: &str| json!({"requires": [{"name": "a", "scope": scope}]});
            let dependencies = json!({"install": requires(install), "runtime": requires("node")});
            let service: Service =
                serde_json::from_value(json!({"name": "b", "dependencies": dependencies})).unwrap();
            service.check().map_err(|fault| fault.to_string())
        };
        assert_eq!(checked("node"), Ok(()));
        let all = json!({"install": {"requires": [{"name": "a", "scope": "node", "members": "all"}]}});
        let service: Service = serde_json::from_value(json!({"name": "b", "dependencies": all})).unwrap();
        assert_eq!(service.check().unwrap_err().field, "dependencies.install.requires");
        assert_eq!(
            checked("ancestors").unwrap_err(),
            "dependencies.runtime.requires: \"a\" has another scope in dependencies.install.requires; \
             give it the same scope (node, cluster or ancestors) in both"
        );
    }
}
