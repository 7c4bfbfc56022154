//! Provisioners: who brings workers, and which tenants they work for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::invalid::Invalid;
use crate::worker_protocol::{Extension, known_extensions};

/// A process that brings workers. Tenants are named by their internal ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provisioner {
    /// Its own name for itself.
    pub id: String,
    /// Where it listens.
    pub host: String,
    /// On which port.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub port: u16,
    /// How many workers it can bring.
    #[serde(deserialize_with = "crate::lenient::number")]
    pub capacity_total: u32,
    /// Workers it is to bring, by tenant.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub assignments: BTreeMap<String, u32>,
    /// Workers it says it brings, by tenant.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    pub usage: BTreeMap<String, u32>,
    /// What it speaks beyond Coopr's protocol; what is not known here is left out.
    #[serde(default, deserialize_with = "known_extensions", skip_serializing_if = "BTreeSet::is_empty")]
    pub extensions: BTreeSet<Extension>,
    /// Whether it is about to go: it ends what it has, and is to bring no workers.
    #[serde(default, skip_serializing_if = "is_false")]
    pub draining: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Provisioner {
    /// What a registration must hold.
    ///
    /// # Errors
    /// The first field at fault.
    pub fn check(&self) -> Result<(), Invalid> {
        for (field, value) in [("id", &self.id), ("host", &self.host)] {
            if value.is_empty() {
                return Err(Invalid::new(field, "", "is empty", "say who and where the provisioner is"));
            }
        }
        if self.capacity_total == 0 {
            let remedy = "a provisioner brings at least one worker";
            return Err(Invalid::new("capacityTotal", 0, "is no capacity", remedy));
        }
        if self.assigned() > u64::from(self.capacity_total) {
            let fault = format!("is more than the capacity of {}", self.capacity_total);
            return Err(Invalid::new("assignments", self.assigned(), fault, "assign fewer workers"));
        }
        Ok(())
    }

    /// Workers it could still bring.
    #[must_use]
    pub fn capacity_free(&self) -> u32 {
        if self.draining {
            return 0;
        }
        let free = u64::from(self.capacity_total).saturating_sub(self.assigned());
        u32::try_from(free).unwrap_or(u32::MAX)
    }

    /// Workers it is to bring for `tenant`.
    #[must_use]
    pub fn assigned_to(&self, tenant: &str) -> u32 {
        self.assignments.get(tenant).copied().unwrap_or(0)
    }

    fn assigned(&self) -> u64 {
        self.assignments.values().map(|workers| u64::from(*workers)).sum()
    }
}

/// How many workers each provisioner is to bring for `tenant` so that there are `wanted` in all, or as many as there is
/// capacity for; provisioners that are to bring none are left out.
///
/// What is assigned stays where it is. More workers go, one at a time, to the provisioner with the most free capacity;
/// fewer are taken from the one that brings the most for the tenant. Among equals the first one counts. One that is about
/// to go loses what it has to the others.
#[must_use]
pub fn rebalance(provisioners: &[Provisioner], tenant: &str, wanted: u32) -> BTreeMap<String, u32> {
    let kept = |one: &Provisioner| if one.draining { 0 } else { one.assigned_to(tenant) };
    let mut shares: Vec<(u32, u32)> =
        provisioners.iter().map(|one| (kept(one), one.capacity_free())).collect();
    let mut left = i64::from(wanted) - shares.iter().map(|(assigned, _)| i64::from(*assigned)).sum::<i64>();
    while left > 0 {
        let Some(share) = shares.iter_mut().rev().filter(|(_, free)| *free > 0).max_by_key(|(_, free)| *free)
        else {
            break;
        };
        *share = (share.0 + 1, share.1 - 1);
        left -= 1;
    }
    while left < 0 {
        let Some(share) = shares.iter_mut().rev().filter(|(n, _)| *n > 0).max_by_key(|(n, _)| *n) else {
            break;
        };
        *share = (share.0 - 1, share.1 + 1);
        left += 1;
    }
    let given = provisioners.iter().zip(shares).filter(|(_, (assigned, _))| *assigned > 0);
    given.map(|(one, (assigned, _))| (one.id.clone(), assigned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provisioner(id: &str, capacity: u32, assigned: &[(&str, u32)]) -> Provisioner {
        Provisioner {
            id: id.to_owned(),
            host: "h".to_owned(),
            port: 1,
            capacity_total: capacity,
            assignments: assigned.iter().map(|(tenant, n)| ((*tenant).to_owned(), *n)).collect(),
            ..Provisioner::default()
        }
    }

    fn balanced(provisioners: &[Provisioner], wanted: u32) -> Vec<(String, u32)> {
        rebalance(provisioners, "t", wanted).into_iter().collect()
    }

    #[test]
    fn what_is_right_already_is_left_alone() {
        let all = [provisioner("p1", 100, &[("t", 10)]), provisioner("p2", 100, &[])];
        assert_eq!(balanced(&all, 10), [("p1".to_owned(), 10)]);
    }

    #[test]
    fn more_workers_are_spread_over_free_capacity() {
        let all = [provisioner("p1", 4, &[("other", 1)]), provisioner("p2", 3, &[])];
        assert_eq!(balanced(&all, 4), [("p1".to_owned(), 2), ("p2".to_owned(), 2)]);
        assert_eq!(balanced(&all, 99), [("p1".to_owned(), 3), ("p2".to_owned(), 3)]);
    }

    #[test]
    fn fewer_workers_are_taken_from_whoever_brings_most() {
        let all = [provisioner("p1", 9, &[("t", 5)]), provisioner("p2", 9, &[("t", 2)])];
        assert_eq!(balanced(&all, 4), [("p1".to_owned(), 2), ("p2".to_owned(), 2)]);
        assert_eq!(balanced(&all, 0), []);
    }

    #[test]
    fn one_that_goes_loses_its_workers_to_the_others() {
        let leaving = Provisioner { draining: true, ..provisioner("p1", 9, &[("t", 4)]) };
        assert_eq!(balanced(&[leaving.clone(), provisioner("p2", 3, &[])], 4), [("p2".to_owned(), 3)]);
        assert_eq!((leaving.capacity_free(), balanced(&[leaving], 4)), (0, vec![]));
    }

    #[test]
    fn registrations_are_read_as_old_provisioners_send_them() {
        let text = r#"{"id": "master-1", "capacityTotal": "10", "host": "10.0.0.7", "port": "55056"}"#;
        let read: Provisioner = serde_json::from_str(text).unwrap();
        assert_eq!((read.capacity_total, read.port), (10, 55_056));
        assert!(read.check().is_ok());
        // What is not there is not shown either, as old servers stored it.
        let shown = serde_json::to_value(&read).unwrap();
        assert!(shown.get("extensions").is_none() && shown.get("draining").is_none(), "{shown}");
        let over = provisioner("p", 1, &[("t", 2)]);
        assert!(over.check().is_err_and(|fault| fault.field == "assignments"));
        assert!(provisioner("p", 0, &[]).check().is_err_and(|fault| fault.field == "capacityTotal"));
    }
}
