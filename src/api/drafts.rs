//! Drafts: changes that are thought up, looked at and worked on by several people, and made by one of them.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::read_at;
use cooperage_domain::cluster::{NoRebase, ServiceChange, rebase};
use cooperage_schema::{Proposal, ProposalKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::asked::{Asked, Purpose};
use super::audit::about;
use super::body;
use super::cluster_changes;
use super::cluster_life;
use super::edge::{IfMatch, StateTag};
use super::identity::Identity;
use super::preview::Decided;
use super::problem::Problem;
use super::routes::Routes;
use super::saved_plans::{carry_out, find, refuse_done, told};
use super::state::AppState;

type State = web::Data<AppState>;
type Answer = Result<HttpResponse, Problem>;
type At = web::Path<(String, String)>;

/// Longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// Routes of drafts.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/drafts", |on| on.get(list).post(create));
    routes.at("/v2/clusters/{id}/drafts/{draft}", |on| on.get(get).put(edit).delete(delete));
    routes.at("/v2/clusters/{id}/drafts/{draft}/commit", |on| on.post(commit));
}

/// What can be drafted: each is what a request of the same name would ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// Another configuration: `config`, `restart`.
    Configure,
    /// More services: `services`.
    AddServices,
    /// Start services: `service`, or all.
    StartServices,
    /// Stop services: `service`, or all.
    StopServices,
    /// Restart services: `service`, or all.
    RestartServices,
    /// Take over the newest template.
    SyncTemplate,
    /// Another end of the lease: `expireTime`.
    Prolong,
    /// Give all machines back.
    Delete,
    /// Go on with what stopped half-way.
    Retry,
    /// More machines, or fewer: as for `resize`.
    Resize,
    /// Fewer services: `services`.
    RemoveServices,
    /// Machines anew: `nodes`.
    Replace,
    /// Other values: `config` or `patch`.
    Reconfigure,
    /// Newer versions: `template`, `services`.
    Upgrade,
    /// What was wanted once: `to`.
    RollBack,
    /// Whatever is not as wanted.
    Converge,
}

/// What is to be done: an action with what its request would carry as a body.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Operation {
    operation: Action,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    title: String,
    #[serde(flatten)]
    body: Map<String, Value>,
}

impl Operation {
    fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let operation: Self = body::parse(bytes)?;
        check_title(&operation.title)?;
        Ok(operation)
    }

    fn brings_fields(&self) -> bool {
        self.body.get("providerFields").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty())
    }

    /// Asks for it, as a request of its own would.
    async fn ask(&self, state: &State, identity: &Identity, id: &str, asked: Asked) -> Answer {
        let bytes = web::Bytes::from(Value::Object(self.body.clone()).to_string());
        let (state, identity, path) = (state.clone(), identity.clone(), web::Path::from(id.to_owned()));
        let services = |change| {
            let service = self.body.get("service").and_then(Value::as_str).map(str::to_owned);
            let (state, identity, bytes) = (state.clone(), identity.clone(), bytes.clone());
            cluster_changes::change_services(
                change,
                state,
                identity,
                id.to_owned(),
                service,
                (asked.clone(), bytes),
            )
        };
        match self.operation {
            Action::Configure => cluster_changes::configure(state, identity, path, asked, bytes).await,
            Action::AddServices => cluster_changes::add_services(state, identity, path, asked, bytes).await,
            Action::StartServices => services(ServiceChange::Start).await,
            Action::StopServices => services(ServiceChange::Stop).await,
            Action::RestartServices => services(ServiceChange::Restart).await,
            Action::SyncTemplate => cluster_changes::sync_template(state, identity, path, asked).await,
            Action::Prolong => cluster_changes::prolong(state, identity, path, asked, bytes).await,
            Action::Delete => cluster_changes::delete_at_rest(state, identity, path, asked, bytes).await,
            Action::Resize => cluster_life::resize(state, identity, path, asked, bytes).await,
            Action::RemoveServices => {
                cluster_life::remove_services(state, identity, path, asked, bytes).await
            }
            Action::Replace => cluster_life::replace(state, identity, path, asked, bytes).await,
            Action::Reconfigure => cluster_life::reconfigure(state, identity, path, asked, bytes).await,
            Action::Upgrade => cluster_life::upgrade(state, identity, path, asked, bytes).await,
            Action::RollBack => cluster_life::roll_back(state, identity, path, asked, bytes).await,
            Action::Converge => cluster_life::converge(state, identity, path, asked, bytes).await,
            Action::Retry => cluster_changes::retry(state, identity, path, asked).await,
        }
    }

    /// What it would do now.
    async fn decided(&self, state: &State, identity: &Identity, id: &str) -> Result<Decided, Problem> {
        let answer = self.ask(state, identity, id, Asked::anyhow(Purpose::Draft)).await?;
        let decided = answer.extensions().get::<Decided>().cloned();
        decided.ok_or_else(|| Problem::internal("a change was shown without what was decided"))
    }

    /// What it would do now; or why it cannot be done now, which is no reason not to keep it.
    async fn outlook(&self, state: &State, identity: &Identity, id: &str) -> Result<Outlook, Problem> {
        match self.decided(state, identity, id).await {
            Ok(decided) => Ok(Ok(decided)),
            // Whether values for the provider are secrets is only known when it could be decided.
            Err(refusal) if refusal.status == 409 && !self.brings_fields() => Ok(Err(refusal)),
            Err(refusal) => Err(refusal),
        }
    }
}

/// Refuses a title that does not fit into a line.
///
/// # Errors
/// 400.
pub fn check_title(title: &str) -> Result<(), Problem> {
    if title.chars().count() <= LONGEST_TITLE && !title.chars().any(char::is_control) {
        return Ok(());
    }
    let detail = format!("title: longer than {LONGEST_TITLE} characters, or of more than one line");
    Err(Problem::new(StatusCode::BAD_REQUEST, detail).at("title", "").with_remedy("write a shorter one"))
}

/// What a draft would do, or why it cannot be done.
type Outlook = Result<Decided, Problem>;

/// A draft with what it would do.
fn shown(draft: &Proposal, outlook: &Outlook) -> Value {
    let mut shown = told(draft);
    shown["edition"] = draft.edition.into();
    shown["changeTime"] = draft.changed_ms.into();
    shown["changedBy"] = draft.changed_by.clone().into();
    shown["operation"] = serde_json::from_str(&draft.document).unwrap_or_default();
    match outlook {
        Ok(decided) => shown["preview"] = json!(decided.preview),
        Err(refusal) => shown["refusal"] = json!(refusal.detail),
    }
    shown
}

fn tagged(draft: &Proposal, shown: &Value) -> HttpResponse {
    let mut answer = HttpResponse::Ok();
    StateTag(draft.edition.to_string()).on(&mut answer);
    answer.json(shown)
}

async fn list(state: State, identity: Identity, id: web::Path<String>) -> Answer {
    let id = state.cluster(&identity, &id).await?.id;
    let drafts = state.blocking(move |state| Ok(state.store.proposals(id, ProposalKind::Draft)?)).await?;
    let shown = |draft: &Proposal| {
        let mut told = told(draft);
        told["edition"] = draft.edition.into();
        told["changedBy"] = draft.changed_by.clone().into();
        told["operation"] = serde_json::from_str(&draft.document).unwrap_or_default();
        told
    };
    Ok(HttpResponse::Ok().json(drafts.iter().map(shown).collect::<Vec<_>>()))
}

/// `POST …/drafts`: keeps a change, and shows what it would do.
async fn create(state: State, identity: Identity, id: web::Path<String>, body: web::Bytes) -> Answer {
    let operation = Operation::read(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let outlook = operation.outlook(&state, &identity, &id).await?;
    let now = state.clock.now();
    let base = outlook.as_ref().map_or(cluster.sequence, |decided| decided.preview.sequence);
    let mut draft = Proposal {
        cluster: cluster.id,
        tenant: None,
        number: 0,
        kind: ProposalKind::Draft,
        title: operation.title.clone(),
        base,
        document: json!(operation).to_string(),
        decided: None,
        preview: None,
        edition: 1,
        created_ms: now,
        created_by: identity.user.clone(),
        changed_ms: now,
        changed_by: identity.user.clone(),
        done: None,
    };
    let new = draft.clone();
    draft.number = state.blocking(move |state| Ok(state.store.add_proposal(new)?)).await?;
    let place = format!("/v2/clusters/{}/drafts/{}", cluster.id, draft.number);
    Ok(about(HttpResponse::Ok().json(shown(&draft, &outlook)), place))
}

fn operation(draft: &Proposal) -> Result<Operation, Problem> {
    serde_json::from_str(&draft.document).map_err(Problem::internal)
}

async fn get(state: State, identity: Identity, at: At) -> Answer {
    let (cluster, draft) = find(&state, &identity, (&at.0, &at.1), ProposalKind::Draft).await?;
    if draft.done.is_some() {
        let mut shown = told(&draft);
        shown["operation"] = serde_json::from_str(&draft.document).unwrap_or_default();
        return Ok(tagged(&draft, &shown));
    }
    // Whatever is the matter with it is told, and does not keep anybody from looking at it.
    let outlook = operation(&draft)?.decided(&state, &identity, &cluster.id.to_string()).await;
    Ok(tagged(&draft, &shown(&draft, &outlook)))
}

/// `PUT …/drafts/{draft}`: puts another change in its place, thought up on the present state.
async fn edit(state: State, identity: Identity, at: At, on: IfMatch, body: web::Bytes) -> Answer {
    let operation = Operation::read(&body)?;
    let (cluster, draft) = find(&state, &identity, (&at.0, &at.1), ProposalKind::Draft).await?;
    refuse_done(&draft)?;
    let outlook = operation.outlook(&state, &identity, &cluster.id.to_string()).await?;
    let base = outlook.as_ref().map_or(cluster.sequence, |decided| decided.preview.sequence);
    let changed = Proposal {
        title: operation.title.clone(),
        base,
        document: json!(operation).to_string(),
        changed_ms: state.clock.now(),
        changed_by: identity.user.clone(),
        ..draft
    };
    let (new, IfMatch(expected)) = (changed.clone(), on);
    state.blocking(move |state| Ok(state.store.change_proposal(new, expected)?)).await?;
    let edition = changed.edition + 1;
    Ok(HttpResponse::Ok().json(shown(&Proposal { edition, ..changed }, &outlook)))
}

async fn delete(state: State, identity: Identity, at: At) -> Answer {
    let (cluster, draft) = find(&state, &identity, (&at.0, &at.1), ProposalKind::Draft).await?;
    let id = cluster.id;
    state.blocking(move |state| Ok(state.store.delete_proposal(id, draft.number)?)).await?;
    Ok(HttpResponse::Ok().finish())
}

/// `POST …/commit`: makes the change, on the state it was thought up on or on a later one where nothing is in its way.
async fn commit(state: State, identity: Identity, at: At, on: IfMatch) -> Answer {
    let (cluster, draft) = find(&state, &identity, (&at.0, &at.1), ProposalKind::Draft).await?;
    refuse_done(&draft)?;
    if !on.0.is_met_by(Some(&draft.edition.to_string())) {
        let detail = format!("draft {} was edited meanwhile", draft.number);
        return Err(Problem::new(StatusCode::PRECONDITION_FAILED, detail)
            .with_remedy("get it again, and look at what it does now"));
    }
    let decided = operation(&draft)?.decided(&state, &identity, &cluster.id.to_string()).await?;
    let (base, id, present, now) = (draft.base, cluster.id, Arc::clone(&cluster), state.clock.now());
    let command = decided.command;
    let number = draft.number;
    let rebased = state
        .blocking(move |state| {
            let old = match base == present.sequence {
                true => Arc::clone(&present),
                false => Arc::new(read_at(&state.store, id, base)?),
            };
            rebase(&old, &present, command, now).map_err(|fault| overtaken(number, base, &present, fault))
        })
        .await?;
    let made = carry_out(&state, &identity, &cluster, &draft, rebased.command).await?;
    Ok(HttpResponse::Ok().json(json!({
        "id": draft.number,
        "clusterId": made.id,
        "sequence": made.sequence,
        "latestJobId": made.latest_job().map(|job| job.id),
        "rebased": cluster.sequence != draft.base,
        "meanwhile": rebased.meanwhile,
    })))
}

/// Why a draft cannot be committed on the present state.
fn overtaken(
    draft: u64,
    base: u64,
    present: &cooperage_domain::cluster::Cluster,
    fault: NoRebase,
) -> Problem {
    let (NoRebase::Overlaps(ref names) | NoRebase::DoesOtherwise(ref names)) = fault else {
        let NoRebase::Refused(refusal) = fault else { return Problem::internal(fault) };
        return refusal.into();
    };
    let detail = format!(
        "draft {draft} was thought up on state {base} of cluster {}, which is in state {}: {fault}",
        present.id, present.sequence
    );
    let mut problem = Problem::new(StatusCode::CONFLICT, detail)
        .with_remedy("look at the draft and put it again (PUT, or cooperage cluster draft edit): it is then based on the present state");
    problem.more.insert("overlaps".to_owned(), json!(names));
    problem
}
