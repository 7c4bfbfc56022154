//! Why there is no layout, or why a layout is not valid: in words, with numbers and a remedy.

use std::fmt;

use serde::{Deserialize, Serialize};

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
        Self { kind, fault: fault.into(), remedy: remedy.into() }
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
