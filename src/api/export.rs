//! A cluster's nodes, written down for other programs.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use clap::ValueEnum;
use cooperage_domain::entity::PriceList;
use serde::Deserialize;

use super::cluster_view::ClusterDetails;
use super::identity::Identity;
use super::problem::Problem;
use super::secret_fields::SecretFields;
use super::state::AppState;
use crate::exports::{Format, Inventory, NODE_EXPORTER_PORT};

/// For which program, and which nodes.
#[derive(Debug, Deserialize)]
pub struct Query {
    format: Option<String>,
    /// Port of Prometheus' targets.
    port: Option<u16>,
    /// Only nodes with one of these services, separated by commas.
    service: Option<String>,
}

/// `GET /v2/clusters/{id}/export?format=…`
pub async fn get(
    state: web::Data<AppState>,
    identity: Identity,
    id: web::Path<String>,
    query: web::Query<Query>,
) -> Result<HttpResponse, Problem> {
    let format = format(query.format.as_deref().unwrap_or_default())?;
    let cluster = state.cluster(&identity, &id).await?;
    let services: Vec<String> =
        query.service.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect();
    // Nothing of the provider is in an inventory.
    let details =
        ClusterDetails::of(&cluster, &SecretFields::default(), &PriceList::default(), state.clock.now());
    let details = serde_json::to_value(details).map_err(Problem::internal)?;
    let inventory = Inventory::of(&details).with_services(&services);
    let text = format.write(&inventory, query.port.unwrap_or(NODE_EXPORTER_PORT));
    Ok(HttpResponse::Ok().content_type(format.content_type()).body(text))
}

fn format(text: &str) -> Result<Format, Problem> {
    Format::from_str(text, true).map_err(|_| {
        let known = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        Problem::new(StatusCode::BAD_REQUEST, format!("format: {text:?} is not known"))
            .at("format", text)
            .with_remedy(format!("use one of: {}", known.join(", ")))
    })
}
