//! REST under `/v2`, wire-compatible with Coopr and extended in its style.

mod apply;
mod body;
mod capacity;
mod cluster_changes;
mod cluster_view;
mod clusters;
mod download;
mod edge;
mod entities;
mod error_language;
mod identity;
mod import_export;
mod lenient_json;
mod logs;
mod nodes;
mod paging;
mod plugin_types;
mod presence;
mod preview;
mod problem;
mod profile;
mod provisioners;
mod queues;
mod reservations;
mod resolve;
mod resources;
mod rpc;
mod secret_fields;
mod state;
mod tasks;
mod tenants;
mod upload;
mod usage;

pub use edge::{Edge, app};
pub use identity::hash;
pub use reservations::Reservations;
pub use state::AppState;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};

use problem::Problem;

/// Largest body of a request that is not a plugin resource, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// Everything on the port for people and their programs.
pub fn user_routes(config: &mut web::ServiceConfig) {
    config
        .app_data(web::PayloadConfig::new(MAX_BODY))
        .service(web::resource("/status").route(web::get().to(status)))
        .service(web::resource("/v2/ready").route(web::get().to(edge::ready)))
        .service(web::resource("/v2/apply").route(web::post().to(apply::apply)))
        .service(web::resource("/v2/resolve").route(web::post().to(resolve::post)))
        .service(web::resource("/v2/metrics/queues").route(web::get().to(queues::get)))
        .service(web::resource("/v2/metrics/nodes/usage").route(web::get().to(usage::get)))
        .configure(clusters::routes)
        .configure(provisioners::user_routes)
        .configure(cluster_changes::routes)
        .configure(entities::routes)
        .configure(import_export::routes)
        .configure(nodes::routes)
        .configure(plugin_types::routes)
        .configure(profile::routes)
        .configure(resources::routes)
        .configure(rpc::routes)
        .configure(tenants::routes)
        .default_service(web::to(unknown_path));
}

/// Everything on the port for provisioners.
pub fn task_routes(config: &mut web::ServiceConfig) {
    config
        .app_data(web::PayloadConfig::new(MAX_BODY))
        .service(web::resource("/v2/ready").route(web::get().to(edge::ready)))
        .configure(provisioners::task_routes)
        .configure(tasks::routes)
        .configure(download::task_routes)
        .configure(plugin_types::task_routes)
        .default_service(web::to(unknown_path));
}

async fn status() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("OK\n")
}

async fn unknown_path(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let detail = format!("there is nothing at {} {}", request.method(), request.path());
    Err(Problem::new(StatusCode::NOT_FOUND, detail).with_remedy("all paths begin with /v2"))
}
