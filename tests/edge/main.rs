//! The HTTP edge of a server: who may connect, what is answered again or refused, and how it ends.

// A panic is a test's way to fail.
#![allow(clippy::unwrap_used)]

mod caller;
mod keys;
#[path = "../lab/mod.rs"]
mod lab;
mod limits;
mod papers;
mod parts;
mod stop;
mod tags;
mod tls;
