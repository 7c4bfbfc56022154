//! The `cooperage` program: server, provisioner and client in one.

mod api;
mod cli;
mod config;
mod documents;
mod provisioner;
mod server;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
