//! REST under `/v2`, wire-compatible with Coopr and extended in its style.

mod apply;
mod body;
mod cluster_view;
mod clusters;
mod entities;
mod identity;
mod logs;
mod nodes;
mod preview;
mod problem;
mod provisioners;
mod resources;
mod state;
mod tasks;

pub use identity::hash;
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
        .route("/status", web::get().to(status))
        .route("/v2/apply", web::post().to(apply::apply))
        .route("/v2/clusters/{id}/logs", web::get().to(logs::get))
        .route("/v2/nodes", web::get().to(nodes::list))
        .configure(clusters::routes)
        .configure(provisioners::user_routes)
        .configure(resources::routes)
        .configure(entities::routes)
        .default_service(web::to(unknown_path));
}

/// Everything on the port for provisioners.
pub fn task_routes(config: &mut web::ServiceConfig) {
    config
        .configure(provisioners::task_routes)
        .configure(tasks::routes)
        .default_service(web::to(unknown_path));
}

async fn status() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("OK\n")
}

async fn unknown_path(request: HttpRequest) -> Result<HttpResponse, Problem> {
    let detail = format!("there is nothing at {} {}", request.method(), request.path());
    Err(Problem::new(StatusCode::NOT_FOUND, detail).with_remedy("all paths begin with /v2"))
}
