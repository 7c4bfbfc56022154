//! Identifiers, each with its own type and its printed form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text that is not an identifier of the kind asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind} id: expected the form {form}")]
pub struct IdError {
    kind: &'static str,
    form: &'static str,
    text: String,
}

/// A cluster: a counter of the installation, printed with eight digits. Texts with fewer digits are read as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(pub u64);

/// A job of a cluster: `00000042-007`, counted from 1 in each cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    /// The cluster it changes.
    pub cluster: ClusterId,
    /// Its number in the cluster.
    pub number: u32,
}

/// A task of a job: `00000042-007-031`, counted from 1 in each cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The job it belongs to.
    pub job: JobId,
    /// Its number in the cluster.
    pub number: u32,
}

/// A node of a cluster, for ever: a UUID.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub String);

impl NodeId {
    /// The id of the node with this number in a cluster that was given `seed`; the same for the same input.
    #[must_use]
    pub fn derive(seed: Uuid, node_number: u32) -> Self {
        Self(Uuid::new_v5(&seed, &node_number.to_be_bytes()).to_string())
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}", self.0)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:03}", self.cluster, self.number)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:03}", self.job, self.number)
    }
}

impl FromStr for ClusterId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        digits(text).map(Self).ok_or_else(|| IdError {
            kind: "cluster",
            form: "00000042",
            text: text.to_owned(),
        })
    }
}

impl FromStr for JobId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let parse = || {
            let (cluster, number) = text.rsplit_once('-')?;
            Some(Self { cluster: ClusterId(digits(cluster)?), number: digits(number)?.try_into().ok()? })
        };
        parse().ok_or_else(|| IdError { kind: "job", form: "00000042-007", text: text.to_owned() })
    }
}

impl FromStr for TaskId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let parse = || {
            let (job, number) = text.rsplit_once('-')?;
            Some(Self { job: job.parse().ok()?, number: digits(number)?.try_into().ok()? })
        };
        parse().ok_or_else(|| IdError { kind: "task", form: "00000042-007-031", text: text.to_owned() })
    }
}

fn digits(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

macro_rules! serde_as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

serde_as_text!(ClusterId, JobId, TaskId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_printed_padded_and_read_back() {
        let task = TaskId { job: JobId { cluster: ClusterId(42), number: 7 }, number: 1031 };
        assert_eq!(task.to_string(), "00000042-007-1031");
        assert_eq!("00000042-007-1031".parse(), Ok(task));
        assert_eq!("42".parse(), Ok(ClusterId(42)));
    }

    #[test]
    fn other_texts_are_refused_with_the_form_expected() {
        for text in ["", "-1", "4x", "+4"] {
            let fault = text.parse::<ClusterId>().unwrap_err();
            assert!(fault.to_string().contains("00000042"), "{fault}");
        }
        assert!("00000042".parse::<JobId>().is_err());
        assert!("00000042-007".parse::<TaskId>().is_err_and(|e| e.to_string().contains("00000042-007-031")));
    }
}
