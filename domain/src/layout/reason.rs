//! Why there is no layout, or why a layout is not valid: in words, with numbers and a remedy.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One rule, quantity or name that cannot be met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{fault}; {remedy}")]
pub struct Reason {
    /// Which sort of reason, for programs.
    pub kind: ReasonKind,
    /// What cannot be met, for people: names and numbers.
    pub fault: String,
    /// What would help.
    pub remedy: String,
    /// Which changes of the request would help, each by itself, as far as these do; for programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RemedyStep>,
}

/// A change of what is asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(tag = "step", rename_all = "camelCase")]
pub enum RemedyStep {
    /// Ask for so many machines.
    Machines {
        /// How many.
        count: u32,
    },
    /// Ask for a service, too.
    AddService {
        /// Its name.
        service: String,
    },
    /// Do without a service.
    RemoveService {
        /// Its name.
        service: String,
    },
    /// Ask for this hardware type.
    HardwareType {
        /// Its name.
        name: String,
    },
    /// Ask for this image type.
    ImageType {
        /// Its name.
        name: String,
    },
}

impl RemedyStep {
    /// One for each of these services.
    pub(super) fn without<'a>(services: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = Self> {
        services.into_iter().map(|service| Self::RemoveService { service: service.to_owned() })
    }
}

/// Sorts of [`Reason`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// The number of machines is outside the template's limits.
    Size,
    /// No hardware type can be used, or a node has one that is not allowed.
    HardwareType,
    /// No image type can be used, or a node has one that is not allowed.
    ImageType,
    /// No service was asked for.
    NoServices,
    /// The template does not allow the service.
    IncompatibleService,
    /// The service does not exist.
    MissingService,
    /// A service requires a name that nothing on the cluster provides.
    UnmetRequirement,
    /// Two services may not be on the same cluster.
    Conflict,
    /// Services wait for each other in a circle.
    DependencyCycle,
    /// The service is on the cluster already.
    AlreadyPresent,
    /// Services that go together only as a whole are apart.
    MustCoexist,
    /// Services that may not share a node share one.
    CantCoexist,
    /// Fewer nodes carry a service than its minimum.
    Minimum,
    /// More nodes carry a service than its maximum, or its maximum is 0.
    Maximum,
    /// More machines are needed than were asked for.
    TooFewMachines,
    /// More machines were asked for than the services may be on.
    TooManyMachines,
    /// No node can take the service.
    NoPlace,
    /// A change names nodes that are not there.
    NoSuchNodes,
    /// The rules are so entangled that the search was given up.
    SearchLimit,
}

impl Reason {
    /// A reason from its parts.
    pub fn new(kind: ReasonKind, fault: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { kind, fault: fault.into(), remedy: remedy.into(), steps: Vec::new() }
    }

    /// With changes of the request that would help.
    #[must_use]
    pub fn helped_by(mut self, steps: impl IntoIterator<Item = RemedyStep>) -> Self {
        self.steps.extend(steps);
        self
    }
}

/// There is no such layout. Holds every reason that was found, at least one; printed one per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct NoLayout {
    /// The reasons, in the order in which they were checked.
    pub reasons: Vec<Reason>,
}

impl NoLayout {
    /// Success if there are no reasons against it.
    ///
    /// # Errors
    /// All `reasons`, if there are any.
    pub fn unless_none(reasons: Vec<Reason>) -> Result<(), Self> {
        if reasons.is_empty() { Ok(()) } else { Err(Self { reasons }) }
    }

    /// Whether one of the reasons is of this sort.
    #[must_use]
    pub fn has(&self, kind: ReasonKind) -> bool {
        self.reasons.iter().any(|reason| reason.kind == kind)
    }
}

impl NoLayout {
    /// The changes of the request that would help against one reason or another, each once, in the order of the reasons.
    #[must_use]
    pub fn steps(&self) -> Vec<&RemedyStep> {
        let mut steps: Vec<&RemedyStep> = Vec::new();
        for step in self.reasons.iter().flat_map(|reason| &reason.steps) {
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        steps
    }
}

impl From<Reason> for NoLayout {
    fn from(reason: Reason) -> Self {
        Self { reasons: vec![reason] }
    }
}

impl fmt::Display for NoLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, reason) in self.reasons.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}{reason}")?;
        }
        Ok(())
    }
}

/// Names as people list them: `a, b and c`, or with another last word, `a, b or c`.
pub(super) fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>, last_word: &str) -> String {
    let mut text = String::new();
    let mut names = names.into_iter().peekable();
    while let Some(name) = names.next() {
        let gap = match (text.is_empty(), names.peek().is_none()) {
            (true, _) => String::new(),
            (false, true) => format!(" {last_word} "),
            (false, false) => ", ".to_owned(),
        };
        text.push_str(&gap);
        text.push_str(name.as_ref());
    }
    text
}

/// `1 node`, `3 nodes`.
pub(super) fn counted(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_are_told_once_in_order_and_in_words_of_their_own() {
        let add = RemedyStep::AddService { service: "pg".to_owned() };
        let more = RemedyStep::Machines { count: 3 };
        let reason = |steps: &[RemedyStep]| Reason::new(ReasonKind::Size, "", "").helped_by(steps.to_vec());
        let refusal =
            NoLayout { reasons: vec![reason(&[more.clone(), add.clone()]), reason(&[]), reason(&[add])] };
        let told = serde_json::to_value(refusal.steps()).unwrap();
        assert_eq!(told, json!([{"step": "machines", "count": 3}, {"step": "addService", "service": "pg"}]));
        let old: Reason =
            serde_json::from_value(json!({"kind": "size", "fault": "f", "remedy": "r"})).unwrap();
        assert_eq!((old.steps.len(), serde_json::to_value(&old).unwrap()["steps"].is_null()), (0, true));
    }
}
