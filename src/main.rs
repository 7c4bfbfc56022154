//! The `cooperage` program: server, provisioner and client in one.

mod api;
mod cli;
mod client_tls;
mod config;
mod documents;
mod exports;
mod provisioner;
mod server;
mod web;

use std::process::ExitCode;

/// Events are made in one thread and freed in another, thousands of times a second: this one takes a quarter of the time
/// off that the system's takes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Its number of the option to take memory from the system as a whole before it is used (`mi_option_arena_eager_commit`).
const TAKE_AHEAD: i32 = 4;

/// An idle server keeps three times as much memory otherwise.
#[allow(unsafe_code, reason = "there is no other way to the allocator's options")]
extern "C" fn take_memory_as_needed() {
    // SAFETY: an option may be set at any time, from any thread; the number is an option of this version.
    unsafe {
        libmimalloc_sys::mi_option_set(TAKE_AHEAD, 0);
    }
}

/// Called before `main`, since the first memory is taken before it.
#[used]
#[allow(unsafe_code, reason = "the place of what is called before `main` is no name of Rust's")]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = take_memory_as_needed;

fn main() -> ExitCode {
    // TLS has the cryptography that SSH brings. It is the first and only one, so that nothing can be installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    cli::run()
}
