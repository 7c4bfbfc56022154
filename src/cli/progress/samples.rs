//! Plans for tests.

use serde_json::{Value, json};

use crate::cli::cluster::shapes::{Details, Plan};

/// A task: status, begin and end of its attempt, estimate, indices of those it waits for.
pub type Sample<'a> = (&'a str, Option<(i64, Option<i64>)>, i64, &'a [usize]);

/// A plan of tasks on one node.
pub fn plan(tasks: &[Sample<'_>]) -> Plan {
    let id = |index: usize| format!("00000001-001-{index:03}");
    let tasks: Vec<Value> = tasks
        .iter()
        .enumerate()
        .map(|(index, (status, attempt, estimate, after))| {
            let attempts: Vec<Value> = attempt
                .iter()
                .map(|(start, end)| json!({"number": 1, "startTime": start, "endTime": end, "code": end.map(|_| 0)}))
                .collect();
            json!({
                "id": id(index), "taskName": "INSTALL", "nodeId": "n0", "service": format!("s{index}"),
                "after": after.iter().map(|after| id(*after)).collect::<Vec<_>>(),
                "status": status, "estimateMs": estimate, "attempts": attempts,
            })
        })
        .collect();
    serde_json::from_value(json!({
        "id": "00000001-001", "action": "CLUSTER_CREATE", "status": "running", "startTime": 0, "tasks": tasks,
    }))
    .unwrap()
}

/// A web cluster half-way, as the server shows it: the load balancer is done, one web node works, one waits, one failed.
pub fn half_way() -> (Details, Plan) {
    let details = include_str!("samples/half_way.details.json");
    let plan = include_str!("samples/half_way.plan.json");
    (serde_json::from_str(details).unwrap(), serde_json::from_str(plan).unwrap())
}
