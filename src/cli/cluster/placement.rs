//! `cooperage cluster placement`

use cooperage_domain::cluster::Placed;
use serde_json::Value;

use super::find;
use crate::cli::args::PlacementArgs;
use crate::cli::client::{Client, segment, understood};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Says of services why they are on the nodes they are on, and why not on the others.
///
/// # Errors
/// When there is no such cluster, or it has no such service.
pub async fn run(args: &PlacementArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let id = find::id_of(client, &args.which.cluster).await?;
    let only = args.service.as_deref().map(|service| format!("?service={}", segment(service)));
    let path = format!("/v2/clusters/{id}/placement{}", only.unwrap_or_default());
    let raw: Value = client.get(&path).await?;
    let placed: Vec<Placed> = understood(&path, &raw)?;
    screen.result(&raw, || text(&placed));
    Ok(())
}

fn text(placed: &[Placed]) -> String {
    let mut text = String::new();
    for (number, one) in placed.iter().enumerate() {
        if number == 0 || placed[number - 1].service != one.service {
            text.push_str(&format!("{}\n", one.service));
        }
        let place = if one.is_here { "on" } else { "not on" };
        text.push_str(&format!("  {place} {}\n", one.nodes.join(", ")));
        for why in &one.why {
            text.push_str(&format!("    {why}\n"));
        }
    }
    if text.is_empty() { "no services\n".to_owned() } else { text }
}
