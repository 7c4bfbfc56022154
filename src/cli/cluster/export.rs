//! `cooperage cluster export`: a cluster's nodes, written down for other programs.

use super::find;
use crate::cli::args::ExportArgs;
use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::exports::Inventory;

/// Writes the nodes of a cluster to standard output or a file.
///
/// # Errors
/// When there is no such cluster, no node of it can be reached, or the file cannot be written.
pub async fn run(args: &ExportArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (raw, details) = find::details(client, &args.which.cluster).await?;
    let inventory = Inventory::of(&raw).with_services(&args.services);
    if inventory.hosts.is_empty() {
        let id = &details.id;
        return Err(Failure::unknown(
            format!("cluster {id} has no such node with an address (yet)"),
            format!("see its nodes: cooperage cluster nodes {id}"),
        ));
    }
    let text = args.format.write(&inventory, args.port);
    let Some(file) = &args.to else {
        screen.line(text.trim_end_matches('\n'));
        return Ok(());
    };
    std::fs::write(file, text).map_err(|fault| Failure::file("write", file, fault))?;
    screen.note(&format!("{} nodes of cluster {} in {}", inventory.hosts.len(), details.id, file.display()));
    Ok(())
}
