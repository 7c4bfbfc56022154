//! The `cooperage` program: server, provisioner and client in one.

mod allocator;
mod api;
mod book;
mod carried;
mod cli;
mod client_tls;
mod config;
mod documents;
mod exports;
mod metrics;
mod provisioner;
#[cfg(test)]
mod reference;
mod server;
#[cfg(feature = "otel")]
mod traces;
mod web;

use std::process::ExitCode;

fn main() -> ExitCode {
    // TLS has the cryptography that SSH brings. It is the first and only one, so that nothing can be installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::run()
}
