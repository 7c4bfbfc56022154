//! Who may do what: roles, users, tokens and logins, over HTTP.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

#[path = "../lab/mod.rs"]
mod lab;
mod logins;
mod routes;
mod tokens;
mod world;
