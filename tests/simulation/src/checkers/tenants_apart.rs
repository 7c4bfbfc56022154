//! Invariant 6: a tenant's task runs only on that tenant's workers; no entity, log or secret crosses tenants.

use super::{Checker, Verdict};
use crate::catalog::{TENANTS, mark, secret};
use crate::ledger::Ledger;
use crate::seen::Seen;

/// Whose worker it is, and whose words it is given and prints.
#[derive(Debug)]
pub struct TenantsApart;

/// What of another tenant's is in a text.
fn foreign(text: &str, tenant: &str) -> Verdict {
    let others = TENANTS.iter().map(|(name, ..)| *name).filter(|name| *name != tenant);
    for other in others {
        if text.contains(&mark(other)) || text.contains(&secret(other)) {
            return Err(format!("{tenant} is shown what belongs to {other}: {text}"));
        }
    }
    Ok(())
}

impl Checker for TenantsApart {
    fn name(&self) -> &'static str {
        "tenants-apart"
    }

    fn see(&mut self, ledger: &Ledger, seen: &Seen<'_>) -> Verdict {
        match seen {
            Seen::Began { execution, tenant, given, .. } => {
                let cluster = execution.0.job.cluster;
                let owner = ledger.find(cluster).map_or("nobody", |book| book.tenant.as_str());
                if owner != *tenant {
                    return Err(format!(
                        "a task of {cluster}, which is {owner}'s, runs on a worker of {tenant}"
                    ));
                }
                foreign(given, tenant)
            }
            Seen::Printed { cluster, text } => {
                let owner = ledger.find(*cluster).map_or("nobody", |book| book.tenant.as_str());
                if text.contains(&secret(owner)) {
                    return Err(format!("a secret is in the log of {cluster}: {text}"));
                }
                foreign(text, owner)
            }
            Seen::Recorded { after, texts, .. } => {
                let tenant = after.account.tenant_id.as_str();
                for text in *texts {
                    if text.contains(&secret(tenant)) {
                        return Err(format!("a secret is in the journal of {}: {text}", after.id));
                    }
                    foreign(text, tenant)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
