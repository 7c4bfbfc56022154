//! Plugins that are programs, really run: those of the book, and some that misbehave.

#![allow(clippy::unwrap_used, reason = "tests may unwrap: a panic is their way to fail")]

mod confined;
mod ended;
mod examples;
mod failures;
mod furnished;
mod probe;
mod rig;
