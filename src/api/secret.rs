//! Secrets that are made here, shown once, and kept only as a hash.

use uuid::Uuid;

/// A new secret: two random UUIDs, 244 bits that nobody can guess. It begins with `coop_`, so that scanners of sources know it.
#[must_use]
pub fn new_secret() -> String {
    format!("coop_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}
