//! The `cooperage` program: server, provisioner and client in one.

mod api;
mod cli;
mod client_tls;
mod config;
mod documents;
mod server;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before the first client is made; it fails only when there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::run()
}
