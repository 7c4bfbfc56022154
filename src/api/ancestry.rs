//! Clusters on clusters: what a new one is built upon, who is built upon one, and the foundation of a tenant.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, WARNING};
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::Tell;
use cooperage_domain::cluster::{Cluster, ClusterStatus, Command, Origins};
use cooperage_domain::id::ClusterId;
use cooperage_schema::ClusterFilter;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body;
use super::cluster_view::add_lease_left;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;

/// Routes of clusters on clusters.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/children", |on| on.get(children));
    routes.at("/v2/foundation", |on| on.get(foundation).put(name_foundation));
}

/// The clusters that a new one is built upon.
#[derive(Debug, Clone, Default)]
pub struct Ancestry {
    parent: Option<Arc<Cluster>>,
    foundation: Option<Arc<Cluster>>,
}

impl Ancestry {
    /// The parent that is named by id or by name, and the tenant's foundation.
    ///
    /// # Errors
    /// 404 for a parent that the caller does not see, 400 for a name that several have.
    pub async fn find(
        state: &Arc<AppState>,
        identity: &Identity,
        parent: Option<&String>,
    ) -> Result<Self, Problem> {
        let parent = match parent.map(|text| text.trim()).filter(|text| !text.is_empty()) {
            Some(text) => Some(named(state, identity, text).await?),
            None => None,
        };
        Ok(Self { parent, foundation: foundation_of(state, &identity.tenant).await? })
    }

    /// What they publish now.
    #[must_use]
    pub fn origins(&self) -> Origins {
        Origins::of(self.parent.as_deref(), self.foundation.as_deref())
    }

    /// What is to be said of a child whose lease ends then.
    #[must_use]
    pub fn warning(&self, expires: i64) -> Option<String> {
        outlived(self.parent.as_deref()?, expires)
    }
}

/// The cluster of this id or name, as far as the caller sees it.
async fn named(state: &Arc<AppState>, identity: &Identity, text: &str) -> Result<Arc<Cluster>, Problem> {
    if text.parse::<ClusterId>().is_ok() {
        return state.cluster(identity, text).await.map_err(|fault| fault.at("parent", text));
    }
    let filter = ClusterFilter {
        tenant: Some(identity.tenant.clone()),
        owner: identity.owner_seen(),
        name: Some(text.to_owned()),
        ..ClusterFilter::default()
    };
    let mut rows = state.blocking(move |state| Ok(state.store.clusters(&filter)?)).await?;
    rows.retain(|row| row.status != ClusterStatus::Terminated.as_str());
    match rows.as_slice() {
        [] => Err(Problem::not_found("cluster", text)
            .at("parent", text)
            .with_remedy("name one of the clusters that you see, by id or name")),
        [only] => state.cluster(identity, &only.id.to_string()).await,
        several => {
            let ids: Vec<String> = several.iter().map(|row| row.id.to_string()).collect();
            let detail = format!("invalid input: parent: {} clusters are called {text:?}", several.len());
            Err(Problem::new(StatusCode::BAD_REQUEST, detail)
                .at("parent", text)
                .with_remedy(format!("name it by id: {}", ids.join(", "))))
        }
    }
}

/// The foundation of a tenant, unless it is gone.
async fn foundation_of(state: &Arc<AppState>, tenant: &str) -> Result<Option<Arc<Cluster>>, Problem> {
    let tenant = tenant.to_owned();
    let Some(id) = state.blocking(move |state| Ok(state.store.foundation(&tenant)?)).await? else {
        return Ok(None);
    };
    let found = state.known(id).await?;
    Ok(found.filter(|cluster| cluster.status != ClusterStatus::Terminated))
}

/// What is to be said when a cluster's lease ends behind its parent's.
fn outlived(parent: &Cluster, expires: i64) -> Option<String> {
    let (id, name, ends) = (parent.id, &parent.name, parent.expires);
    let outlives = ends != 0 && (expires == 0 || expires > ends);
    outlives.then(|| {
        format!(
            "the lease of the parent {name} ({id}) ends at {ends}, before that of this cluster; the parent stays until this \
             cluster is gone"
        )
    })
}

/// The same of a cluster that is there, with another end of its lease.
///
/// # Errors
/// When the parent cannot be read.
pub async fn warning_of(
    state: &Arc<AppState>,
    child: &Cluster,
    expires: i64,
) -> Result<Option<String>, Problem> {
    let Some(id) = child.parent() else { return Ok(None) };
    Ok(state.known(id).await?.and_then(|parent| outlived(&parent, expires)))
}

/// Puts a warning on an answer.
pub fn warn(answer: &mut HttpResponse, warning: &str) {
    // Names of clusters are letters, digits, '_', '.' and '-'.
    if let Ok(value) = HeaderValue::from_str(&format!("299 cooperage \"{warning}\"")) {
        answer.headers_mut().insert(WARNING, value);
    }
}

/// Makes a new cluster known to those it is built upon, which stay from now on as long as it does.
///
/// # Errors
/// When one of them cannot be built upon; then it is known to none.
pub async fn adopt(state: &Arc<AppState>, new: &Cluster, who: &str) -> Result<(), Problem> {
    for origin in new.kin.origins.iter().map(|origin| origin.from) {
        let needs = new.needs_of(origin);
        let command = Command::Adopt { child: new.id, name: new.name.clone(), needs };
        let told = state.registry.send(Tell { id: origin, command, who: who.to_owned() }).await;
        if let Err(fault) = told.map_err(Problem::unavailable)? {
            release(state, new, who).await;
            return Err(fault.into());
        }
    }
    Ok(())
}

/// Takes that back: the cluster did not come into being.
pub async fn release(state: &Arc<AppState>, new: &Cluster, who: &str) {
    for origin in new.kin.origins.iter().map(|origin| origin.from) {
        let tell = Tell { id: origin, command: Command::Release { child: new.id }, who: who.to_owned() };
        // One that cannot be told finds out when it is to be deleted.
        drop(state.registry.send(tell).await);
    }
}

/// `GET /v2/clusters/{id}/children`: the clusters that are built upon it, as far as the caller sees them.
async fn children(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    let now = state.clock.now();
    let filter = ClusterFilter {
        tenant: Some(identity.tenant.clone()),
        owner: identity.owner_seen(),
        upon: Some(cluster.id),
        ..ClusterFilter::default()
    };
    let rows = state.blocking(move |state| Ok(state.store.clusters(&filter)?)).await?;
    let live = rows.iter().filter(|row| row.status != ClusterStatus::Terminated.as_str());
    let summaries: Result<Vec<Value>, _> = live.map(|row| serde_json::from_str(&row.summary)).collect();
    let mut summaries = summaries.map_err(Problem::internal)?;
    summaries.iter_mut().for_each(|summary| add_lease_left(summary, now));
    Ok(HttpResponse::Ok().json(summaries))
}

/// `GET /v2/foundation`: the cluster that all new ones of the tenant are built upon.
async fn foundation(state: State, identity: Identity) -> Answer {
    let found = foundation_of(&state, &identity.tenant).await?;
    Ok(HttpResponse::Ok().json(shown(found.as_deref())))
}

fn shown(foundation: Option<&Cluster>) -> Value {
    json!({
        "cluster": foundation.map(|cluster| cluster.id),
        "name": foundation.map(|cluster| &cluster.name),
        "status": foundation.map(|cluster| cluster.status),
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    cluster: Option<String>,
}

/// `PUT /v2/foundation`: names another one, or none.
async fn name_foundation(state: State, identity: Identity, body: web::Bytes) -> Answer {
    let Named { cluster } = body::parse(&body)?;
    let found = match cluster {
        Some(text) => Some(named(&state, &identity, &text).await?),
        None => None,
    };
    if let Some(cluster) = found.as_deref()
        && !matches!(cluster.status, ClusterStatus::Active | ClusterStatus::Pending)
    {
        let detail = format!("cluster {} is {}: it cannot be a foundation", cluster.id, cluster.status);
        return Err(Problem::new(StatusCode::CONFLICT, detail)
            .at("cluster", cluster.id.to_string())
            .with_remedy("name a cluster that is active"));
    }
    let (tenant, id) = (identity.tenant.clone(), found.as_deref().map(|cluster| cluster.id));
    state.blocking(move |state| Ok(state.store.set_foundation(&tenant, id)?)).await?;
    Ok(HttpResponse::Ok().json(shown(found.as_deref())))
}
