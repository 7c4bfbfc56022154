//! The `cooperage` program: server, provisioner and client in one.

mod api;
mod config;
mod server;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut overrides = Vec::new();
    let mut arguments = std::env::args().skip(2);
    while let Some(argument) = arguments.next() {
        if argument == "--set" {
            overrides.extend(arguments.next());
        }
    }
    let result = config::Settings::load(None, &overrides).map_err(|e| e.to_string());
    match result.and_then(|settings| server::serve(settings).map_err(|e| e.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
