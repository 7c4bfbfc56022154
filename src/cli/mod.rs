//! The command line: everything a person types, and everything it answers.

mod actor_console;
mod apply;
pub mod args;
mod audit;
mod bench;
mod callback;
mod client;
pub mod cluster;
mod complete;
mod completion;
mod connection;
mod context;
mod demo;
mod difference;
mod drafted_cluster;
mod duration;
mod entity;
pub mod exit_code;
mod failure;
#[cfg(test)]
pub mod golden;
mod image;
mod import_export;
mod man;
mod metrics;
mod names;
mod node;
mod node_shell;
mod plugin;
mod problem;
mod profile;
mod progress;
mod provisioner;
mod replay;
mod resource;
mod screen;
mod secrets;
mod serve;
#[cfg(feature = "simulation")]
mod simulate;
mod status;
mod table;
mod template;
mod tenant;
mod token;
mod user;
mod validate;
mod watching;
mod web;
mod yaml;

use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Cli, Command, ConfigCommand, Globals, Noun};
use client::Client;
use connection::Connection;
use failure::Failure;
use screen::Screen;

/// Runs what was typed; the exit code is the process's.
#[must_use]
pub fn run() -> ExitCode {
    completion::answer();
    let typed = args::command().get_matches();
    // What clap has found to be right is there.
    let Cli { globals, command } = Cli::from_arg_matches(&typed).unwrap_or_else(|fault| fault.exit());
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
        Command::Provisioner(noun) => match noun.verb {
            Some(verb) => wait_for(async {
                let client = Client::new(Connection::from_globals(globals)?)?;
                provisioner::ask(verb, &client, screen).await
            }),
            // Its server has another address than the one for people, so only what is typed counts.
            None => provisioner::run(noun.run, globals.server.clone()),
        },
        Command::Noun(Noun::Secrets(command)) if secrets::is_offline(&command) => {
            secrets::run_offline(&command, screen)
        }
        Command::Context(command) => context::run(command, globals, screen),
        Command::Validate(args) => validate::run(&args, screen),
        Command::Completion { shell } => completion::print(shell, screen),
        Command::Man(args) => man::run(&args, screen),
        Command::Bench(args) => bench::run(&args, screen),
        #[cfg(feature = "simulation")]
        Command::Simulate(args) => simulate::run(&args, screen),
        Command::Demo(args) => wait_for(demo::run(&args, screen)),
        Command::Noun(noun) => wait_for(ask(noun, globals, screen)),
    }
}

/// Commands that ask a server, or work on this host for a while.
fn wait_for(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|fault| Failure::Server(format!("cannot wait for anything: {fault}")))?;
    runtime.block_on(work)
}

async fn ask(noun: Noun, globals: &Globals, screen: &Screen) -> Result<(), Failure> {
    let client = Client::new(Connection::from_globals(globals)?)?;
    noun.run(&client, screen).await
}
