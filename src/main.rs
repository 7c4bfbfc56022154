//! The `cooperage` program: server, provisioner and client in one.

mod api;
mod cli;
mod client_tls;
mod config;
mod documents;
mod exports;
mod provisioner;
mod server;

use std::process::ExitCode;

/// Events are made in one thread and freed in another, thousands of times a second: this one takes a quarter of the time
/// off that the system's takes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // TLS has the cryptography that SSH brings. It is the first and only one, so that nothing can be installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::run()
}
