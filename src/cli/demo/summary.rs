//! What is said when the demo is up: the nodes, the plan, and what to try next.

use console::style;

use super::place::Place;
use super::ports::DemoSettings;
use crate::cli::cluster::shapes::{Details, Plan};
use crate::cli::cluster::{graph, nodes_table};
use crate::cli::duration::now;
use crate::cli::screen::Screen;

/// Prints the nodes, the plan with its critical path, and what to try.
pub(super) fn show(
    details: &Details,
    plan: Option<&Plan>,
    place: &Place,
    server: &DemoSettings,
    screen: &Screen,
) {
    screen.line(&format!("\n{}", style("Nodes").bold().underlined()));
    screen.line(nodes_table(&details.nodes, screen.is_wide()).trim_end());
    if let Some(plan) = plan {
        screen.line(&format!("\n{}", style("Plan").bold().underlined()));
        screen.line(graph(details, plan, now()).trim_end());
    }
    screen.line(&format!("\n{}", style("Try").bold().underlined()));
    screen.line(&hints(details, place, server, &program()));
}

/// The last line: one click from here to the cluster.
pub(super) fn show_way_in(address: &str, screen: &Screen) {
    screen.line(&format!(
        "\n{}  {}\n{}",
        style("Open in a browser").bold(),
        style(address).cyan().underlined(),
        style("Logs you in once, within ten minutes; another: cooperage web").dim(),
    ));
}

/// How this program was called.
fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "cooperage".to_owned())
}

fn hints(details: &Details, place: &Place, server: &DemoSettings, program: &str) -> String {
    let web = details.nodes.iter().find(|node| node.properties.services.contains("nginx"));
    let web = web.map_or(1000, |node| node.properties.nodenum);
    let mut lines: Vec<(String, String)> =
        details.ready_links().map(|link| (link.label.clone(), link.url.clone())).collect();
    let data = place.root().display();
    let lines_of_commands = [
        (
            "first",
            format!(
                "export COOPERAGE_SERVER={} COOPERAGE_TOKEN_FILE={}",
                server.url(),
                place.token().display()
            ),
        ),
        ("log in to a node", format!("{program} cluster ssh demo {web}")),
        ("see what tasks printed", format!("{program} cluster logs demo --node {web}")),
        ("see what was done", format!("{program} cluster plan demo")),
        ("make another", format!("{program} cluster create mine --template web --size 3")),
        ("delete the cluster", format!("{program} cluster delete demo")),
        ("remove every trace", format!("{program} demo --data-dir {data} --clean")),
    ];
    lines.extend(lines_of_commands.map(|(what, command)| (what.to_owned(), command)));
    let width = lines.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
    let lines = lines.into_iter().map(|(what, how)| format!("  {what:<width$}  {how}"));
    lines.collect::<Vec<_>>().join("\n")
}
