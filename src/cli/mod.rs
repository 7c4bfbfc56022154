//! The command line: everything a person types, and everything it answers.

mod apply;
mod args;
mod client;
pub mod cluster;
mod connection;
mod demo;
mod duration;
mod entity;
mod failure;
#[cfg(test)]
mod golden;
mod image;
mod node;
mod problem;
mod progress;
mod provisioner;
mod screen;
mod serve;
mod status;
mod table;
mod yaml;

use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches};
use cooperage_domain::entity::Kind;

use args::{Cli, Command, ConfigCommand, Globals, NodeCommand};
use client::Client;
use connection::Connection;
use failure::Failure;
use screen::Screen;

/// Runs what was typed; the exit code is the process's.
#[must_use]
pub fn run() -> ExitCode {
    let typed = Cli::command().get_matches();
    let Cli { globals, command } = Cli::from_arg_matches(&typed).unwrap_or_else(|fault| fault.exit());
    let screen = Screen::new(&globals);
    let done = match command {
        // Its server has another address than the one for people, which the option stands for elsewhere.
        Command::Provisioner(args) => {
            let named = typed.subcommand().and_then(|(_, typed)| typed.value_source("server"));
            let server = (named == Some(ValueSource::CommandLine)).then(|| globals.server.clone());
            provisioner::run(args, server)
        }
        command => carry_out(command, &globals, &screen),
    };
    match done {
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
        Command::Status => status::run(&client, screen).await,
        Command::Serve(_)
        | Command::Provisioner(_)
        | Command::Config(_)
        | Command::Completion { .. }
        | Command::Demo(_) => Ok(()),
    }
}
