//! The HTTP edge of a server: who may connect, what is answered again or refused, and how it ends.

// A panic is a test's way to fail, and printing its way to say what led to it.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod book;
mod caller;
mod keys;
#[path = "../lab/mod.rs"]
mod lab;
mod limits;
mod papers;
mod parts;
mod service;
mod stop;
mod tags;
mod tls;
mod web;
