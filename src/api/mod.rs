//! REST under `/v2`, wire-compatible with Coopr and extended in its style.

mod ancestry;
mod apply;
mod asked;
mod audit;
mod audit_log;
mod authorize;
mod batch_take;
mod body;
mod callbacks;
mod capacity;
mod care;
mod cluster_changes;
mod cluster_life;
mod cluster_values;
mod cluster_view;
mod clusters;
mod console;
mod deliveries;
mod download;
mod drafted_clusters;
mod drafts;
mod edge;
mod entities;
mod error_language;
mod events;
mod export;
mod exposition;
mod founding;
mod identity;
mod import_export;
mod layouts;
mod lenient_json;
mod login_codes;
mod login_limit;
mod logs;
mod metric_history;
mod named;
mod nodes;
mod openapi;
mod operations;
mod paging;
mod password;
mod plan_view;
mod plugin_types;
mod pools;
mod presence;
mod preview;
mod problem;
mod profile;
mod provisioners;
mod queues;
mod replayed;
mod reservations;
mod resolve;
mod resources;
mod routes;
mod rpc;
mod saved_plans;
mod secret;
mod secret_fields;
pub mod secrets;
mod session;
mod state;
mod task_watch;
mod tasks;
mod tenants;
mod terminal;
mod time_travel;
mod token_service;
mod tokens;
mod upload;
mod usage;
mod users;
mod waiting;
mod web_socket;
mod within_quota;

pub use edge::{Edge, app};
pub use events::{Hub as EventHub, pump as pump_events};
pub use identity::hash;
pub use login_codes::LoginCodes;
pub use login_limit::LoginLimit;
pub use metric_history::{Samples, sample as sample_metrics};
pub use operations::Port;
pub use pools::Pools;
pub use reservations::Reservations;
pub use resources::{in_use, key as resource_key};
pub use routes::faults as route_faults;
pub use secret::new_secret;
pub use state::AppState;
pub use terminal::Terminals;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};

use problem::Problem;
use routes::Routes;

/// Largest body of a request that is not a plugin resource, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// Everything on the port for people and their programs.
fn user_routes(routes: &mut Routes<'_>) {
    routes.at("/status", |on| on.get(status));
    routes.at("/metrics", |on| on.get(exposition::get));
    routes.at("/v2/ready", |on| on.get(edge::ready));
    routes.at("/v2/apply", |on| on.post(apply::apply));
    routes.at("/v2/resolve", |on| on.post(resolve::post));
    routes.at("/v2/metrics/history", |on| on.get(metric_history::get));
    routes.at("/v2/metrics/queues", |on| on.get(queues::get));
    routes.at("/v2/metrics/nodes/usage", |on| on.get(usage::get));
    audit_log::routes(routes);
    callbacks::routes(routes);
    clusters::routes(routes);
    console::routes(routes);
    layouts::routes(routes);
    login_codes::routes(routes);
    deliveries::routes(routes);
    provisioners::user_routes(routes);
    cluster_life::routes(routes);
    cluster_values::routes(routes);
    cluster_changes::routes(routes);
    care::routes(routes);
    drafted_clusters::routes(routes);
    ancestry::routes(routes);
    drafts::routes(routes);
    saved_plans::routes(routes);
    time_travel::routes(routes);
    entities::routes(routes);
    events::routes(routes);
    import_export::routes(routes);
    nodes::routes(routes);
    openapi::routes(routes);
    plugin_types::routes(routes);
    profile::routes(routes);
    resources::routes(routes);
    rpc::routes(routes);
    secrets::routes(routes);
    session::routes(routes);
    tenants::routes(routes);
    terminal::routes(routes);
    token_service::routes(routes);
    tokens::routes(routes);
    users::routes(routes);
}

/// Everything on the port for provisioners.
fn task_routes(routes: &mut Routes<'_>) {
    routes.at("/v2/ready", |on| on.get(edge::ready));
    provisioners::task_routes(routes);
    tasks::routes(routes);
    batch_take::routes(routes);
    task_watch::routes(routes);
    download::task_routes(routes);
    plugin_types::task_routes(routes);
}

/// Serves a port.
fn serve(port: Port, config: &mut web::ServiceConfig) {
    config.app_data(web::PayloadConfig::new(MAX_BODY)).default_service(web::to(unknown_path));
    let mut routes = Routes::new(config, port);
    match port {
        Port::User => user_routes(&mut routes),
        Port::Tasks => task_routes(&mut routes),
    }
}

async fn status() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("OK\n")
}

/// The book and the web interface, which have every path that the interface for programs has not.
async fn unknown_path(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let is_for_people = request.app_data::<Port>() == Some(&Port::User);
    if let Some(page) = is_for_people
        .then(|| crate::book::answer(&request).or_else(|| crate::web::answer(&request)))
        .flatten()
    {
        return Ok(page);
    }
    let detail = format!("there is nothing at {} {}", request.method(), request.path());
    Err(Problem::new(StatusCode::NOT_FOUND, detail)
        .with_remedy("all paths of the interface for programs begin with /v2"))
}
