//! Which cluster is meant by what somebody typed.

use cooperage_domain::cluster::ClusterStatus;
use cooperage_domain::id::ClusterId;
use serde_json::Value;

use super::logs::unknown_node;
use super::shapes::{Details, Summary};
use crate::cli::client::{Client, understood};
use crate::cli::failure::Failure;

/// The id of the cluster with this id, or with this name if just one that is not terminated has it.
///
/// # Errors
/// When there is none, or more than one.
pub async fn id_of(client: &Client, text: &str) -> Result<String, Failure> {
    // An id is looked up by itself: a server may have more clusters than anybody wants to list.
    if let Ok(id) = text.parse::<ClusterId>() {
        match client.get::<Value>(&format!("/v2/clusters/{id}/status")).await {
            Ok(_) => return Ok(id.to_string()),
            Err(fault) if fault.status() == Some(404) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    let all: Vec<Summary> = client.get("/v2/clusters").await?;
    choose(&all, text)
}

fn choose(all: &[Summary], text: &str) -> Result<String, Failure> {
    if let Ok(id) = text.parse::<ClusterId>() {
        let id = id.to_string();
        if all.iter().any(|cluster| cluster.id == id) {
            return Ok(id);
        }
    }
    let (gone, live): (Vec<&Summary>, Vec<&Summary>) = all
        .iter()
        .filter(|cluster| cluster.name == text)
        .partition(|cluster| cluster.status == ClusterStatus::Terminated);
    let ids = |clusters: &[&Summary]| clusters.iter().map(|c| c.id.as_str()).collect::<Vec<_>>().join(", ");
    match (live.as_slice(), gone.as_slice()) {
        ([one], _) => Ok(one.id.clone()),
        ([], []) => Err(Failure::unknown(
            format!("there is no cluster {text:?}"),
            "use an id or a name that `cooperage cluster list` shows",
        )),
        ([], gone) => Err(Failure::refused(
            format!("cluster {text:?} is terminated"),
            format!("name it by its id to look at it: {}", ids(gone)),
        )),
        (several, _) => Err(Failure::refused(
            format!("{} clusters are called {text:?}", several.len()),
            format!("use an id: {}", ids(several)),
        )),
    }
}

/// Everything about the cluster that is meant: as the server wrote it, and as we read it.
///
/// # Errors
/// When there is none, or more than one.
pub async fn details(client: &Client, text: &str) -> Result<(Value, Details), Failure> {
    let path = format!("/v2/clusters/{}", id_of(client, text).await?);
    let raw: Value = client.get(&path).await?;
    let details = understood(&path, &raw)?;
    Ok((raw, details))
}

/// Ids of the cluster and the node of it that are meant; a node by its number, host name or id.
///
/// # Errors
/// When there is none, or more than one.
pub async fn node_of(client: &Client, cluster: &str, node: &str) -> Result<(String, String), Failure> {
    let (_, details) = details(client, cluster).await?;
    let found = details.node(node).ok_or_else(|| unknown_node(&details, node))?;
    Ok((details.id.clone(), found.id.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn summary(id: &str, name: &str, status: &str) -> Summary {
        serde_json::from_value(
            json!({"id": id, "name": name, "createTime": 0, "status": status, "clusterTemplate": {"name": "web"}}),
        )
        .unwrap()
    }

    #[test]
    fn a_cluster_is_found_by_id_or_by_a_name_only_it_has() {
        let all = [
            summary("00000001", "shop", "terminated"),
            summary("00000002", "shop", "active"),
            summary("00000003", "twin", "active"),
            summary("00000004", "twin", "pending"),
            summary("00000005", "old", "terminated"),
            summary("00000006", "42", "active"),
        ];
        for (text, id) in
            [("2", "00000002"), ("00000001", "00000001"), ("shop", "00000002"), ("42", "00000006")]
        {
            assert_eq!(choose(&all, text).unwrap(), id, "{text}");
        }
        let fault = |text| {
            let failure = choose(&all, text).unwrap_err();
            format!("{failure}; {}", failure.remedy().unwrap())
        };
        assert!(fault("twin").contains("00000003, 00000004"));
        assert!(fault("old").contains("00000005"));
        assert!(fault("none").contains("cluster list"));
        assert!(fault("99").contains("\"99\""));
    }
}
