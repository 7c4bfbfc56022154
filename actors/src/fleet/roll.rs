//! Who is registered, for every request of a worker: looked up without asking the fleet's actor on its own thread.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use cooperage_domain::provisioner::Provisioner;

/// The provisioners that are registered. Cheap to clone: all clones know the same. Only the fleet changes it.
#[derive(Debug, Clone, Default)]
pub struct Roll(Arc<RwLock<HashMap<String, Enrolled>>>);

/// What is known of one that is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enrolled {
    /// Whether it is about to go, and takes no more tasks.
    pub draining: bool,
}

impl Roll {
    /// What is known of a provisioner, by id; nothing of one that is not registered.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Enrolled> {
        // Nobody panics while holding it: entries are only put in and taken out.
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }

    pub(super) fn enter(&self, provisioner: &Provisioner) {
        let enrolled = Enrolled { draining: provisioner.draining };
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(provisioner.id.clone(), enrolled);
    }

    pub(super) fn strike(&self, id: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
