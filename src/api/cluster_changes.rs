//! What can be asked of a cluster that is there: each queues a job, or changes what the cluster is, and answers at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_actors::registry::{Tell, TellAt};
use cooperage_domain::cluster::{Cluster, ClusterStatus, Command, ServiceChange, decide};
use cooperage_domain::entity::{Kind, ProviderType};
use cooperage_domain::provider_fields::admit;
use cooperage_schema::SUPERADMIN;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::ancestry::{warn, warning_of};
use super::asked::{Asked, Purpose};
use super::body;
use super::identity::Identity;
use super::preview;
use super::problem::Problem;
use super::routes::Routes;
use super::state::AppState;
use super::within_quota::reserve_for;

pub(super) type State = web::Data<AppState>;
pub(super) type Answer = Result<HttpResponse, Problem>;
pub(super) type Id = web::Path<String>;

/// Routes of changes; those that share a path with reading are in [`super::clusters`].
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/clusters/{id}/abort", |on| on.post(abort));
    routes.at("/v2/clusters/{id}/retry", |on| on.post(retry));
    routes.at("/v2/clusters/{id}/pause", |on| on.post(pause));
    routes.at("/v2/clusters/{id}/resume", |on| on.post(resume));
    routes.at("/v2/clusters/{id}/clustertemplate/sync", |on| on.post(sync_template));
    let changes =
        [("start", ServiceChange::Start), ("stop", ServiceChange::Stop), ("restart", ServiceChange::Restart)];
    // Before the paths with a service, so that these words after `services` are always actions.
    for (word, change) in changes {
        routes.at(&format!("/v2/clusters/{{id}}/services/{word}"), |on| {
            on.post(move |s, i, id: Id, on, body| {
                change_services(change, s, i, id.into_inner(), None, (on, body))
            })
        });
    }
    for (word, change) in changes {
        routes.at(&format!("/v2/clusters/{{id}}/services/{{service}}/{word}"), |on| {
            on.post(move |s, i, at: web::Path<(String, String)>, on, body| {
                let (id, service) = at.into_inner();
                change_services(change, s, i, id, Some(service), (on, body))
            })
        });
    }
}

/// What every change may bring along.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Fields {
    #[serde(deserialize_with = "cooperage_domain::lenient::null_as_default")]
    pub(super) provider_fields: Map<String, Value>,
}

/// When a cluster is deleted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Haste {
    /// Whether a job under way is stopped for it.
    #[serde(deserialize_with = "cooperage_domain::lenient::boolean")]
    now: bool,
}

/// `DELETE /v2/clusters/{id}`: gives all machines back.
pub async fn delete(
    state: State,
    identity: Identity,
    id: Id,
    (on, haste): (Asked, web::Query<Haste>),
    body: web::Bytes,
) -> Answer {
    let Fields { provider_fields } = body::parse_optional(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let now = haste.now;
    let command = Command::Delete { now, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), provider_fields).await
}

/// The same for a cluster without a job under way.
pub async fn delete_at_rest(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    delete(state, identity, id, (on, web::Query(Haste::default())), body).await
}

async fn abort(state: State, identity: Identity, id: Id, on: Asked) -> Answer {
    operate(&state, identity, &id, on, |by| Command::Abort { by }).await
}

/// `POST /v2/clusters/{id}/retry`: goes on with what stopped half-way.
pub async fn retry(state: State, identity: Identity, id: Id, on: Asked) -> Answer {
    operate(&state, identity, &id, on, |by| Command::Retry { by }).await
}

async fn pause(state: State, identity: Identity, id: Id, on: Asked) -> Answer {
    operate(&state, identity, &id, on, |by| Command::Pause { by }).await
}

async fn resume(state: State, identity: Identity, id: Id, on: Asked) -> Answer {
    operate(&state, identity, &id, on, |by| Command::Resume { by }).await
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Prolongation {
    #[serde(default, deserialize_with = "cooperage_domain::lenient::optional_number")]
    expire_time: Option<i64>,
    #[serde(default, deserialize_with = "cooperage_domain::lenient::boolean")]
    while_pending: bool,
}

/// `POST /v2/clusters/{id}`: ends the lease at another time. As in Coopr a pending cluster's does not change, unless that is
/// what the caller says it shall.
pub async fn prolong(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let wanted: Prolongation = body::parse(&body)?;
    let expires =
        wanted.expire_time.ok_or_else(|| missing("expireTime", "the expire time", "ms since 1970"))?;
    let cluster = state.cluster(&identity, &id).await?;
    if cluster.status == ClusterStatus::Pending && !wanted.while_pending {
        let detail = format!("invalid input: expireTime: cluster {} is pending", cluster.id);
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail)
            .at("expireTime", expires.to_string())
            .with_remedy("wait until its job has ended, or say whilePending: true"));
    }
    let command = Command::Prolong { expires, by: identity.user.clone() };
    let warning = warning_of(&state, &cluster, expires).await?;
    let mut answer = tell(&state, identity, &cluster, command, on).await?;
    if let Some(warning) = warning {
        warn(&mut answer, &warning);
    }
    Ok(answer)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    config: Option<Map<String, Value>>,
    #[serde(default = "restarts", deserialize_with = "cooperage_domain::lenient::boolean")]
    restart: bool,
    #[serde(flatten)]
    fields: Fields,
}

const fn restarts() -> bool {
    true
}

/// `PUT /v2/clusters/{id}/config`: another configuration, as a whole.
pub async fn configure(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Configuration { config, restart, fields } = body::parse(&body)?;
    let config = config.ok_or_else(|| missing("config", "the configuration", "an object"))?;
    let cluster = state.cluster(&identity, &id).await?;
    let command = Command::Configure { config, restart, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Addition {
    #[serde(default, deserialize_with = "cooperage_domain::lenient::null_as_default")]
    services: BTreeSet<String>,
    #[serde(flatten)]
    fields: Fields,
}

/// `POST /v2/clusters/{id}/services`: more services on the nodes that are there.
pub async fn add_services(state: State, identity: Identity, id: Id, on: Asked, body: web::Bytes) -> Answer {
    let Addition { services, fields } = body::parse(&body)?;
    if services.is_empty() {
        return Err(missing("services", "the list of services", "at least one name"));
    }
    let cluster = state.cluster(&identity, &id).await?;
    let tenant = identity.tenant.clone();
    let known = state.blocking(move |state| Ok(state.store.entities(&tenant)?)).await?;
    let command = Command::AddServices { services, known, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), fields.provider_fields).await
}

/// Starts, stops or restarts services.
pub async fn change_services(
    change: ServiceChange,
    state: State,
    identity: Identity,
    id: String,
    service: Option<String>,
    (on, body): (Asked, web::Bytes),
) -> Answer {
    let Fields { provider_fields } = body::parse_optional(&body)?;
    let cluster = state.cluster(&identity, &id).await?;
    let command = Command::ChangeServices { change, service, by: identity.user.clone() };
    operate_with(&state, identity, &cluster, (command, on), provider_fields).await
}

/// Takes over the newest version of the cluster's template.
pub async fn sync_template(state: State, identity: Identity, id: Id, on: Asked) -> Answer {
    let cluster = state.cluster(&identity, &id).await?;
    let (tenant, name) = (identity.tenant.clone(), cluster.template.base.name.clone());
    let template = state
        .blocking(move |state| {
            let catalog = state.catalog(&tenant)?;
            let found = catalog.templates.iter().find(|template| template.base.name == name);
            let found = found.ok_or_else(|| {
                let detail = format!("{} {name:?} no longer exists", Kind::ClusterTemplate.noun());
                Problem::new(StatusCode::NOT_FOUND, detail).with_remedy("store it again, and sync then")
            })?;
            Ok(catalog.resolved(found)?)
        })
        .await?;
    let command = Command::SyncTemplate { template: Box::new(template), by: identity.user.clone() };
    tell(&state, identity, &cluster, command, on).await
}

pub(super) fn missing(field: &str, what: &str, form: &str) -> Problem {
    let detail = format!("invalid input: {field}: {what} is missing");
    let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy(format!("give {form}"));
    problem.field = Some(field.to_owned());
    problem
}

/// Tells a visible cluster something that needs no values for the provider.
pub(super) async fn operate(
    state: &Arc<AppState>,
    identity: Identity,
    id: &str,
    on: Asked,
    command: impl FnOnce(String) -> Command,
) -> Answer {
    let cluster = state.cluster(&identity, id).await?;
    let command = command(identity.user.clone());
    tell(state, identity, &cluster, command, on).await
}

/// Tells a cluster something that is done with the provider, for which the values given, or else those kept, must suffice.
pub(super) async fn operate_with(
    state: &Arc<AppState>,
    identity: Identity,
    cluster: &Arc<Cluster>,
    (command, on): (Command, Asked),
    given: Map<String, Value>,
) -> Answer {
    let (id, name) = (cluster.id, cluster.provider.providertype.clone());
    let (kind, kept) = state
        .blocking(move |state| Ok((state.store.entity(SUPERADMIN, &name, None)?, state.vault.values(id)?)))
        .await?;
    // Without its type nothing is known of a provider's fields, and nothing can be missing.
    let parameters = kind.map(|kind: ProviderType| kind.0.parameters).unwrap_or_default();
    let admitted = admit(&parameters, &cluster.provider, &given, &kept.secrets.given);
    let brings_secrets =
        !given.is_empty() && admitted.as_ref().is_ok_and(|fields| !fields.sensitive.is_empty());
    if admitted.is_err() || brings_secrets {
        // That the cluster cannot do it at all is said first; and what changes nothing needs nothing.
        let events = decide(cluster, command.clone(), state.clock.now())?;
        if events.is_empty() {
            return match on.purpose {
                Purpose::Make => Ok(HttpResponse::Ok().finish()),
                _ => preview::show(state, &identity, cluster, command, &on).await,
            };
        }
    }
    let fields = admitted?;
    // Looked at here too, so that what is refused leaves no secrets behind; what counts is the look of the cluster itself.
    on.check(cluster)?;
    if brings_secrets && on.purpose.keeps() {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "providerFields: secrets are not kept with plans and drafts",
        )
        .at("providerFields", "")
        .with_remedy("leave the secrets out: what the cluster keeps is used, or make the change at once"));
    }
    if brings_secrets && on.purpose == Purpose::Make {
        let (tenant, secrets) = (cluster.account.tenant_id.clone(), fields.sensitive.clone());
        state.blocking(move |state| Ok(state.vault.give(&tenant, id, secrets)?)).await?;
    }
    let by = identity.user.clone();
    let command = match fields.plain.is_empty() {
        true => command,
        false => Command::GiveFields { fields: fields.plain, command: Box::new(command), by },
    };
    tell(state, identity, cluster, command, on).await
}

/// Tells a cluster something, or shows what that would do.
pub(super) async fn tell(
    state: &Arc<AppState>,
    identity: Identity,
    cluster: &Arc<Cluster>,
    command: Command,
    asked: Asked,
) -> Answer {
    // Held until the cluster counts its new nodes itself.
    let _reserved = match command.may_add_nodes() {
        true => {
            let (known, command, purpose) = (Arc::clone(cluster), command.clone(), asked.purpose);
            state.blocking(move |state| reserve_for(state, &known, &command, purpose)).await?
        }
        false => None,
    };
    if asked.purpose != Purpose::Make {
        return preview::show(state, &identity, cluster, command, &asked).await;
    }
    let tell = Tell { id: cluster.id, command, who: identity.user };
    let answer = match asked.sequences() {
        None => state.registry.send(tell).await,
        Some(sequences) => state.registry.send(TellAt { tell, sequences }).await,
    };
    answer.map_err(Problem::unavailable)??;
    Ok(HttpResponse::Ok().finish())
}
