//! Who did what: one record per request, in a chain of hashes that shows when a record was altered, removed, inserted or moved.
//!
//! The hash of a record covers all its fields, its number and the hash before it, so that whoever changes one has to change
//! all that follow, and the last hash, which may be kept elsewhere, gives that away.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What the hash of the first record of an installation covers in place of the one before it.
pub const BEGINNING: &str = "";
/// The action of a record that says that older ones were removed on purpose.
pub const PRUNE: &str = "prune the audit log";
/// Says in which form the fields are hashed.
const FORM: &str = "cooperage audit 1";

/// What was done, by whom, from where, and what came of it. Holds no secrets and no bodies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When the request was answered, in ms since 1970.
    pub at_ms: i64,
    /// Id of the request, as its caller was told.
    pub request: String,
    /// Id of the caller's tenant; empty when nobody knows who called.
    pub tenant: String,
    /// The caller.
    pub user: String,
    /// How the caller was known: `token ID`, or `headers`.
    pub credential: String,
    /// The address the request came from.
    pub peer: String,
    /// The address a trusted proxy named as the caller's.
    pub forwarded: String,
    /// On which port: `user`, or `tasks`.
    pub port: String,
    /// Method and route.
    pub action: String,
    /// What it was done to.
    pub object: String,
    /// The status of the answer.
    pub status: u16,
}

/// What came of a request, by its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was not allowed, or made no sense.
    Refused,
    /// Something broke.
    Failed,
}

impl Outcome {
    /// That of a status.
    #[must_use]
    pub const fn of(status: u16) -> Self {
        match status {
            0..400 => Self::Done,
            400..500 => Self::Refused,
            _ => Self::Failed,
        }
    }

    /// The lowest status with this outcome, and the one above the highest.
    #[must_use]
    pub const fn statuses(self) -> (u16, u16) {
        match self {
            Self::Done => (0, 400),
            Self::Refused => (400, 500),
            Self::Failed => (500, u16::MAX),
        }
    }
}

impl Record {
    /// The hash of this record with this number behind that one, in hexadecimal.
    #[must_use]
    pub fn hash(&self, previous: &str, sequence: u64) -> String {
        let mut hash = Sha256::new();
        // Each with its length in front, so that nothing can be moved from one field to its neighbour.
        let mut field = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        field(FORM.as_bytes());
        field(previous.as_bytes());
        field(&sequence.to_be_bytes());
        field(&self.at_ms.to_be_bytes());
        field(&self.status.to_be_bytes());
        let Self { request, tenant, user, credential, peer, forwarded, port, action, object, .. } = self;
        for text in [request, tenant, user, credential, peer, forwarded, port, action, object] {
            field(text.as_bytes());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What came of it.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        Outcome::of(self.status)
    }
}

/// A record in its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, from 1 without gaps.
    pub sequence: u64,
    /// What was done.
    #[serde(flatten)]
    pub record: Record,
    /// Its hash.
    pub hash: String,
}

/// A place in the chain: the last entry there is, or the last one that was removed on purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Number of the entry; 0 before the first.
    pub sequence: u64,
    /// Its hash.
    pub hash: String,
}

impl Link {
    /// What the record of a prune that removed everything up to here names as its object.
    #[must_use]
    pub fn pruned(&self) -> String {
        format!("through {} {}", self.sequence, self.hash)
    }
}

/// Where the chain is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// An entry is not where it should be.
    #[error("entry {sequence} is missing: {found} follows on {}; it was removed, or others were moved", .sequence - 1)]
    Missing {
        /// The number that should come.
        sequence: u64,
        /// The number that comes.
        found: u64,
    },
    /// An entry is not what it was.
    #[error("entry {sequence} does not match its hash: it was altered, or put in later")]
    Altered {
        /// Its number.
        sequence: u64,
    },
    /// The end is not what was written last.
    #[error(
        "the log ends with entry {found}, and {sequence} was written last: the end was removed or replaced"
    )]
    End {
        /// Number of the entry that was written last.
        sequence: u64,
        /// Number of the last that is there.
        found: u64,
    },
    /// What was removed from the beginning was not removed by a prune.
    #[error(
        "the log begins behind entry {sequence}, and no prune of it is on record: the beginning was removed"
    )]
    Beginning {
        /// Number of the last entry that is gone.
        sequence: u64,
    },
}

impl Broken {
    /// Number of the first entry that is not as it should be.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        match self {
            Self::Missing { sequence, .. }
            | Self::Altered { sequence }
            | Self::End { sequence, .. }
            | Self::Beginning { sequence } => *sequence,
        }
    }
}

/// Walks a chain entry by entry.
#[derive(Debug)]
pub struct Verifier {
    anchor: Link,
    at: Link,
    /// Whether the prune that made the anchor was seen.
    vouched: bool,
}

impl Verifier {
    /// Begins behind the last entry that was removed.
    #[must_use]
    pub fn new(anchor: Link) -> Self {
        let vouched = anchor.sequence == 0;
        Self { at: anchor.clone(), anchor, vouched }
    }

    /// Takes the next entry.
    ///
    /// # Errors
    /// When it is not the one that should come.
    pub fn check(&mut self, entry: &Entry) -> Result<(), Broken> {
        let sequence = self.at.sequence + 1;
        if entry.sequence != sequence {
            return Err(Broken::Missing { sequence, found: entry.sequence });
        }
        if entry.record.hash(&self.at.hash, sequence) != entry.hash {
            return Err(Broken::Altered { sequence });
        }
        let Record { action, object, .. } = &entry.record;
        self.vouched |= action == PRUNE && *object == self.anchor.pruned();
        self.at = Link { sequence, hash: entry.hash.clone() };
        Ok(())
    }

    /// There is no further entry; `head` is what was written last. Gives how many entries there were.
    ///
    /// # Errors
    /// When the end or the beginning is missing.
    pub fn finish(self, head: &Link) -> Result<u64, Broken> {
        if self.at != *head {
            return Err(Broken::End { sequence: head.sequence, found: self.at.sequence });
        }
        if !self.vouched {
            return Err(Broken::Beginning { sequence: self.anchor.sequence });
        }
        Ok(self.at.sequence - self.anchor.sequence)
    }
}
