//! Drafts of clusters that do not exist yet: thought up, looked at and worked on by several people, and created by one of
//! them. A draft has the number that its cluster will have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::cluster::{ClusterRequest, Origins, PlanPreview, RequestFault};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{Proposal, ProposalKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::ancestry::Ancestry;
use super::audit::about;
use super::body;
use super::drafts::check_title;
use super::edge::{IfMatch, StateTag};
use super::founding::{asking, found, fresh_number};
use super::identity::Identity;
use super::preview;
use super::problem::Problem;
use super::routes::Routes;
use super::saved_plans::refuse_done;
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;
type Id = web::Path<String>;

/// Its number among the proposals of its cluster: there is none before it.
const NUMBER: u64 = 1;

/// Routes of drafts of new clusters.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/drafts", |on| on.get(list).post(create));
    routes.at("/v2/drafts/{id}", |on| on.get(get).put(edit).delete(delete));
    routes.at("/v2/drafts/{id}/commit", |on| on.post(commit));
}

/// What is kept: a title, and what a create would carry.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Drafted {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    title: String,
    #[serde(flatten)]
    request: Map<String, Value>,
}

impl Drafted {
    fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let drafted: Self = body::parse(bytes)?;
        check_title(&drafted.title)?;
        drafted.request()?;
        Ok(drafted)
    }

    fn of(draft: &Proposal) -> Result<Self, Problem> {
        serde_json::from_str(&draft.document).map_err(Problem::internal)
    }

    fn request(&self) -> Result<ClusterRequest, Problem> {
        body::from_value(Value::Object(self.request.clone()))
    }
}

/// What would be created now, or why it cannot be.
type Outlook = Result<PlanPreview, Problem>;

/// What a draft would create. What is missing for now is no reason not to keep it; what has a fault is, and so is a secret.
/// Waits for the database.
fn outlook(
    state: &AppState,
    identity: &Identity,
    request: &ClusterRequest,
    origins: Origins,
) -> Result<Outlook, Problem> {
    request.check(state.settings.limits.max_cluster_size)?;
    let asking = asking(state, identity, state.clock.now(), origins.clone());
    match request.accept(&state.catalog(&identity.tenant)?, asking) {
        Ok(accepted) if !accepted.secrets.given.is_empty() => {
            let secrets: Vec<&str> = accepted.secrets.given.keys().map(String::as_str).collect();
            let detail = format!("providerFields: secrets are not kept with drafts: {}", secrets.join(", "));
            Err(Problem::new(StatusCode::BAD_REQUEST, detail)
                .at("providerFields", "")
                .with_remedy("leave them out, and give them when the draft is committed"))
        }
        Ok(_) => Ok(preview::of_create(state, identity, request, origins)),
        Err(fault @ RequestFault::MissingFields(_)) => Ok(Err(fault.into())),
        Err(fault) => Err(fault.into()),
    }
}

/// What those publish that a cluster would be built upon.
async fn origins(
    state: &Arc<AppState>,
    identity: &Identity,
    request: &ClusterRequest,
) -> Result<Origins, Problem> {
    Ok(Ancestry::find(state, identity, request.parent.as_ref()).await?.origins())
}

fn told(draft: &Proposal) -> Value {
    let done = draft.done.as_ref();
    let mut request: Value = serde_json::from_str(&draft.document).unwrap_or_default();
    request.as_object_mut().map(|request| request.remove("title"));
    json!({
        "id": draft.cluster,
        "title": draft.title,
        "edition": draft.edition,
        "request": request,
        "createTime": draft.created_ms,
        "createdBy": draft.created_by,
        "changeTime": draft.changed_ms,
        "changedBy": draft.changed_by,
        "doneTime": done.map(|(at, _)| at),
        "doneBy": done.map(|(_, by)| by),
    })
}

fn shown(draft: &Proposal, outlook: &Outlook) -> Value {
    let mut shown = told(draft);
    match outlook {
        Ok(preview) => shown["preview"] = json!(preview),
        Err(refusal) => shown["refusal"] = json!(refusal.detail),
    }
    shown
}

fn tagged(draft: &Proposal, shown: &Value) -> HttpResponse {
    let mut answer = HttpResponse::Ok();
    StateTag(draft.edition.to_string()).on(&mut answer);
    answer.json(shown)
}

/// A draft that the caller may see.
async fn find(state: &Arc<AppState>, identity: &Identity, id: &str) -> Result<Proposal, Problem> {
    let cluster: ClusterId = id.parse()?;
    let found = state.blocking(move |state| Ok(state.store.proposal(cluster, NUMBER)?)).await?;
    let visible = |draft: &Proposal| {
        draft.kind == ProposalKind::NewCluster
            && draft.tenant.as_ref() == Some(&identity.tenant)
            && identity.sees(&draft.created_by)
    };
    found.filter(visible).ok_or_else(|| {
        Problem::not_found("draft of a cluster", id).with_remedy("list those that there are: GET /v2/drafts")
    })
}

async fn list(state: State, identity: Identity) -> Answer {
    let tenant = identity.tenant.clone();
    let drafts = state.blocking(move |state| Ok(state.store.drafted_clusters(&tenant)?)).await?;
    let visible = drafts.iter().filter(|draft| identity.sees(&draft.created_by));
    Ok(HttpResponse::Ok().json(visible.map(told).collect::<Vec<_>>()))
}

/// `POST /v2/drafts`: keeps what is to be created, and shows it.
async fn create(state: State, identity: Identity, body: web::Bytes) -> Answer {
    let drafted = Drafted::read(&body)?;
    let request = drafted.request()?;
    let origins = origins(&state, &identity, &request).await?;
    let (draft, outlook) = state
        .blocking(move |state| {
            let outlook = outlook(state, &identity, &request, origins)?;
            let (now, by) = (state.clock.now(), identity.user.clone());
            let draft = Proposal {
                cluster: fresh_number(state)?,
                tenant: Some(identity.tenant),
                number: NUMBER,
                kind: ProposalKind::NewCluster,
                title: drafted.title.clone(),
                base: 0,
                document: json!(drafted).to_string(),
                decided: None,
                preview: None,
                edition: 1,
                created_ms: now,
                created_by: by.clone(),
                changed_ms: now,
                changed_by: by,
                done: None,
            };
            state.store.add_proposal(draft.clone())?;
            Ok((draft, outlook))
        })
        .await?;
    let place = format!("/v2/drafts/{}", draft.cluster);
    Ok(about(tagged(&draft, &shown(&draft, &outlook)), place))
}

async fn get(state: State, identity: Identity, id: Id) -> Answer {
    let draft = find(&state, &identity, &id).await?;
    if draft.done.is_some() {
        return Ok(tagged(&draft, &told(&draft)));
    }
    let request = Drafted::of(&draft)?.request()?;
    // Whatever is the matter with it is told, and does not keep anybody from looking at it.
    let outlook = match origins(&state, &identity, &request).await {
        Ok(origins) => {
            let look =
                move |state: &AppState| Ok(outlook(state, &identity, &request, origins).unwrap_or_else(Err));
            state.blocking(look).await?
        }
        Err(refusal) => Err(refusal),
    };
    Ok(tagged(&draft, &shown(&draft, &outlook)))
}

/// `PUT /v2/drafts/{id}`: puts another cluster in its place.
async fn edit(state: State, identity: Identity, id: Id, on: IfMatch, body: web::Bytes) -> Answer {
    let drafted = Drafted::read(&body)?;
    let draft = find(&state, &identity, &id).await?;
    refuse_done(&draft)?;
    let changed = Proposal {
        title: drafted.title.clone(),
        document: json!(drafted).to_string(),
        changed_ms: state.clock.now(),
        changed_by: identity.user.clone(),
        edition: draft.edition,
        ..draft
    };
    let (new, IfMatch(expected), request) = (changed.clone(), on, drafted.request()?);
    let origins = origins(&state, &identity, &request).await?;
    let outlook = state
        .blocking(move |state| {
            let outlook = outlook(state, &identity, &request, origins)?;
            state.store.change_proposal(new, expected)?;
            Ok(outlook)
        })
        .await?;
    let changed = Proposal { edition: changed.edition + 1, ..changed };
    Ok(tagged(&changed, &shown(&changed, &outlook)))
}

async fn delete(state: State, identity: Identity, id: Id) -> Answer {
    let draft = find(&state, &identity, &id).await?;
    state.blocking(move |state| Ok(state.store.delete_proposal(draft.cluster, NUMBER)?)).await?;
    Ok(HttpResponse::Ok().finish())
}

/// What is added when a draft is committed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Given {
    /// Values for the provider, over those in the draft.
    #[serde(deserialize_with = "cooperage_domain::lenient::null_as_default")]
    provider_fields: Map<String, Value>,
}

/// `POST /v2/drafts/{id}/commit`: creates the cluster, for whoever commits it.
async fn commit(state: State, identity: Identity, id: Id, on: IfMatch, body: web::Bytes) -> Answer {
    let given: Given = body::parse_optional(&body)?;
    let draft = find(&state, &identity, &id).await?;
    refuse_done(&draft)?;
    if !on.0.is_met_by(Some(&draft.edition.to_string())) {
        let detail = format!("the draft of cluster {} was edited meanwhile", draft.cluster);
        return Err(Problem::new(StatusCode::PRECONDITION_FAILED, detail)
            .with_remedy("get it again, and look at what it does now"));
    }
    let mut request = Drafted::of(&draft)?.request()?;
    request.provider_fields.extend(given.provider_fields);
    request.check(state.settings.limits.max_cluster_size)?;
    let ancestry = Ancestry::find(&state, &identity, request.parent.as_ref()).await?;
    let (taken, by, cluster) = (draft.clone(), identity.user.clone(), draft.cluster);
    let is_mine = Arc::new(AtomicBool::new(false));
    let mine = Arc::clone(&is_mine);
    // The last thing before it is created, so that a request with a fault leaves the draft as it is.
    let number = move |state: &AppState| {
        state.store.take_proposal(&taken, state.clock.now(), &by)?;
        mine.store(true, Ordering::Relaxed);
        Ok(cluster)
    };
    let made = found(&state, &identity, (request, ancestry), number, true).await;
    // Of several who commit at once only the one who was first may take it back.
    if made.is_err() && is_mine.load(Ordering::Relaxed) {
        state.blocking(move |state| give_back(state, cluster)).await?;
    }
    let made = made?;
    Ok(about(made.told(), format!("/v2/clusters/{}", made.id)))
}

/// Takes the note back that a draft was committed, unless its cluster is there all the same.
fn give_back(state: &AppState, cluster: ClusterId) -> Result<(), Problem> {
    match state.store.cluster(cluster)? {
        Some(_) => Ok(()),
        None => Ok(state.store.release_proposal(cluster, NUMBER)?),
    }
}
