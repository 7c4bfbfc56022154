//! What clusters of a measured server are made of: machines that nobody makes, of which remote workers say that they are there.

use cooperage_domain::worker_protocol::Extension;
use serde_json::{Map, Value, json};

use crate::BenchError;
use crate::wire::Wire;

/// Tasks of a node before its first service: CREATE, CONFIRM, BOOTSTRAP.
pub const MACHINE_TASKS: u32 = 3;
/// The tenant whose workers carry everything out.
pub const TENANT: &str = "superadmin";
/// What each service is done to.
const ACTIONS: [&str; 4] = ["install", "configure", "initialize", "start"];

/// Puts there what clusters of the template `tasks-M` need, whose nodes have `tasks_per_node` (M) tasks each, one after the
/// other: CREATE, CONFIRM, BOOTSTRAP, and what is done to as many services as are needed. Nodes wait for each other nowhere.
/// Goes over the port for people.
///
/// # Errors
/// When the server refuses.
pub async fn stock(user: &mut Wire, tasks_per_node: u32) -> Result<(), BenchError> {
    user.must("POST", "/v2/apply", &documents(tasks_per_node)).await.map(drop)
}

/// Asks for a cluster of so many nodes with so many tasks each, and gives its id. Over the port for people.
///
/// # Errors
/// When the server refuses.
pub async fn create(
    user: &mut Wire,
    name: &str,
    nodes: u32,
    tasks_per_node: u32,
) -> Result<String, BenchError> {
    let template = template_name(tasks_per_node);
    let request = json!({"name": name, "clusterTemplate": template, "numMachines": nodes});
    let answer = user.must("POST", "/v2/clusters", &request).await?;
    Ok(answer["id"].as_str().unwrap_or_default().to_owned())
}

/// Registers a provisioner, so that its workers may take tasks. Over the port for provisioners.
///
/// # Errors
/// When the server refuses.
pub async fn register(tasks: &mut Wire, id: &str, extensions: &[Extension]) -> Result<(), BenchError> {
    // Nobody calls it there: its tenants are given no workers by the server.
    let mut said = json!({"id": id, "host": "127.0.0.1", "port": 9, "capacityTotal": 1_000});
    if !extensions.is_empty() {
        said["extensions"] = serde_json::to_value(extensions)?;
    }
    tasks.must("PUT", &format!("/v2/provisioners/{id}"), &said).await.map(drop)
}

/// Name of the template whose nodes have so many tasks.
#[must_use]
pub fn template_name(tasks_per_node: u32) -> String {
    format!("tasks-{tasks_per_node}")
}

/// Everything that clusters of one template are made of, each with its kind.
#[must_use]
pub fn documents(tasks_per_node: u32) -> Value {
    let services = services(tasks_per_node.saturating_sub(MACHINE_TASKS));
    let names: Vec<&Value> = services.iter().map(|service| &service["name"]).collect();
    // Services that have to share a node are on all of them.
    let together: Vec<&Vec<&Value>> = [&names].into_iter().filter(|names| names.len() > 1).collect();
    let mut documents = vec![
        json!({"kind": "provider", "name": "bench", "providertype": "local", "provisioner": {}}),
        json!({"kind": "hardwaretype", "name": "bench", "providermap": {"bench": {"flavor": "1cpu-512m"}}}),
        json!({"kind": "imagetype", "name": "bench",
            "providermap": {"bench": {"image": "debian-12", "sshuser": "root"}}}),
        json!({"kind": "clustertemplate", "name": template_name(tasks_per_node),
            "defaults": {"services": names, "provider": "bench", "hardwaretype": "bench", "imagetype": "bench"},
            "compatibility": {"hardwaretypes": ["bench"], "imagetypes": ["bench"], "services": names},
            "constraints": {"layout": {"mustcoexist": together, "cantcoexist": []}},
            // Nobody is to look after machines that are not there.
            "administration": {"health": {"heal": "off"}}}),
    ];
    documents.extend(services);
    documents.into()
}

/// Services with so many actions in all: four for each, and the last one what is left.
fn services(tasks: u32) -> Vec<Value> {
    let sizes = (0..tasks.div_ceil(4)).map(|number| (number, (tasks - number * 4).min(4) as usize));
    let service = |(number, actions): (u32, usize)| {
        let action = |name: &&str| {
            let action = json!({"type": "shell", "fields": {"script": "bench.sh", "args": name}});
            ((*name).to_owned(), action)
        };
        let actions: Map<String, Value> = ACTIONS[..actions].iter().map(action).collect();
        let name = format!("tasks-{tasks}-{number}");
        json!({"kind": "service", "name": name, "provisioner": {"actions": actions},
            "dependencies": {"provides": [], "conflicts": []}})
    };
    sizes.map(service).collect()
}
