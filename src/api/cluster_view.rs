//! Clusters and nodes as JSON, in Coopr's shapes and with what we know beyond them.

use std::collections::BTreeSet;

use cooperage_domain::cluster::{
    Account, Cluster, ClusterStatus, Maintenance, Node, NodeStatus, Progress, Taken, outputs, view,
};
use cooperage_domain::entity::{ClusterTemplate, Link, PriceList, Provider, Service};
use cooperage_domain::id::{ClusterId, JobId, NodeId};
use cooperage_domain::macros::{ClusterView, expand_link};
use cooperage_domain::node_action::NodeAction;
use cooperage_domain::task::NodeProperties;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::care::notes;
use super::secret_fields::SecretFields;

/// Everything about one cluster. It is written straight into the answer: a tree of values in between takes longer than all else
/// where there are many nodes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterDetails<'a> {
    id: ClusterId,
    name: &'a str,
    description: &'a str,
    account: &'a Account,
    create_time: i64,
    expire_time: i64,
    expiry_warning_time: Option<i64>,
    provider: Provider,
    cluster_template: &'a ClusterTemplate,
    nodes: Vec<NodeDetails<'a>>,
    services: &'a BTreeSet<String>,
    latest_job_id: Option<JobId>,
    status: ClusterStatus,
    config: &'a Map<String, Value>,
    links: Vec<Link>,
    progress: Option<Progress>,
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_per_hour: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maintenance: Option<&'a Maintenance>,
    /// Whom it is built upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<ClusterId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    foundation: Option<ClusterId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_ancestors: Option<Vec<Taken>>,
    #[serde(flatten)]
    lease_left: Option<LeaseLeft>,
}

impl<'a> ClusterDetails<'a> {
    /// Of a cluster at this time, in milliseconds since 1970, without its provider's secrets, at its tenant's prices.
    pub fn of(cluster: &'a Cluster, secrets: &SecretFields, prices: &PriceList, now: i64) -> Self {
        let macros = view(cluster);
        let nodes = cluster.nodes_by_number().into_iter();
        let job = cluster.latest_job();
        let origins = &cluster.kin.origins;
        Self {
            id: cluster.id,
            name: &cluster.name,
            description: &cluster.description,
            account: &cluster.account,
            create_time: cluster.created,
            expire_time: cluster.expires,
            expiry_warning_time: cluster.warning_at(),
            provider: secrets.hidden(cluster.provider.clone()),
            cluster_template: &cluster.template,
            nodes: nodes.map(|node| NodeDetails::within(cluster, node, &macros)).collect(),
            services: &cluster.services,
            latest_job_id: job.map(|job| job.id),
            status: cluster.status,
            config: &cluster.config,
            links: cluster.template.links.iter().map(|link| expand_link(link, &macros, None)).collect(),
            progress: cluster.progress(),
            revision: cluster.sequence,
            price_per_hour: price(
                prices,
                cluster.machines(),
                &cluster.provider.base.name,
                cluster.status.as_str(),
            ),
            message: job.and_then(|job| job.message.as_deref()),
            maintenance: cluster.care.maintenance.as_ref(),
            parent: origins.parent.as_ref().map(|origin| origin.from),
            foundation: origins.foundation.as_ref().map(|origin| origin.from),
            from_ancestors: (!origins.is_empty()).then(|| cluster.taken()),
            lease_left: LeaseLeft::of(cluster.expires, cluster.warning_at(), cluster.status.as_str(), now),
        }
    }
}

/// How long a lease still lasts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LeaseLeft {
    /// In ms.
    expires_in: i64,
    /// Whether that is soon.
    expiring: bool,
}

impl LeaseLeft {
    /// `None` where a lease does not end, or its end changes nothing any more.
    fn of(expires: i64, warned_from: Option<i64>, status: &str, now: i64) -> Option<Self> {
        (expires != 0 && status != ClusterStatus::Terminated.as_str()).then(|| Self {
            expires_in: expires.saturating_sub(now).max(0),
            expiring: warned_from.is_some_and(|from| from <= now),
        })
    }
}

/// What a cluster costs; nothing any more once it is terminated.
fn price<'a>(
    prices: &PriceList,
    machines: impl IntoIterator<Item = (&'a str, usize)>,
    provider: &str,
    status: &str,
) -> Option<f64> {
    if status == ClusterStatus::Terminated.as_str() {
        return None;
    }
    prices.of_all(machines, provider)
}

/// Adds to the summary of a cluster what it costs, where that is known.
pub fn add_price(summary: &mut Value, prices: &PriceList) {
    let (Some(status), Some(provider)) = (summary["status"].as_str(), summary["provider"]["name"].as_str())
    else {
        return;
    };
    let Some(machines) = summary["machines"].as_object() else { return };
    let counted = machines.iter().map(|(hardware, count)| {
        let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
        (hardware.as_str(), count.unwrap_or(0))
    });
    if let Some(price) = price(prices, counted, provider, status) {
        summary["pricePerHour"] = price.into();
    }
}

/// Adds to the summary of a cluster how long its lease still lasts.
pub fn add_lease_left(summary: &mut Value, now: i64) {
    let (Some(expires), Some(status)) = (summary["expireTime"].as_i64(), summary["status"].as_str()) else {
        return;
    };
    if let Some(left) = LeaseLeft::of(expires, summary["expiryWarningTime"].as_i64(), status, now) {
        summary["expiresIn"] = left.expires_in.into();
        summary["expiring"] = left.expiring.into();
    }
}

/// Everything about one node.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeDetails<'a> {
    id: &'a NodeId,
    cluster_id: ClusterId,
    services: Vec<&'a Service>,
    properties: &'a NodeProperties,
    status: NodeStatus,
    actions: Vec<NodeAction>,
    provisioner_results: Map<String, Value>,
    links: Vec<Link>,
    /// Only what is not as it should be.
    #[serde(flatten)]
    notes: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    config: &'a Map<String, Value>,
}

impl<'a> NodeDetails<'a> {
    /// Of a node of a cluster.
    pub fn of(cluster: &'a Cluster, node: &'a Node) -> Self {
        Self::within(cluster, node, &view(cluster))
    }

    fn within(cluster: &'a Cluster, node: &'a Node, macros: &ClusterView<'_>) -> Self {
        let names = node.properties.services.iter();
        let services: Vec<&Service> = names.filter_map(|name| cluster.definitions.get(name)).collect();
        let links = services.iter().flat_map(|service| &service.links);
        let links = links.map(|link| expand_link(link, macros, Some(&node.id))).collect();
        Self {
            id: &node.id,
            cluster_id: cluster.id,
            services,
            properties: &node.properties,
            status: cluster.node_status(node),
            actions: cluster.node_actions(&node.id),
            provisioner_results: public_results(&node.results),
            links,
            notes: notes(cluster, &node.id),
            config: &node.config,
        }
    }
}

/// What earlier tasks reported, without the passwords that some providers put there, and with masks for secret outputs.
fn public_results(results: &Map<String, Value>) -> Map<String, Value> {
    let mut results = results.clone();
    if let Some(Value::Object(auth)) = results.get_mut("ssh-auth") {
        auth.retain(|key, _| !key.contains("password"));
    }
    results.values_mut().for_each(outputs::mask_tokens);
    results
}

/// How far the latest job is.
pub fn status(cluster: &Cluster) -> Value {
    let progress = cluster.progress();
    json!({
        "clusterid": cluster.id,
        "stepstotal": progress.as_ref().map_or(0, |p| p.total),
        "stepscompleted": progress.as_ref().map_or(0, |p| p.done),
        "status": cluster.status,
        "actionstatus": progress.as_ref().map(|p| p.status),
        "action": progress.as_ref().map(|p| p.action),
    })
}
