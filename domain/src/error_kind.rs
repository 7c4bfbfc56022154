//! Why attempts fail, sorted by what helps: waiting, another machine, or somebody who corrects something.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::task::{TaskName, TaskReport};

/// Code by which Coopr's plugins say that a provider rejects their credentials.
const CREDENTIALS_REJECTED: i64 = 201;
/// Code by which they say that a provider is still busy with the same machine.
const CONFLICT: i64 = 202;

/// What kind of failure an attempt ended with. A word that is not known is `unknown`.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase", from = "String")]
pub enum ErrorKind {
    /// It may succeed a little later without anybody doing anything: a lost connection, a provider that is overloaded, has
    /// no room for the moment, or wants to be asked less often.
    Transient,
    /// It fails again until somebody corrects something: credentials, a quota, the request itself.
    Permanent,
    /// The machine is gone, or does not come up.
    Machine,
    /// A script on the machine failed.
    Script,
    /// Nobody said, and nothing can be concluded.
    #[default]
    Unknown,
}

impl ErrorKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Transient, Self::Permanent, Self::Machine, Self::Script, Self::Unknown];

    /// As in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Permanent => "permanent",
            Self::Machine => "machine",
            Self::Script => "script",
            Self::Unknown => "unknown",
        }
    }

    /// The kind of the failure that `report` tells of: what it says itself, or what follows from its code and task, since
    /// Coopr's workers say no more.
    #[must_use]
    pub fn of(task: TaskName, report: &TaskReport) -> Self {
        let by_provider = matches!(task, TaskName::Create | TaskName::Confirm | TaskName::Delete);
        match (report.error_kind, report.status) {
            (Some(said), _) => said,
            (None, CREDENTIALS_REJECTED) if by_provider => Self::Permanent,
            (None, CONFLICT) if by_provider => Self::Transient,
            (None, ..0) => Self::Unknown,
            (None, _) if task == TaskName::Confirm => Self::Machine,
            (None, _) if !task.is_machine_task() => Self::Script,
            (None, _) => Self::Unknown,
        }
    }

    /// What kind of failure it was and what to do, after the last attempt; nothing when there is nothing to add.
    #[must_use]
    pub const fn advice(self) -> Option<&'static str> {
        match self {
            Self::Transient => Some(
                "it may pass by itself: see that the machine, the network and the provider are well, then retry",
            ),
            Self::Permanent => Some(
                "it is permanent, so it was not tried again: correct what it says (credentials, quota, request), then retry",
            ),
            Self::Machine => Some("its machine is gone or does not come up: see the provider, then retry"),
            Self::Script => Some("its script failed: correct the script or its configuration, then retry"),
            Self::Unknown => None,
        }
    }
}

impl From<String> for ErrorKind {
    fn from(word: String) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or_default()
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_says_follows_from_code_and_task() {
        use TaskName::{Bootstrap, Confirm, Create, Delete, Install};
        for (task, code, kind) in [
            (Create, 1, ErrorKind::Unknown),
            (Create, 201, ErrorKind::Permanent),
            (Delete, 202, ErrorKind::Transient),
            (Confirm, 1, ErrorKind::Machine),
            (Confirm, 201, ErrorKind::Permanent),
            (Confirm, -1, ErrorKind::Unknown),
            (Bootstrap, 1, ErrorKind::Unknown),
            (Install, 201, ErrorKind::Script),
            (Install, -1, ErrorKind::Unknown),
        ] {
            assert_eq!(ErrorKind::of(task, &TaskReport::failure(code, "")), kind, "{task} {code}");
            let said = TaskReport::failure(code, "").of_kind(ErrorKind::Permanent);
            assert_eq!(ErrorKind::of(task, &said), ErrorKind::Permanent);
        }
    }

    #[test]
    fn words_are_read_and_those_of_other_times_are_unknown() {
        for kind in ErrorKind::ALL {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{kind}\""));
            assert_eq!(serde_json::from_str::<ErrorKind>(&text).unwrap(), kind);
        }
        assert_eq!(serde_json::from_str::<ErrorKind>("\"cosmic\"").unwrap(), ErrorKind::Unknown);
    }
}
