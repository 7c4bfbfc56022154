//! Where tenants' workers are.

use actix::{Handler, MessageResult};

use super::Registry;
use super::message::{FindPool, ListPools};

impl Handler<FindPool> for Registry {
    type Result = MessageResult<FindPool>;

    fn handle(&mut self, FindPool { tenant }: FindPool, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.pool(&tenant))
    }
}

impl Handler<ListPools> for Registry {
    type Result = MessageResult<ListPools>;

    fn handle(&mut self, _: ListPools, _: &mut Self::Context) -> Self::Result {
        let pools = self.office.pools.iter();
        MessageResult(pools.map(|(tenant, pool)| (tenant.clone(), pool.clone())).collect())
    }
}
