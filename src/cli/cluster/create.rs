//! `cooperage cluster create`

use cooperage_domain::cluster::ClusterRequest;
use cooperage_domain::entity::Kind;
use cooperage_domain::invalid::Invalid;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::config_values::{merge, parse_override};
use super::layouts;
use super::outcome::{begun, outcome};
use super::preview;
use crate::cli::args::CreateArgs;
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::{drafted_cluster, duration, entity};
use crate::documents;

/// Creates a cluster, or shows what would be created.
///
/// # Errors
/// When an option is wrong, the server refuses, or a task of the cluster fails.
pub async fn run(args: &CreateArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    // A wrong time is told before anything is done.
    args.wait.limit()?;
    let request = ClusterRequest { config: config(args, client).await?, ..request(args)? };
    if args.dry_run {
        return preview::run(&request, client, screen).await;
    }
    if args.layouts {
        return layouts::run(&request, client, screen).await;
    }
    if args.draft {
        return drafted_cluster::draft(preview::as_json(&request), args.title.as_ref(), client, screen).await;
    }
    let id = create(&request, client, screen).await?;
    screen.note(&format!("cluster {} is {id}", args.name));
    begun(client, &id, screen, &args.wait).await
}

/// Creates a cluster and watches it come up; its id.
///
/// # Errors
/// When the server refuses, or a task of the cluster fails.
pub async fn create_and_watch(
    request: &ClusterRequest,
    client: &Client,
    screen: &Screen,
) -> Result<String, Failure> {
    let id = create(request, client, screen).await?;
    outcome(client, &id, screen, None).await?;
    Ok(id)
}

async fn create(request: &ClusterRequest, client: &Client, screen: &Screen) -> Result<String, Failure> {
    #[derive(Deserialize)]
    struct Created {
        id: String,
        warning: Option<String>,
    }
    // Refused when there is no layout: a cluster that is dead from the start helps nobody.
    let created: Created = client.post("/v2/clusters?strict=true", &preview::as_json(request)).await?;
    if let Some(warning) = created.warning {
        screen.note(&format!("warning: {warning}"));
    }
    Ok(created.id)
}

fn request(args: &CreateArgs) -> Result<ClusterRequest, Failure> {
    Ok(ClusterRequest {
        name: args.name.clone(),
        description: args.description.clone(),
        cluster_template: args.template.clone(),
        num_machines: Some(args.size.into()),
        provider: args.provider.clone(),
        provider_fields: args.fields.read()?,
        services: args.services.iter().cloned().collect(),
        hardwaretype: args.hardware.clone(),
        imagetype: args.image.clone(),
        objective: args.objective.into(),
        initial_lease_duration: args.lease.as_deref().map(|text| length("--lease", text)).transpose()?,
        lease_warning: args.warning.as_deref().map(|text| length("--lease-warning", text)).transpose()?,
        dns_suffix: args.dns_suffix.clone(),
        parent: args.parent.clone(),
        config: None,
    })
}

/// A length of time in ms; 0 is for ever, or never.
fn length(option: &str, text: &str) -> Result<i64, Invalid> {
    if matches!(text, "forever" | "never") {
        return Ok(0);
    }
    Ok(i64::try_from(duration::parse(option, text)?.as_millis()).unwrap_or(i64::MAX))
}

/// The configuration, when any of it is to be other than the template's.
async fn config(args: &CreateArgs, client: &Client) -> Result<Option<Map<String, Value>>, Failure> {
    let file = args.config_file.as_deref().map(documents::read_values).transpose()?;
    let overrides =
        args.config.iter().map(|text| parse_override("--config", text)).collect::<Result<Vec<_>, _>>()?;
    if file.is_none() && overrides.is_empty() {
        return Ok(None);
    }
    let template = entity::get(Kind::ClusterTemplate, &args.template, client).await?;
    let defaults = template.pointer("/defaults/config").and_then(Value::as_object);
    let mut config = defaults.cloned().unwrap_or_default();
    for over in file.into_iter().chain(overrides) {
        merge(&mut config, over);
    }
    Ok(Some(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_a_length_of_time_or_for_ever() {
        assert_eq!(length("--lease", "7d").unwrap(), 604_800_000);
        assert_eq!(length("--lease", "forever").unwrap(), 0);
        assert_eq!(length("--lease", "soon").unwrap_err().field, "--lease");
    }
}
