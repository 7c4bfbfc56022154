//! Callbacks: what others are told of jobs and leases, and what they may refuse.

mod networks;
mod verdict;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use networks::Networks;
pub use verdict::{Verdict, verdict};

use crate::invalid::Invalid;
use crate::plan::ClusterAction;

/// The longest time that a target may be given to answer, in ms.
pub const LONGEST_TIMEOUT: u32 = 60_000;

/// What a target is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// A job is about to begin. The answer may refuse it.
    Start,
    /// A job is complete.
    Success,
    /// A job has failed.
    Failure,
    /// A lease ends soon.
    LeaseWarning,
    /// Somebody tries the target.
    Test,
}

impl HookEvent {
    /// Those that a hook may be for.
    pub const ALL: [Self; 4] = [Self::Start, Self::Success, Self::Failure, Self::LeaseWarning];

    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::LeaseWarning => "lease-warning",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for HookEvent {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let known = [Self::ALL.as_slice(), &[Self::Test]].concat();
        known.into_iter().find(|event| event.as_str() == text).ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str).join(", ");
            Invalid::new("events", text, "is no event that hooks are called for", format!("use {words}"))
        })
    }
}

/// What becomes of a job whose start hook cannot be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// It begins.
    #[default]
    Allow,
    /// It is refused.
    Refuse,
}

impl OnError {
    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Refuse => "refuse",
        }
    }
}

impl FromStr for OnError {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "allow" => Ok(Self::Allow),
            "refuse" => Ok(Self::Refuse),
            _ => Err(Invalid::new("onError", text, "is neither `allow` nor `refuse`", "use one of the two")),
        }
    }
}

/// Somebody who is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Its id; those of the settings have fixed ones.
    pub id: String,
    /// Id of the tenant whose clusters it is about; `None` for those of the settings, which are about all.
    pub tenant: Option<String>,
    /// Its name, unique in the tenant.
    pub name: String,
    /// Where it is called.
    pub url: String,
    /// What it is called for.
    pub events: BTreeSet<HookEvent>,
    /// For which kinds of jobs; none: all. A warning of a lease belongs to no job, and always passes.
    pub actions: BTreeSet<ClusterAction>,
    /// How long it may take to answer, in ms.
    pub timeout: u32,
    /// What becomes of a job when it cannot be asked.
    pub on_error: OnError,
}

impl Hook {
    /// Whether the server's settings name it, and no tenant.
    #[must_use]
    pub const fn is_of_settings(&self) -> bool {
        self.tenant.is_none()
    }

    /// Whether it is called for this, in this tenant.
    #[must_use]
    pub fn wants(&self, event: HookEvent, action: Option<ClusterAction>, tenant: &str) -> bool {
        let of_tenant = self.tenant.as_deref().is_none_or(|own| own == tenant);
        let of_kind = action.is_none_or(|action| self.actions.is_empty() || self.actions.contains(&action));
        of_tenant && of_kind && self.events.contains(&event)
    }
}

/// The kinds of jobs in a list with commas, in Coopr's spelling and any case. As in Coopr, unknown words are passed over.
#[must_use]
pub fn triggers(list: &str) -> BTreeSet<ClusterAction> {
    let words: BTreeSet<String> = list.split(',').map(|word| word.trim().to_lowercase()).collect();
    ClusterAction::ALL.into_iter().filter(|action| words.contains(action.as_str())).collect()
}

/// A kind of job by its name.
///
/// # Errors
/// When there is none of this name.
pub fn action(word: &str) -> Result<ClusterAction, Invalid> {
    let wanted = word.trim().to_lowercase();
    ClusterAction::ALL.into_iter().find(|action| action.as_str() == wanted).ok_or_else(|| {
        let known = ClusterAction::ALL.map(ClusterAction::as_str).join(", ");
        Invalid::new("actions", word, "is no kind of job", format!("use {known}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(events: &[HookEvent], actions: &[ClusterAction], tenant: Option<&str>) -> Hook {
        Hook {
            id: "1".into(),
            tenant: tenant.map(str::to_owned),
            name: "ci".into(),
            url: "https://ci.example.com".into(),
            events: events.iter().copied().collect(),
            actions: actions.iter().copied().collect(),
            timeout: 1000,
            on_error: OnError::Allow,
        }
    }

    #[test]
    fn a_hook_is_called_for_its_events_its_jobs_and_its_tenant() {
        let (create, delete) = (ClusterAction::ClusterCreate, ClusterAction::ClusterDelete);
        let narrow = hook(&[HookEvent::Success, HookEvent::LeaseWarning], &[create], Some("t"));
        assert!(narrow.wants(HookEvent::Success, Some(create), "t"));
        assert!(narrow.wants(HookEvent::LeaseWarning, None, "t"), "a warning belongs to no job");
        assert!(!narrow.wants(HookEvent::Failure, Some(create), "t"));
        assert!(!narrow.wants(HookEvent::Success, Some(delete), "t"));
        assert!(!narrow.wants(HookEvent::Success, Some(create), "u"));
        let wide = hook(&HookEvent::ALL, &[], None);
        assert!(ClusterAction::ALL.iter().all(|action| wide.wants(HookEvent::Start, Some(*action), "any")));
        assert!(!wide.wants(HookEvent::Test, None, "t"));
    }

    #[test]
    fn triggers_are_read_as_coopr_reads_them() {
        let found = triggers(" cluster_create,CLUSTER_DELETE, nonsense ");
        assert_eq!(found, [ClusterAction::ClusterCreate, ClusterAction::ClusterDelete].into());
        assert!(triggers("").is_empty());
    }

    #[test]
    fn words_are_those_of_the_json() {
        for event in HookEvent::ALL {
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
            assert_eq!(event.as_str().parse(), Ok(event));
        }
        for on_error in [OnError::Allow, OnError::Refuse] {
            assert_eq!(on_error.as_str().parse(), Ok(on_error));
        }
        assert!("finish".parse::<HookEvent>().is_err_and(|fault| fault.remedy.contains("lease-warning")));
        assert!(action("reboot").is_err_and(|fault| fault.remedy.contains("cluster_create")));
        assert_eq!(action("CLUSTER_DELETE"), Ok(ClusterAction::ClusterDelete));
    }
}
