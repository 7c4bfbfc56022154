//! The last thing a cluster's actor does, however it ends.

use actix::Addr;
use cooperage_domain::id::ClusterId;

use crate::registry::{Ending, Registry, Stopped};

/// Tells the registry that the actor is gone; after a panic too, since values are dropped then as well.
pub(super) struct Farewell {
    id: ClusterId,
    generation: u64,
    registry: Addr<Registry>,
    /// How it ends; a failure, unless it says otherwise before.
    pub(super) ending: Ending,
}

impl Farewell {
    /// Of the actor that the registry started as its `generation`th.
    pub(super) const fn new(id: ClusterId, generation: u64, registry: Addr<Registry>) -> Self {
        Self { id, generation, registry, ending: Ending::Failed }
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        let (id, generation, ending) = (self.id, self.generation, self.ending);
        self.registry.do_send(Stopped { id, generation, ending });
    }
}
