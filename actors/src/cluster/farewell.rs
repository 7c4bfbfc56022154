//! The last thing a cluster's actor does, however it ends.

use actix::Addr;
use cooperage_domain::id::ClusterId;

use crate::registry::{Registry, Stopped};

/// Tells the registry that the actor is gone; after a panic too, since values are dropped then as well.
pub(super) struct Farewell {
    id: ClusterId,
    generation: u64,
    registry: Addr<Registry>,
    /// Whether it ended on purpose; anything else is a failure.
    pub(super) in_order: bool,
}

impl Farewell {
    /// Of the actor that the registry started as its `generation`th.
    pub(super) const fn new(id: ClusterId, generation: u64, registry: Addr<Registry>) -> Self {
        Self { id, generation, registry, in_order: false }
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        let (id, generation, failed) = (self.id, self.generation, !self.in_order);
        self.registry.do_send(Stopped { id, generation, failed });
    }
}
