//! Plans that were saved: a change as it was shown, to be carried out exactly so, or not at all.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::{Tell, TellAt, event};
use cooperage_domain::cluster::{Cluster, Command, Event, PlanPreview, decide, words};
use cooperage_domain::id::ClusterId;
use cooperage_schema::{Proposal, ProposalKind, StoreError};
use serde_json::{Value, json};

use super::asked::Purpose;
use super::identity::Identity;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use super::within_quota::reserve_for;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;
type At = web::Path<(String, String)>;

/// How many events that came in between are told.
const TOLD: u32 = 5;

/// Routes of saved plans. One is made by asking for a change with `?dryRun=true&save=true`.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/saved-plans", |on| on.get(list));
    routes.at("/v2/clusters/{id}/saved-plans/{plan}", |on| on.get(get).delete(delete));
    routes.at("/v2/clusters/{id}/saved-plans/{plan}/apply", |on| on.post(apply));
}

/// Saves a plan; its number.
///
/// # Errors
/// When it cannot be stored.
pub async fn save(
    state: &Arc<AppState>,
    identity: &Identity,
    cluster: &Cluster,
    command: &Command,
    events: &[Event],
    preview: &PlanPreview,
) -> Result<u64, Problem> {
    let now = state.clock.now();
    let text = |value: Value| value.to_string();
    let plan = Proposal {
        cluster: cluster.id,
        tenant: None,
        number: 0,
        kind: ProposalKind::Plan,
        title: preview.action.clone().unwrap_or_default(),
        base: cluster.sequence,
        document: text(json!(command)),
        decided: Some(text(timeless(events))),
        preview: Some(text(json!(preview))),
        edition: 0,
        created_ms: now,
        created_by: identity.user.clone(),
        changed_ms: now,
        changed_by: identity.user.clone(),
        done: None,
    };
    state.blocking(move |state| Ok(state.store.add_proposal(plan)?)).await
}

/// Events without when they are decided, and by whom: what is left is what they do.
fn timeless(events: &[Event]) -> Value {
    // Plain data with text keys always becomes JSON.
    let mut all = serde_json::to_value(events).unwrap_or_default();
    for event in all.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        event.retain(|key, _| key != "at" && key != "by");
    }
    all
}

/// What is kept of a plan or a draft, as JSON.
pub fn told(proposal: &Proposal) -> Value {
    let done = proposal.done.as_ref();
    json!({
        "id": proposal.number,
        "clusterId": proposal.cluster,
        "title": proposal.title,
        "sequence": proposal.base,
        "createTime": proposal.created_ms,
        "createdBy": proposal.created_by,
        "doneTime": done.map(|(at, _)| at),
        "doneBy": done.map(|(_, by)| by),
    })
}

fn told_with_preview(proposal: &Proposal) -> Value {
    let mut told = told(proposal);
    let preview = proposal.preview.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    told["preview"] = preview.unwrap_or_default();
    told
}

async fn list(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let id = state.cluster(&identity, &id).await?.id;
    let plans = state.blocking(move |state| Ok(state.store.proposals(id, ProposalKind::Plan)?)).await?;
    Ok(HttpResponse::Ok().json(plans.iter().map(told).collect::<Vec<_>>()))
}

/// A plan or draft of a cluster that the caller may see.
///
/// # Errors
/// 404.
pub async fn find(
    state: &Arc<AppState>,
    identity: &Identity,
    (id, number): (&str, &str),
    kind: ProposalKind,
) -> Result<(Arc<Cluster>, Proposal), Problem> {
    let cluster = state.cluster(identity, id).await?;
    let missing = || {
        let name = format!("{number} of cluster {}", cluster.id);
        Problem::not_found(kind.as_str(), name).with_remedy("list those that there are, and check the number")
    };
    let (of, wanted) = (cluster.id, number.parse::<u64>().map_err(|_| missing())?);
    if i64::try_from(wanted).is_err() {
        return Err(missing());
    }
    let found = state.blocking(move |state| Ok(state.store.proposal(of, wanted)?)).await?;
    let found = found.filter(|found| found.kind == kind).ok_or_else(missing)?;
    Ok((cluster, found))
}

async fn get(state: State, identity: Identity, at: At) -> Answer {
    let (_, plan) = find(&state, &identity, (&at.0, &at.1), ProposalKind::Plan).await?;
    Ok(HttpResponse::Ok().json(told_with_preview(&plan)))
}

async fn delete(state: State, identity: Identity, at: At) -> Answer {
    let (cluster, plan) = find(&state, &identity, (&at.0, &at.1), ProposalKind::Plan).await?;
    let id = cluster.id;
    state.blocking(move |state| Ok(state.store.delete_proposal(id, plan.number)?)).await?;
    Ok(HttpResponse::Ok().finish())
}

/// `POST …/apply`: does exactly what was shown.
async fn apply(state: State, identity: Identity, at: At) -> Answer {
    let (cluster, plan) = find(&state, &identity, (&at.0, &at.1), ProposalKind::Plan).await?;
    refuse_done(&plan)?;
    if cluster.sequence != plan.base {
        return Err(moved_on(&state, &cluster, &plan).await?);
    }
    let command: Command = serde_json::from_str(&plan.document).map_err(Problem::internal)?;
    let events = decide(&cluster, command.clone(), state.clock.now())?;
    let saved: Value =
        plan.decided.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    if timeless(&events) != saved {
        let detail = format!(
            "plan {} would not do what it showed: this release decides otherwise than the one that made it",
            plan.number
        );
        return Err(Problem::new(StatusCode::CONFLICT, detail).with_remedy(ANEW));
    }
    let made = carry_out(&state, &identity, &cluster, &plan, command).await?;
    Ok(HttpResponse::Ok().json(json!({ "id": plan.number, "clusterId": made.id, "sequence": made.sequence,
        "latestJobId": made.latest_job().map(|job| job.id) })))
}

/// What to do with a plan that cannot be carried out any more.
const ANEW: &str = "plan anew: ask for the change with ?dryRun=true&save=true (--plan --save FILE)";

/// Refuses what was carried out.
///
/// # Errors
/// 409.
pub fn refuse_done(proposal: &Proposal) -> Result<(), Problem> {
    let Some((_, by)) = proposal.done.clone() else { return Ok(()) };
    let name = format!("{} of cluster {}", proposal.number, proposal.cluster);
    Err(StoreError::Done { what: proposal.kind.as_str(), name, by }.into())
}

/// Tells the cluster, in the state it was looked at, what a plan or draft comes to, which is marked as done before: of
/// several callers one succeeds, and a crash in between leaves it done rather than to be done twice.
///
/// # Errors
/// When somebody else was faster, or the cluster refuses.
pub async fn carry_out(
    state: &Arc<AppState>,
    identity: &Identity,
    cluster: &Arc<Cluster>,
    proposal: &Proposal,
    command: Command,
) -> Result<Arc<Cluster>, Problem> {
    let (present, asked) = (Arc::clone(cluster), command.clone());
    // Held until the cluster counts its new nodes itself.
    let _reserved = state.blocking(move |state| reserve_for(state, &present, &asked, Purpose::Make)).await?;
    let (taken, by, now) = (proposal.clone(), identity.user.clone(), state.clock.now());
    state.blocking(move |state| Ok(state.store.take_proposal(&taken, now, &by)?)).await?;
    let tell = Tell { id: cluster.id, command, who: identity.user.clone() };
    let message = TellAt { tell, sequences: vec![cluster.sequence] };
    let told = match state.registry.send(message).await {
        Ok(told) => told.map_err(Problem::from),
        Err(fault) => Err(Problem::unavailable(fault)),
    };
    if told.is_err() {
        let (id, number) = (proposal.cluster, proposal.number);
        state.blocking(move |state| Ok(state.store.release_proposal(id, number)?)).await?;
    }
    told
}

/// That a cluster is in another state than a plan was made on, and what has happened to it since.
async fn moved_on(
    state: &Arc<AppState>,
    cluster: &Arc<Cluster>,
    plan: &Proposal,
) -> Result<Problem, Problem> {
    let (id, base, now) = (cluster.id, plan.base, cluster.sequence);
    let known = Arc::clone(cluster);
    let happened = state.blocking(move |state| since(state, id, base, &known)).await?;
    let count = now.saturating_sub(base);
    let detail = format!(
        "plan {} was made on state {base} of cluster {id}, which is in state {now}: {count} events came in between, the first \
         of them: {}",
        plan.number,
        happened.join("; ")
    );
    let mut problem = Problem::new(StatusCode::CONFLICT, detail).with_remedy(ANEW);
    problem.more.insert("meanwhile".to_owned(), json!(happened));
    Ok(problem)
}

/// The first events behind a state, in words.
fn since(state: &AppState, id: ClusterId, base: u64, known: &Cluster) -> Result<Vec<String>, Problem> {
    let stored = state.store.events(id, base + 1, TOLD)?;
    stored.iter().map(|stored| Ok(words(&event(id, stored)?, known))).collect()
}
