//! `cooperage demo`: a real cluster on this host with one command, and no trace of it with another.
//!
//! Everything is kept in one directory. Each step looks at what is there and does only what is missing, so that the command
//! can be given again at any time: after it is done, after it was interrupted, after it was killed.

mod catalog;
mod clean;
mod demo_cluster;
mod host;
mod place;
mod ports;
mod proof;
mod server;
mod steps;
mod strays;
mod summary;

/// Where the demo keeps everything unless told otherwise.
pub const DATA_DIR: &str = "/var/lib/cooperage-demo";

use super::apply::{Mode, apply};
use super::args::DemoArgs;
use super::failure::Failure;
use super::screen::Screen;
use super::web;
use place::Place;
use steps::Steps;

/// Brings the demo up, or removes it.
///
/// # Errors
/// The step that could not be done, with what to do about it.
pub async fn run(args: &DemoArgs, screen: &Screen) -> Result<(), Failure> {
    let place = Place::at(&args.data_dir)?;
    if args.clean { clean::run(&place, args, screen).await } else { up(&place, args, screen).await }
}

async fn up(place: &Place, args: &DemoArgs, screen: &Screen) -> Result<(), Failure> {
    let steps = Steps::begin(screen);
    let _lock = place.lock().await?;
    strays::end(place).await?;
    steps.step("this host can carry machines", host::prepare(place, screen)).await?;
    steps.step("base image debian-12", host::base_image(place, screen)).await?;
    let (server, client) = steps.step("server", server::ensure(place, args.port_offset, screen)).await?;
    let bundle = catalog::read()?;
    let quiet = screen.quieter();
    steps.step("services, templates and scripts", apply(&bundle, Mode::Do, &client, &quiet)).await?;
    let id = steps.step("cluster demo", demo_cluster::ensure(&client, args.nodes, screen)).await?;
    let (details, plan) = demo_cluster::look(&client, &id).await?;
    let proof = steps.step("the cluster works", proof::prove(&details)).await?;
    screen.note(&format!("  {proof}"));
    steps.done();
    summary::show(&details, plan.as_ref(), place, &server, screen);
    // A server that was started by an earlier release has no way in.
    if let Ok(address) = web::address(&client).await {
        summary::show_way_in(&address, screen);
    }
    Ok(())
}
