//! The command line: everything a person types, and everything it answers.

mod apply;
mod args;
mod audit;
mod client;
pub mod cluster;
mod connection;
mod demo;
mod duration;
mod entity;
mod failure;
#[cfg(test)]
pub mod golden;
mod image;
mod node;
mod problem;
mod progress;
mod screen;
mod secrets;
mod serve;
mod status;
mod table;
mod yaml;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use cooperage_domain::entity::Kind;

use args::{Cli, Command, ConfigCommand, Globals, NodeCommand};
use client::Client;
use connection::Connection;
use failure::Failure;
use screen::Screen;

/// Runs what was typed; the exit code is the process's.
#[must_use]
pub fn run() -> ExitCode {
    let Cli { globals, command } = Cli::parse();
    let screen = Screen::new(&globals);
    match carry_out(command, &globals, &screen) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if failure.is_untold() {
                screen.fault(&failure);
            }
            failure.exit_code()
        }
    }
}

fn carry_out(command: Command, globals: &Globals, screen: &Screen) -> Result<(), Failure> {
    match command {
        // The server brings its own threads.
        Command::Serve(args) => serve::run(&args),
        Command::Config(ConfigCommand::Show(args)) => serve::show(&args, screen),
        Command::Secrets(command) if secrets::is_offline(&command) => secrets::run_offline(&command, screen),
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "cooperage", &mut script);
            screen.line(String::from_utf8_lossy(&script).trim_end());
            Ok(())
        }
        other => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime =
                runtime.map_err(|fault| Failure::Server(format!("cannot wait for anything: {fault}")))?;
            runtime.block_on(ask(other, globals, screen))
        }
    }
}

/// Commands that ask a server, or work on this host for a while.
async fn ask(command: Command, globals: &Globals, screen: &Screen) -> Result<(), Failure> {
    if let Command::Demo(args) = &command {
        return demo::run(args, screen).await;
    }
    let client = Client::new(Connection::from_globals(globals)?)?;
    match command {
        Command::Apply(args) => apply::run(&args, &client, screen).await,
        Command::Cluster(command) => cluster::run(command, &client, screen).await,
        Command::Node(NodeCommand::List) => node::list(&client, screen).await,
        Command::Template(command) => entity::run(Kind::ClusterTemplate, &command, &client, screen).await,
        Command::Service(command) => entity::run(Kind::Service, &command, &client, screen).await,
        Command::Provider(command) => entity::run(Kind::Provider, &command, &client, screen).await,
        Command::Hardware(command) => entity::run(Kind::HardwareType, &command, &client, screen).await,
        Command::Image(command) => image::run(&command, &client, screen).await,
        Command::Audit(args) => audit::run(&args, &client, screen).await,
        Command::Secrets(command) => secrets::run(&command, &client, screen).await,
        Command::Status => status::run(&client, screen).await,
        Command::Serve(_) | Command::Config(_) | Command::Completion { .. } | Command::Demo(_) => Ok(()),
    }
}
