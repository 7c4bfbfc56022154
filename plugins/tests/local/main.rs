//! Provider `local` with real machines. Needs root, overlay mounts and `systemd-nspawn`; says so and skips where they are not.

// A panic is a test's way to fail, and printing its way to say why it was skipped, also in what tests share.
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)]

mod crash;
mod lab;
mod life;
mod many;
mod probe;
mod refusals;
